package sql

import (
	"cmp"
	"context"
	"crypto/tls"
	"time"

	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// SessionOptions describe the client of a new session.
type SessionOptions struct {
	// User is the name of a role; "": the bootstrap superuser.
	User     string
	Database string // "": the user's name, as PostgreSQL
	// Embedded: the program itself opens the session. The role need not be one that may log in.
	Embedded bool
	Client   string // address, for pg_stat_activity
	Server   string // address that the client connected to by TCP; "": it did not
	// TLS is that of an encrypted connection, nil otherwise.
	TLS *tls.ConnectionState
	// Settings are parameters of the startup packet: what RESET goes back to.
	Settings map[string]string
	// Background: the session works for the database itself. It ends with the database, and does
	// not keep it from being dropped.
	Background bool
}

// NewSession opens a session on a database. The caller closes it.
func (e *Engine) NewSession(ctx context.Context, o SessionOptions) (*Session, error) {
	if o.Database == "" {
		o.Database = cmp.Or(o.User, "postgres")
	}
	s := &Session{}
	s.client = client{engine: e, address: o.Client, server: o.Server, database: o.Database,
		background: o.Background, started: time.Now(),
		within: context.Background()}
	s.portals, s.prepared, s.currval = map[string]*Portal{}, map[string]*Prepared{},
		map[types.OID]int64{}
	s.running.between, s.running.over = context.WithCancelCause(context.Background())
	role, err := s.identify(ctx, o)
	if err != nil {
		return nil, err
	}
	s.user, s.identity = role.Name, identity{login: role.ID,
		ids: map[string]acl.RoleID{role.Name: role.ID}}
	if err := s.startSettings(ctx, o, role); err != nil {
		return nil, err
	}
	if err := e.register(s); err != nil {
		return nil, err
	}
	s.memory, s.held = e.opts.Memory.Account(memoryOwner{&s.client}),
		e.opts.Memory.Account(holder{memoryOwner{&s.client}})
	s.atCommit = s.temporaryAtCommit
	s.references = ri.NewQueue(riHost{&s.planRunner})
	s.progress.initStreamed()
	s.locks = e.store.RowLocks().NewOwner(int64(s.pid))
	s.outOfPlan = accessor{s: &s.planRunner, ctx: context.Background()}
	s.tally, s.scans.registry = e.statements.tally(s.pid), e.statistics
	s.initActivity(o.TLS)
	s.setActivity("idle", "")
	return s, nil
}

// Close rolls back what is open and gives up the session's number.
func (s *Session) Close(ctx context.Context) {
	s.closePortals(true)
	s.abort(ctx)
	s.endTemporary(ctx)
	s.listener.Close()
	s.locks.Close()
	if s.advisory != nil {
		s.advisory.Close()
	}
	s.running.over(nil)
	s.lasting.forget()
	s.memory.Close()
	s.held.Close()
	s.engine.unregister(s)
}

// Reset rolls back what is open, and forgets settings and cursors: the session is as new, except
// that it keeps its prepared statements.
func (s *Session) Reset(ctx context.Context) {
	s.unlockAll()
	s.lastCommit, s.shown = 0, nil
	if s.tx.state == idle && len(s.portals) == 0 && s.settings.Pristine() && s.temporary == nil {
		return
	}
	s.closePortals(true)
	s.abort(ctx)
	s.endTemporary(ctx)
	s.settings.ResetAll()
	s.resetIdentity()
	s.settings.Commit()
	s.forgetSequences()
}

// Refresh gives a session that was kept for later use the present settings of its database, as a
// new session would have them.
func (s *Session) Refresh(ctx context.Context) error {
	if s.defaults.databases == s.engine.defaults.databases.Load() {
		return nil
	}
	return s.followDatabase(ctx)
}

// memoryOwner is the owner of a session's account. If memory runs out and this account holds the
// most, its running statement is ended.
type memoryOwner struct{ s *client }

// Running implements memory.Owner.
func (o memoryOwner) Running() context.Context {
	if o.s.within == context.Background() {
		return o.s.running.between // a message is being read
	}
	return o.s.within
}

// End implements memory.Owner.
func (o memoryOwner) End(cause error) bool { return o.s.running.cancelWith(cause) }

// PID implements memory.Owner.
func (o memoryOwner) PID() int32 { return o.s.pid }

// holder is the owner of what outlives statements: ending a statement would not free it.
type holder struct{ memoryOwner }

// End implements memory.Owner.
func (holder) End(error) bool { return false }
