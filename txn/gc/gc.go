// Package gc is the collector: below a safepoint it settles every lock and then drops the versions
// that no reader at or above the safepoint can see (PERCOLATOR's paper leaves this to Bigtable).
//
// It owns one pass over the store, at once or in steps of so many rows, and the cell that has the
// safepoint and the claim of the process that collects (safepoint.go). When passes run, and where the
// safepoint is, is the transaction store's affair: a running transaction holds it at or below its
// start_ts.
//
// A span of keys that was dropped as a whole is deleted as a whole (dropped.go).
//
// Locks first: the fate of a secondary is written in its primary's record, and that record may be
// among what is dropped. Then versions: of each key the newest put at or below the safepoint stays,
// and everything older goes; if a delete is newest, all goes. Each row is collected by mvcc.Collect
// in an atomic update that reads the row again, so a pass may run beside anything.
//
// Simple on purpose: a pass reads the whole write column. Keeping a hint of which rows have more
// than one version would replace that.
package gc

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Settler settles a lock whose transaction started below the safepoint, and perhaps some of those that
// follow it. It returns their number, and the last key of which it knows that neither this nor any before
// it, from the lock on, is locked any more by a transaction below the safepoint.
type Settler interface {
	Settle(ctx context.Context, key []byte, l mvcc.Lock) (through []byte, n int, err error)
}

// Stats say what a pass did.
type Stats struct {
	Safepoint tso.Timestamp
	Locks     int // settled
	Rows      int // looked at, because they had more than one put
	Records   int // of these rows
	Versions  int // dropped
	Spans     int // deleted as a whole; the next pass finds them empty
}

// rowsPerUpdate bounds one update of a pass, and so how long it holds latches.
const rowsPerUpdate = 128

// Run makes one pass at once.
func Run(ctx context.Context, e kv.Engine, settler Settler, safepoint tso.Timestamp) (Stats, error) {
	p := NewPass(safepoint)
	_, err := p.Step(ctx, e, settler, 0)
	return p.Stats, err
}

// Pass is a pass over the store in steps. After a step that failed the next one goes on from the same
// place; what a step did stays done.
type Pass struct {
	Stats   Stats
	span    kv.Span // of user keys; the zero one is everything
	settled bool
	next    []byte // the user key to go on from

	emptied     bool   // the list of dropped spans is worked off
	nextDropped []byte // the entry to go on from
}

// NewPass returns a pass that has not begun. Requires: no reader is below the safepoint, nor will be.
func NewPass(safepoint tso.Timestamp) *Pass { return &Pass{Stats: Stats{Safepoint: safepoint}} }

// NewPassOver returns a pass that drops versions in a span of user keys alone. It settles the locks of
// the whole store all the same: the primary of a lock elsewhere may be in the span.
func NewPassOver(safepoint tso.Timestamp, span kv.Span) *Pass {
	p := NewPass(safepoint)
	p.span = span
	p.next = span.Start
	return p
}

// Step looks at so many rows, at all of them when rows is zero, and reports whether the pass is over.
// The first step settles the locks; then come the dropped spans, then versions.
func (p *Pass) Step(ctx context.Context, e kv.Engine, settler Settler, rows int) (done bool, err error) {
	if err := p.Settle(ctx, e, settler); err != nil {
		return false, err
	}
	for !p.emptied {
		if p.emptied, err = p.drop(ctx, e, rows); err != nil || !p.emptied && rows > 0 {
			return false, err
		}
	}
	next, err := collect(ctx, e, &p.Stats, kv.Span{Start: p.next, End: p.span.End}, rows)
	if err != nil {
		return false, err
	}
	p.next = next
	return next == nil, nil
}

// Settle settles the locks, which is the first part of the first step. It does nothing the second time.
func (p *Pass) Settle(ctx context.Context, e kv.Engine, settler Settler) error {
	if p.settled {
		return nil
	}
	n, err := SettleLocks(ctx, e, settler, p.Stats.Safepoint)
	p.Stats.Locks += n
	p.settled = err == nil
	return err
}

// SettleLocks settles every lock of transactions that started below the safepoint, and returns their
// number.
func SettleLocks(ctx context.Context, e kv.Engine, settler Settler, safepoint tso.Timestamp) (n int, err error) {
	if planted.Is(planted.CollectedBeforeSettled) {
		return 0, nil
	}
	return SettleEach(ctx, e, settler, func(l mvcc.Lock) bool { return l.StartTS < safepoint })
}

// SettleEach settles every lock that is wanted, and returns their number. It looks for each in a new
// snapshot, behind what was settled before: in an older one it would ask the settler for locks that are
// gone by now, of the neighbours of an earlier one or of those that others have settled.
func SettleEach(ctx context.Context, e kv.Engine, settler Settler, want func(mvcc.Lock) bool) (n int, err error) {
	for from := (kv.Span{}); ; {
		key, l, err := nextLock(ctx, e, from, want)
		if err != nil || key == nil {
			return n, err
		}
		through, settled, err := settler.Settle(ctx, key, l)
		n += settled
		if err != nil {
			return n, err
		}
		from.Start = append(through, 0x00)
	}
}

// errFound ends a visit early.
var errFound = errors.New("found")

// nextLock returns the first lock of a span that is wanted; a nil key when there is none.
func nextLock(
	ctx context.Context, e kv.Engine, span kv.Span, want func(mvcc.Lock) bool,
) (key []byte, l mvcc.Lock, err error) {
	snap, err := e.Snapshot()
	if err != nil {
		return nil, l, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	err = mvcc.Locks(ctx, snap, span, func(k []byte, found mvcc.Lock) error {
		if !want(found) {
			return nil
		}
		key, l = k, found
		return errFound
	})
	if err == errFound {
		err = nil
	}
	return key, l, err
}

// collect works over a span, so many rows of it, and returns where the next call goes on.
func collect(ctx context.Context, e kv.Engine, st *Stats, span kv.Span, limit int) (next []byte, err error) {
	snap, err := e.Snapshot()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	var rows [][]byte
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		dropped := 0
		// Lazy: a crash that takes it back brings old versions back, which the next pass drops.
		err := kv.UpdateLazy(ctx, e, rows, func(r kv.Reader, b *kv.Batch) (err error) {
			dropped, err = mvcc.Collect(ctx, r, b, st.Safepoint, rows)
			return err
		})
		st.Rows += len(rows)
		st.Versions += dropped
		rows = rows[:0]
		return err
	}
	group := uint64(0)
	next, err = mvcc.Versions(ctx, snap, span, limit, func(row []byte, records int) error {
		st.Records += records
		g := kv.GroupOf(e, row)
		if len(rows) == rowsPerUpdate || g != group {
			if err := flush(); err != nil {
				return err
			}
		}
		group = g
		rows = append(rows, append([]byte(nil), row...))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return next, flush()
}
