package sql

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
)

// A store whose engine is not exclusive may be used by several processes at once. What they have in
// common is in the store: rows, their locks, advisory locks, the schema, sequences, observers. The
// locks of tables, notifications and the list of sessions are in the memory of one process each.
// There a client would take them for what they are in PostgreSQL, and two of them that are
// connected to different processes would both hold a lock. So they are refused by name.

// What the errors advise instead.
const (
	insteadOfTableLock = "Use SELECT ... FOR UPDATE, or isolation level SERIALIZABLE."
	insteadOfNotify    = "Create an observer and wait in minidb_take(), or poll."
	insteadOfLocks     = "minidb_lock_waits shows what the sessions of this process wait for."
	insteadOfActivity  = "minidb_progress shows the statements that this process runs."
)

// unlessShared returns 0A000 for a construct that works within one process, if others may use the
// store.
func (e *Engine) unlessShared(construct, hint string) error {
	if !e.shared {
		return nil
	}
	err := sqlerr.New(sqlerr.FeatureNotSupported,
		"%s is not supported on a store that several processes share", construct)
	if hint != "" {
		err = err.WithHint("%s", hint)
	}
	return err
}

// newPID returns the number of a new session. Processes that share a store draw theirs at random:
// where they counted, a number that was meant for a session of one would end another's.
// Requires: e.mu.
func (e *Engine) newPID() int32 {
	if !e.shared {
		e.mu.lastPID++
		return e.mu.lastPID
	}
	for {
		pid := 1 + rand.Int32N(math.MaxInt32)
		if e.mu.sessions[pid] == nil {
			return pid
		}
	}
}

// refusedViews are the system views that say of all sessions what one process knows of its own,
// with what to use instead.
var refusedViews = map[string]string{
	"pg_stat_activity": insteadOfActivity,
	"pg_locks":         insteadOfLocks,
}

// ownViews show the sessions and counters of one process. They are of use nevertheless: clients
// look their own session up in pg_stat_gssapi and pg_stat_ssl when they connect.
var ownViews = map[string]bool{
	"minidb_conflicts": true, "minidb_lock_waits": true, "minidb_memory": true,
	"minidb_progress": true, "minidb_reruns": true, "pg_stat_gssapi": true,
	"pg_stat_progress_analyze": true, "pg_stat_progress_basebackup": true,
	"pg_stat_progress_copy": true, "pg_stat_progress_create_index": true,
	"pg_stat_progress_vacuum": true, "pg_stat_ssl": true,
}

// mayShowOwn returns an error for a system view whose rows would be wrong because other processes
// use the store, and sends a notice for one that shows this process's part.
func (s *planRunner) mayShowOwn(view *table.Desc) error {
	if !s.engine.shared || view.Schema != "pg_catalog" {
		return nil
	}
	if hint, refused := refusedViews[view.Name]; refused {
		return s.engine.unlessShared(view.Name, hint)
	}
	if ownViews[view.Name] {
		s.noticeOwn(view.Name)
	}
	return nil
}

// noticeOwn sends the notice once for each message of the client, however often its
// statements read the view.
func (s *planRunner) noticeOwn(view string) {
	now := s.queryStart()
	if s.noticed[view].Equal(now) {
		return
	}
	if s.noticed == nil {
		s.noticed = map[string]time.Time{}
	}
	s.noticed[view] = now
	s.notice("NOTICE", "00000", "%s shows this process only, of several that share the store", view)
}
