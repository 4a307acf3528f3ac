package sql

import (
	"sync/atomic"

	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// progress is how far the running statement of a session is, for others to look at while it runs.
type progress struct {
	streamed    func(txn.Streamed) // made once, for the store to call
	rows        atomic.Int64       // that the statement has written
	reruns      atomic.Int64       // how often the statement was run again on a newer snapshot
	keys, bytes atomic.Int64       // that the transaction has streamed out, beyond what its buffer holds
	phase       atomic.Int32
	copying     atomic.Pointer[copying]
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
}

// beginTransaction is called when a transaction of the store begins.
func (p *progress) beginTransaction() {
	p.keys.Store(0)
	p.bytes.Store(0)
}

// listen makes the function that is told by the store how much has gone out.
func (p *progress) listen() {
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
		a := s.seen()
		if a.State != "active" {
			continue
		}
		p := &s.progress
		x := pgcatalog.Progress{PID: a.PID, DatabaseID: a.DatabaseID, Database: a.Database, Query: a.Query, Begun: a.QueryStart,
			Phase: phaseNames[p.phase.Load()], Rows: p.rows.Load(), Keys: p.keys.Load(), Bytes: p.bytes.Load(),
			Reruns: p.reruns.Load()}
		if c := p.copying.Load(); c != nil {
			x.Copy = &pgcatalog.CopyProgress{Relation: c.relation, From: c.from, Bytes: c.bytes.Load(), Rows: c.rows.Load()}
		}
		out = append(out, x)
	}
	return out
}
