package sql

import (
	"context"
	"sync/atomic"

	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/backup"
	"github.com/minidb/minidb/txn/gc"
)

// progress is the progress of the session's running statement. Other sessions read it.
type progress struct {
	streamed func(txn.Streamed) // made once; the store calls it
	rows     atomic.Int64       // that the statement has written
	reruns   atomic.Int64       // how often the statement was run again on a newer snapshot
	// that the transaction has written to the store before its commit
	keys, bytes atomic.Int64
	phase       atomic.Int32
	copying     atomic.Pointer[copying]
	upkeep      atomic.Pointer[upkeepProgress]
	backup      atomic.Pointer[backingUp]
}

// upkeepProgress is the progress of VACUUM, ANALYZE or the building of an index on a table.
type upkeepProgress struct {
	command  string
	relation table.ID
	total    int64 // rows of the table by its counters; 0: not known
	index    atomic.Uint32
	phase    atomic.Int32
	rows     atomic.Int64 // read
	dropped  atomic.Int64 // versions
}

// The phases of upkeep, with PostgreSQL's names.
const (
	phaseInitializing int32 = iota
	phaseScanningHeap
	phaseFinalCleanup
	phaseSampling
	phaseComputing
	phaseScanningTable
)

var upkeepPhases = [...]string{"initializing", "scanning heap", "performing final cleanup",
	"acquiring sample rows",
	"computing statistics", "building index: scanning table"}

// beginUpkeep is called when work on a table begins; it ends with the statement, if not before.
func (p *progress) beginUpkeep(command string, relation table.ID, total int64) *upkeepProgress {
	u := &upkeepProgress{command: command, relation: relation, total: total}
	p.upkeep.Store(u)
	return u
}

// collected records the progress of the collector. A pass over the whole store belongs to no table.
func (p *progress) collected(done gc.Stats) {
	if u := p.upkeep.Load(); u != nil {
		u.phase.Store(phaseScanningHeap)
		u.rows.Store(int64(done.Passed))
		u.dropped.Store(int64(done.Versions))
	}
}

// liveRows is how many rows a table has by its counters; 0 when that is not known.
func (s *client) liveRows(ctx context.Context, id table.ID) int64 {
	c, err := s.engine.statistics.Counters(ctx, id)
	if err != nil {
		return 0 // it is only shown, in the progress views
	}
	return max(c.Live, 0)
}

// copying is what a COPY works on.
type copying struct {
	relation table.ID // 0: a query
	from     bool
	bytes    atomic.Int64
	rows     atomic.Int64
}

// The phases of a statement.
const (
	phaseRunning int32 = iota
	phaseCommitting
	phaseRollingBack
)

var phaseNames = [...]string{"running", "committing", "rolling back"}

// begin is called at the start of a statement.
func (p *progress) begin() {
	p.rows.Store(0)
	p.reruns.Store(0)
	p.phase.Store(phaseRunning)
	p.upkeep.Store(nil)
}

// beginTransaction is called when a transaction of the store begins.
func (p *progress) beginTransaction() {
	p.keys.Store(0)
	p.bytes.Store(0)
}

// initStreamed makes the function that the store calls with the size of what it has written.
func (p *progress) initStreamed() {
	p.streamed = func(s txn.Streamed) {
		p.keys.Store(s.Keys)
		p.bytes.Store(s.Bytes)
	}
}

// Progresses lists the running statements.
func (e *Engine) Progresses() []pgcatalog.Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []pgcatalog.Progress
	for _, s := range e.mu.sessions {
		a := s.currentActivity()
		if a.State != "active" {
			continue
		}
		p := &s.progress
		x := pgcatalog.Progress{PID: a.PID, DatabaseID: a.DatabaseID, Role: a.Role,
			Database: a.Database, Query: a.Query, Begun: a.QueryStart,
			Phase: phaseNames[p.phase.Load()], Rows: p.rows.Load(), Keys: p.keys.Load(),
			Bytes:  p.bytes.Load(),
			Reruns: p.reruns.Load()}
		if c := p.copying.Load(); c != nil {
			x.Copy = &pgcatalog.CopyProgress{Relation: c.relation, From: c.from,
				Bytes: c.bytes.Load(), Rows: c.rows.Load()}
		}
		if b := p.backup.Load(); b != nil {
			x.Backup = &pgcatalog.BackupProgress{Phase: backup.Phase(b.phase.Load()).String(),
				Bytes: b.bytes.Load()}
		}
		if u := p.upkeep.Load(); u != nil {
			x.Upkeep = &pgcatalog.UpkeepProgress{Command: u.command, Relation: u.relation,
				Index: table.ID(u.index.Load()),
				Phase: upkeepPhases[u.phase.Load()], Rows: u.rows.Load(), Total: u.total,
				Dropped: u.dropped.Load()}
		}
		out = append(out, x)
	}
	return out
}
