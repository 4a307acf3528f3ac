package sql

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
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
type Session struct {
	engine      *Engine
	pid, secret int32
	user        string
	client      string
	database    string
	databaseID  table.ID
	started     time.Time

	settings *settings.Values
	tx       transaction
	prepared map[string]*Prepared
	portals  map[string]*Portal
	currval  map[types.OID]int64
	lastSeq  types.OID
	defaults defaultsSeen
	locks    *rowlock.Owner // row locks and advisory locks
	// lastCommit is commit_ts of the last transaction that wrote; zero before there was one.
	lastCommit tso.Timestamp
	listener   *notify.Listener // nil: nobody would take what it gets
	// references are the checks of foreign keys that the transaction has left to do; inner are the
	// statements that they run.
	references *ri.Queue
	inner      map[string]*Prepared
	retries    int // attempts at the implicit transaction that failed
	caution    int // how many implicit transactions are still to lock what they write

	out      Sink            // where notices of the running statement go
	within   context.Context // of the running statement, for what its sink does
	text     string
	shape    parse.Shape // of the text of a Query
	once     bool        // the implicit transaction did what cannot be done twice
	several  bool        // the statement is one of several in its Query
	prompt   bool        // nothing was waited for since the statement was prepared
	single   bool        // the statement is all of its message, or of its messages up to Sync
	running  running
	progress progress
	memory   *memory.Account        // what statements, their transaction and its portals hold
	held     *memory.Account        // what outlives transactions: held cursors
	hangUp   atomic.Pointer[func()] // ends the connection
	format   types.Format
	outside  facts // of values that are read and written outside of plans
	activity struct {
		sync.Mutex
		pgcatalog.Activity
	}
}

// Notice is a message beside the result.
type Notice struct {
	Severity string // "NOTICE", "WARNING", "INFO", …
	Code     string
	Message  string
	Detail   string
	Hint     string
}

// NewSession opens a session on a database. The caller closes it.
func (e *Engine) NewSession(ctx context.Context, o SessionOptions) (*Session, error) {
	if o.User == "" {
		o.User = "postgres"
	}
	if o.Database == "" {
		o.Database = o.User
	}
	s := &Session{engine: e, user: o.User, client: o.Client, database: o.Database, started: time.Now(),
		within: context.Background(), prepared: map[string]*Prepared{}, portals: map[string]*Portal{}, currval: map[types.OID]int64{}}
	s.running.between, s.running.over = context.WithCancelCause(context.Background())
	if err := s.startSettings(ctx, o); err != nil {
		return nil, err
	}
	if err := e.register(s); err != nil {
		return nil, err
	}
	s.memory, s.held = e.opts.Memory.Account(memoryOwner{s}), e.opts.Memory.Account(holder{memoryOwner{s}})
	s.references = ri.NewQueue(riHost{s})
	s.progress.listen()
	s.locks = e.store.RowLocks().NewOwner(int64(s.pid))
	s.outside = facts{s: s, ctx: context.Background()}
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

// Format is how values are read and written as text now. It is for the running statement: the next
// call changes it.
func (s *Session) Format() *types.Format {
	s.format = s.settings.Derived().Format
	s.format.Reg, s.format.Now = &s.outside, s.tx.started
	return &s.format
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

// introduce tells them who the session is.
func (s *Session) introduce() {
	s.activity.Lock()
	defer s.activity.Unlock()
	s.activity.Activity = pgcatalog.Activity{PID: s.pid, User: s.user, Database: s.database, DatabaseID: uint32(s.databaseID),
		Client: s.client, Started: s.started}
}

// report tells those who look what the session does.
func (s *Session) report(state, query string) {
	now := time.Now()
	app := s.settings.Derived().ApplicationName
	a := &s.activity
	a.Lock()
	defer a.Unlock()
	a.Application, a.State, a.Query, a.StateChanged, a.TxnStarted = app, state, query, now, time.Time{}
	if s.tx.state != idle {
		a.TxnStarted = s.tx.started
	} else if state == "active" {
		a.TxnStarted = now
	}
	if state == "active" || a.QueryStart.IsZero() {
		a.QueryStart = now
	}
}

// seen is what report told last.
func (s *Session) seen() pgcatalog.Activity {
	s.activity.Lock()
	defer s.activity.Unlock()
	return s.activity.Activity
}

// levels orders the severities of client_min_messages.
var levels = map[string]int{"debug5": 1, "debug4": 2, "debug3": 3, "debug2": 4, "debug1": 5, "log": 6,
	"notice": 7, "warning": 8, "error": 9}

// notice sends a message to the client, if it wants messages of its kind.
func (s *Session) notice(severity, code, format string, args ...any) {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	s.say(severity, code, message, "")
}

// say is notice of a finished text, with a detail that may be empty.
func (s *Session) say(severity, code, message, detail string) {
	level := levels[strings.ToLower(severity)]
	if severity != "INFO" && level < levels[s.settings.Derived().ClientMinMessages] {
		return
	}
	if s.out != nil {
		s.out.Notice(&Notice{Severity: severity, Code: code, Message: message, Detail: detail})
	}
}

// begin prepares to run one statement: its context ends by Cancel and by statement_timeout.
func (s *Session) begin(ctx context.Context, text string, out Sink) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.running.set(cancel)
	s.out, s.text, s.within = out, text, ctx
	s.followSystem()
	s.progress.begin()
	if s.tx.tx != nil {
		s.tx.tx.SetStatement(ctx, text)
	}
	var timer *time.Timer
	if d := s.settings.Derived().StatementTimeout; d > 0 {
		timer = time.AfterFunc(d, func() { cancel(errStatementTimeout) })
	}
	s.report("active", text)
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		s.running.set(nil)
		s.out, s.within = nil, context.Background()
		cancel(nil)
		s.memory.Settle()
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
