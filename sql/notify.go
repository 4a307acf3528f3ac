package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// OnNotify lets the session listen. wake is called, from any goroutine, when there may be something for
// Notifications to return.
func (s *Session) OnNotify(wake func()) {
	s.listener = s.engine.notifications.NewListener(uint32(s.databaseID), s.pid, wake)
}

// Listening says whether Notifications can return anything.
func (s *Session) Listening() bool { return s.listener.Listening() }

// Notifications takes what others have sent, at most so many; more says that there may be others. In a
// transaction there is nothing: a client gets them between its transactions.
func (s *Session) Notifications(most int) (out []notify.Notification, more bool) {
	if s.tx.state != idle {
		return nil, false
	}
	return s.listener.Take(most)
}

// execListen is LISTEN. It takes effect when the transaction commits, as UNLISTEN and NOTIFY do.
func (s utility) execListen(st *ast.Listen) (string, error) {
	if s.listener == nil {
		return "", sqlerr.Unsupported(int(st.Pos), "LISTEN through the embedded handle").
			WithHint("Use DB.Listen, which returns what comes.")
	}
	s.tx.notices.Listen(st.Channel)
	return "LISTEN", nil
}

func (s utility) execUnlisten(st *ast.Unlisten) (string, error) {
	if st.All {
		s.tx.notices.UnlistenAll()
	} else {
		s.tx.notices.Unlisten(st.Channel)
	}
	return "UNLISTEN", nil
}

func (s utility) execNotify(st *ast.Notify) (string, error) {
	return "NOTIFY", at(s.tx.notices.Send(st.Channel, st.Payload), st.Pos)
}

// announce tells the queue that the transaction is about to commit what it sends.
func (s *transactor) announce(ctx context.Context) (*notify.Sending, error) {
	if s.tx.notices.Empty() {
		return nil, nil
	}
	now, err := s.engine.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	who := notify.Sender{Database: uint32(s.databaseID), PID: s.pid, Listener: s.listener}
	return s.engine.notifications.Announce(who, s.tx.notices, now)
}

// sent tells the queue how the commit ended. One that is ambiguous may be visible, and a message too many
// does less harm than one too few.
func sent(sending *notify.Sending, ts tso.Timestamp, err error) {
	if err == nil || errors.Is(err, txn.ErrAmbiguous) {
		sending.Committed(ts)
	}
}

// Listen subscribes to channels of a database, beside all sessions. wake is as in Session.OnNotify.
func (e *Engine) Listen(ctx context.Context, database string, wake func(), channels ...string) (*notify.Listener, error) {
	db, err := e.findDatabase(ctx, database)
	if err != nil {
		return nil, err
	}
	l := e.notifications.NewListener(uint32(db.ID), 0, wake)
	l.Listen(channels...)
	return l, nil
}

// Notify is part of expr.Notifications.
func (f *facts) Notify(channel, payload string) error { return f.s.tx.notices.Send(channel, payload) }

// ListeningChannels is part of expr.Notifications.
func (f *facts) ListeningChannels() []string { return f.s.listener.Channels() }

// NotificationQueueUsage is part of expr.Notifications.
func (f *facts) NotificationQueueUsage() float64 { return f.s.engine.notifications.Usage() }
