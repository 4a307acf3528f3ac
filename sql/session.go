package sql

import (
	"context"
	"time"

	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/types"
)

// SessionOptions say who comes in.
type SessionOptions struct {
	User     string
	Database string // "": the user's name, as PostgreSQL
	Client   string // address, for pg_stat_activity
	Port     int    // at which the client came in; zero: it did not come over TCP
	// Settings are parameters of the startup packet: what RESET goes back to.
	Settings map[string]string
}

// Session is the state of one client. It belongs to one goroutine at a time; only Engine.Cancel
// reaches in from outside.
//
// It is made of layers, each of which uses what is below it:
//
//	Session      runs the messages of a client: Query; Parse, Bind, Execute, Sync      query.go, run.go
//	  planRunner   plans and runs one statement in the present transaction             source.go, plan.go
//	  transactor   begins, commits and ends transactions                               transaction.go
//	  portalSet    the open portals and cursors                                        portal.go, cursor.go
//	  client       who the client is, its settings, and what it runs now               client.go
//
// Above it stand the commands that are more than a plan: utility and maintenance.
type Session struct {
	planRunner
	shape parse.Shape // of the text of a Query
}

// NewSession opens a session on a database. The caller closes it.
func (e *Engine) NewSession(ctx context.Context, o SessionOptions) (*Session, error) {
	if o.User == "" {
		o.User = "postgres"
	}
	if o.Database == "" {
		o.Database = o.User
	}
	s := &Session{}
	s.client = client{engine: e, user: o.User, address: o.Client, database: o.Database, started: time.Now(),
		within: context.Background()}
	s.portals, s.prepared, s.currval = map[string]*Portal{}, map[string]*Prepared{}, map[types.OID]int64{}
	s.running.between, s.running.over = context.WithCancelCause(context.Background())
	if err := s.startSettings(ctx, o); err != nil {
		return nil, err
	}
	if err := e.register(s); err != nil {
		return nil, err
	}
	s.memory, s.held = e.opts.Memory.Account(memoryOwner{&s.client}), e.opts.Memory.Account(holder{memoryOwner{&s.client}})
	s.references = ri.NewQueue(riHost{&s.planRunner})
	s.progress.listen()
	s.locks = e.store.RowLocks().NewOwner(int64(s.pid))
	s.outside = facts{s: &s.planRunner, ctx: context.Background()}
	s.introduce()
	s.report("idle", "")
	return s, nil
}

// Close rolls back what is open and gives up the session's number.
func (s *Session) Close(ctx context.Context) {
	s.closePortals(true)
	s.abort(ctx)
	s.listener.Close()
	s.locks.Close()
	s.running.over(nil)
	s.memory.Close()
	s.held.Close()
	s.engine.unregister(s)
}

// PID and Secret are the numbers of BackendKeyData.
func (s *Session) PID() int32 { return s.pid }

// Secret is what a CancelRequest must bring.
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

// Idle says that the session waits for its client: pg_stat_activity shows it, and a transaction that
// is open pins nothing in the store meanwhile.
func (s *Session) Idle() {
	if s.tx.tx != nil {
		s.tx.tx.Idle()
	}
	switch s.tx.state {
	case inBlock:
		s.report("idle in transaction", s.text)
	case inFailed:
		s.report("idle in transaction (aborted)", s.text)
	default:
		s.report("idle", s.text)
	}
}

// Running is the context of the statement that runs now: it ends when the statement is cancelled. Without
// one it never ends. It is for the session's own goroutine: what a sink waits for must end with it.
func (s *Session) Running() context.Context { return s.within }

// Reset rolls back what is open and forgets settings and cursors: the session is as new. Prepared
// statements stay.
func (s *Session) Reset(ctx context.Context) {
	s.locks.UnlockAll()
	s.lastCommit = 0
	if s.tx.state == idle && len(s.portals) == 0 && s.settings.Pristine() {
		return
	}
	s.closePortals(true)
	s.abort(ctx)
	s.settings.ResetAll()
	s.settings.Commit()
	s.forgetSequences()
}
