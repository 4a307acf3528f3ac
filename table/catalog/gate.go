package catalog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// A change of a table's schema that reads all rows fails when a row is written meanwhile (catalog
// I4). On a table that is written all the time it would fail for ever, so within a process writers
// wait for it: a change raises the table's gate, and statements that begin to write the table stop
// in front of it. The gate stays up for a moment after the statement, so that one which met writers
// already under way finds none when it is run again.
//
// Nothing depends on the gate for correctness. On a store that several processes share, the others'
// writers do not see it, and the change may take more attempts.
const (
	gateGrace = 100 * time.Millisecond // between a failed attempt and the next one
	gatePoll  = 5 * time.Millisecond
	gateWait  = 5 * time.Second // what a statement waits at most
)

type gates struct {
	raised atomic.Int32 // entries of m: the way past without a lock
	mu     sync.Mutex
	m      map[table.ID]*gate
}

type gate struct {
	owner tso.Timestamp // the transaction that changes the schema
	held  int           // statements of it that run
	until time.Time     // when held is 0
}

// raise stops other transactions' writers of a table while ctx, the statement's, lives.
func (gs *gates) raise(ctx context.Context, id table.ID, owner tso.Timestamp) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := gs.m[id]
	if g == nil {
		g = &gate{}
		if gs.m == nil {
			gs.m = map[table.ID]*gate{}
		}
		gs.m[id] = g
		gs.raised.Add(1)
	}
	g.owner = owner
	if ctx.Done() == nil {
		g.until = time.Now().Add(gateGrace)
		return
	}
	g.held++
	context.AfterFunc(ctx, func() {
		gs.mu.Lock()
		defer gs.mu.Unlock()
		g.held--
		g.until = time.Now().Add(gateGrace)
	})
}

// open says whether a transaction may pass.
func (gs *gates) open(id table.ID, startTS tso.Timestamp) bool {
	if gs.raised.Load() == 0 {
		return true
	}
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := gs.m[id]
	if g == nil || g.owner == startTS {
		return true
	}
	if g.held > 0 || time.Now().Before(g.until) {
		return false
	}
	delete(gs.m, id)
	gs.raised.Add(-1)
	return true
}

// AwaitSchema implements table.SchemaGate: it waits while another transaction changes the schema of
// d's table. When the change has been committed, the caller's descriptor is out of date and so is its
// snapshot: that is a conflict, told at once instead of at commit.
func (c *Catalog) AwaitSchema(ctx context.Context, d *table.Desc, startTS tso.Timestamp) error {
	if c.gates.open(d.ID, startTS) {
		return nil
	}
	timer := time.NewTimer(gateWait)
	defer timer.Stop()
	poll := time.NewTicker(gatePoll)
	defer poll.Stop()
	for {
		changed, err := c.changed(ctx, d)
		if err != nil {
			return err
		}
		if changed {
			return &txn.WriteConflictError{Key: table.DescKey(d.ID), StartTS: startTS}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case <-poll.C:
		}
		if c.gates.open(d.ID, startTS) {
			return nil
		}
	}
}

// changed says whether the newest committed descriptor is another one than d.
func (c *Catalog) changed(ctx context.Context, d *table.Desc) (bool, error) {
	tx, err := c.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	b, err := tx.Get(ctx, table.DescKey(d.ID))
	if err != nil || b == nil {
		return err == nil, err
	}
	version, _, err := descVersion(b)
	return version != d.Version, err
}
