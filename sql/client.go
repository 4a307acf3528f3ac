package sql

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table"
)

// client is the lowest layer of a session: the client's identity, its settings, and the statement
// that it runs now.
type client struct {
	engine      *Engine
	pid, secret int32
	user        string // the name of the role that connected
	identity    identity
	address     string // "": unknown
	server      string // SessionOptions.Server
	database    string
	databaseID  table.ID
	background  bool // SessionOptions.Background
	started     time.Time
	settings    *settings.Values
	defaults    defaultsSeen

	out           ResultWriter    // where notices of the running statement go
	within        context.Context // of the running statement, for what its result writer does
	text          string
	running       running
	cancelRun     context.CancelCauseFunc // ends within
	timeout       *time.Timer             // of the running statement; nil: none
	lasting       lasting
	progress      progress
	memory        *memory.Account        // what statements, their transaction and its portals hold
	held          *memory.Account        // what outlives transactions: cursors WITH HOLD
	terminateConn atomic.Pointer[func()] // ends the connection
	tally         tally
	scans         scans
	clock         time.Time // of the last change of activity
	activity      struct {
		sync.Mutex
		pgcatalog.Activity
	}
}

// initActivity fills the session's row of pg_stat_activity.
func (s *client) initActivity(state *tls.ConnectionState) {
	s.activity.Lock()
	defer s.activity.Unlock()
	s.activity.Activity = pgcatalog.Activity{PID: s.pid, User: s.user,
		Role: s.identity.login, Database: s.database, DatabaseID: uint32(s.databaseID),
		Client: s.address, Started: s.started}
	if state != nil {
		s.activity.TLS = pgcatalog.EncryptionOf(state)
	}
}

// currentActivity returns a copy of the session's row of pg_stat_activity.
func (s *client) currentActivity() pgcatalog.Activity {
	s.activity.Lock()
	defer s.activity.Unlock()
	return s.activity.Activity
}

// queryStart is when the running statement began.
func (s *client) queryStart() time.Time {
	s.activity.Lock()
	defer s.activity.Unlock()
	return s.activity.QueryStart
}

// waits shows in pg_stat_activity what the running statement waits for; "" ends it.
func (s *client) waits(event string) {
	s.activity.Lock()
	defer s.activity.Unlock()
	s.activity.Wait = event
}

// levels orders the severities of client_min_messages.
var levels = map[string]int{"debug5": 1, "debug4": 2, "debug3": 3, "debug2": 4, "debug1": 5,
	"log":    6,
	"notice": 7, "warning": 8, "error": 9}

// notice sends a message to the client, if it wants messages of its kind.
func (s *client) notice(severity, code, format string, args ...any) {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	s.sendNotice(severity, code, message, "")
}

// sendNotice is notice with the finished text, and a detail that may be empty.
func (s *client) sendNotice(severity, code, message, detail string) {
	s.send(&Notice{Severity: severity, Code: code, Message: message, Detail: detail})
}

// send sends a message to the client, if it wants messages of its kind.
func (s *client) send(n *Notice) {
	s.logNotice(n)
	level := levels[strings.ToLower(n.Severity)]
	if n.Severity == "DEBUG" {
		level = levels["debug1"]
	}
	if n.Severity != "INFO" && level < levels[s.settings.Derived().ClientMinMessages] {
		return
	}
	if s.out != nil {
		s.out.Notice(n)
	}
}

// info sends the progress of a command to the client if the command has VERBOSE.
func (s *client) info(verbose bool, format string, args ...any) {
	if verbose {
		s.notice("INFO", "00000", format, args...)
	}
}
