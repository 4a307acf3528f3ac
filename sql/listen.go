package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/notify"
)

// execListen is LISTEN. It takes effect when the transaction commits, as UNLISTEN and NOTIFY do.
func (s utility) execListen(st *ast.Listen) (string, error) {
	if err := s.engine.unlessShared("LISTEN", insteadOfNotify); err != nil {
		return "", withPosition(err, st.Pos)
	}
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
	if err := s.engine.unlessShared("NOTIFY", insteadOfNotify); err != nil {
		return "", withPosition(err, st.Pos)
	}
	return "NOTIFY", withPosition(s.tx.notices.Send(st.Channel, st.Payload), st.Pos)
}

// Listen subscribes to channels of a database, beside all sessions. wake is as in Session.OnNotify.
func (e *Engine) Listen(ctx context.Context, database string, wake func(),
	channels ...string) (*notify.Listener, error) {
	if err := e.unlessShared("listening to notifications", insteadOfNotify); err != nil {
		return nil, err
	}
	db, err := e.findDatabase(ctx, database)
	if err != nil {
		return nil, err
	}
	l := e.notifications.NewListener(uint32(db.ID), 0, wake)
	l.Listen(channels...)
	return l, nil
}

// Notify is part of expr.Notifications.
func (f *accessor) Notify(channel, payload string) error {
	if err := f.s.engine.unlessShared("pg_notify", insteadOfNotify); err != nil {
		return err
	}
	return f.s.tx.notices.Send(channel, payload)
}

// ListeningChannels is part of expr.Notifications.
func (f *accessor) ListeningChannels() []string { return f.s.listener.Channels() }

// NotificationQueueUsage is part of expr.Notifications.
func (f *accessor) NotificationQueueUsage() float64 { return f.s.engine.notifications.Usage() }
