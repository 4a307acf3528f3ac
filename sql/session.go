package sql

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/settings"
)

// Session is the state of one client. It belongs to one goroutine at a time; only Engine.Cancel
// reaches in from outside.
//
// It is made of layers, each of which uses what is below it:
//
//	Session        runs the messages of a client                query.go, run.go
//	  planRunner   plans and runs one statement                 plan_runner.go, plan_source.go
//	  transactor   begins, commits and ends transactions        transaction.go
//	  portalSet    the open portals and cursors                 portal.go, cursor.go
//	  client       the client, its settings, what it runs now   client.go
//
// Above it are the commands that are more than a plan: utility and maintenance.
type Session struct {
	planRunner
	shape parse.Shape // of the text of a Query
}

// PID and Secret are the numbers of BackendKeyData.
func (s *Session) PID() int32 { return s.pid }

// Secret is what a CancelRequest must contain.
func (s *Session) Secret() int32 { return s.secret }

// Settings are the session's parameters.
func (s *Session) Settings() *settings.Values { return s.settings }

// Database is the name of the session's database.
func (s *Session) Database() string { return s.database }

// Status is ReadyForQuery's letter: 'I' idle, 'T' in a transaction block, 'E' in a failed one.
func (s *Session) Status() byte {
	switch s.tx.state {
	case inBlock:
		return 'T'
	case inFailed:
		return 'E'
	}
	return 'I'
}

// Idle is called when the session begins to wait for its client. pg_stat_activity shows it, and an
// open transaction pins nothing in the store meanwhile.
func (s *Session) Idle() {
	s.running.idle()
	if s.tx.tx != nil {
		s.tx.tx.Idle()
	}
	switch s.tx.state {
	case inBlock:
		s.setActivity("idle in transaction", s.text)
	case inFailed:
		s.setActivity("idle in transaction (aborted)", s.text)
	default:
		s.setActivity("idle", s.text)
	}
	s.tally.idle(s.clock)
}

// Running is the context of the statement that runs now: it ends when the statement is cancelled.
// Without a statement it never ends. It is for the session's own goroutine: a wait of a result
// writer must end with it.
func (s *Session) Running() context.Context { return s.within }

// Terminate ends the session from any goroutine: the running statement, every later one, and the
// wait for its client.
func (s *Session) Terminate() {
	s.running.end(errShutdown)
	if hang := s.terminateConn.Load(); hang != nil {
		(*hang)()
	}
}

// OnTerminate sets the function that closes the session's connection while the session waits for
// its client. The function may be called at any time, from any goroutine, more than once.
func (s *Session) OnTerminate(terminateConn func()) { s.terminateConn.Store(&terminateConn) }

// Terminated reports whether the session was ended: it runs no further statement.
func (s *Session) Terminated() bool {
	s.running.mu.Lock()
	defer s.running.mu.Unlock()
	return s.running.ended != nil
}

// Memory is the account of what the session's statements hold. It is for the session's own
// goroutine.
func (s *Session) Memory() *memory.Account { return s.memory }

// OnNotify allows the session to listen. wake is called, from any goroutine, when Notifications may
// have something to return.
func (s *Session) OnNotify(wake func()) {
	s.listener = s.engine.notifications.NewListener(uint32(s.databaseID), s.pid, wake)
}

// Listening reports whether Notifications can return anything.
func (s *Session) Listening() bool { return s.listener.Listening() }

// Notifications returns the next messages that were sent to the session, at most so many; more
// reports that others may follow. Within a transaction it returns none: a client gets them between
// its transactions.
func (s *Session) Notifications(most int) (out []notify.Notification, more bool) {
	if s.tx.state != idle {
		return nil, false
	}
	return s.listener.Take(most)
}

// utility runs the statements that are more than a plan.
type utility struct{ *Session }

// maintenance runs VACUUM, ANALYZE and REINDEX.
type maintenance struct{ utility }
