// Package gc is the collector: below a safepoint it settles every lock and then drops the versions
// that no reader at or above the safepoint can see. (Percolator leaves this to Bigtable.)
//
// It owns one pass over the store, at once or in steps of so many rows, and the cell that has the
// safepoint and the claim of the process that collects (safepoint.go). When a pass runs, and at
// which safepoint, is decided by the transaction store: a running transaction holds the safepoint
// at or below its start_ts.
//
// A span of keys that was dropped as a whole is deleted as a whole (dropped.go).
//
// Locks first: the status of a secondary is written in its primary's record, and that record may be
// among what is dropped. Then versions: of each key the newest put at or below the safepoint stays,
// and everything older goes; if a delete is newest, all goes. Each row is collected by mvcc.Collect
// in an atomic update that reads the row again, so a pass may run beside anything.
//
// A pass reads the write column of the spans that it is given: of everything, or where the
// transaction store knows that something was replaced (package hints). Where most of what it met
// was dropped it has the engine rewrite what is left, so that readers need not step over the marks
// (collect.go).
package gc

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Settler settles a lock whose transaction started below the safepoint, and perhaps some of those
// that follow it. It returns their number and the last of the keys, from the lock's on, that no
// transaction below the safepoint has locked any more.
type Settler interface {
	Settle(ctx context.Context, key []byte, l mvcc.Lock) (through []byte, n int, err error)
}

// Stats are what a pass did.
type Stats struct {
	Safepoint tso.Timestamp
	Locks     int // settled
	Passed    int // rows that were passed, those too that had nothing to be dropped
	Rows      int // looked at, because they had more than one put
	Records   int // of these rows
	Versions  int // dropped
	Spans     int // deleted as a whole; the next pass finds them empty
}

// Pass is a pass over the store in steps. After a step that failed the next one goes on from the
// same place; what a step did stays done.
type Pass struct {
	Stats   Stats
	rest    []kv.Span // of rows, in which versions are still to be dropped
	settled bool
	report  func(Stats) // nil: progress is not reported
	// of rows, the last ones that were looked at: most of their versions were dropped
	dense *kv.Span

	emptied     bool   // the list of dropped spans is worked off
	nextDropped []byte // the entry to go on from
}

// NewPass returns a pass that has not begun. Requires: no reader is below the safepoint, nor will
// be.
func NewPass(safepoint tso.Timestamp) *Pass { return NewPassOver(safepoint, kv.Span{}) }

// NewPassOver returns a pass that drops versions in a span of user keys alone. It settles the locks
// of the whole store all the same: the primary of a lock elsewhere may be in the span.
func NewPassOver(safepoint tso.Timestamp, span kv.Span) *Pass {
	return &Pass{Stats: Stats{Safepoint: safepoint}, rest: []kv.Span{mvcc.RowSpan(span)}}
}

// OnProgress makes the pass call report now and then with what it has done so far, from its own
// goroutine.
func (p *Pass) OnProgress(report func(Stats)) { p.report = report }

func (p *Pass) progress() {
	if p.report != nil {
		p.report(p.Stats)
	}
}

// Settled reports whether the locks have been settled.
func (p *Pass) Settled() bool { return p.settled }

// Over makes the pass drop versions in spans of rows alone, which are sorted and do not overlap.
// Requires: the locks have been settled, and nothing else was done yet.
func (p *Pass) Over(rows []kv.Span) { p.rest = slices.Clone(rows) }

// Step looks at so many rows, at all of them when rows is zero, and reports whether the pass is
// over. The first step settles the locks; then come the dropped spans, then versions.
func (p *Pass) Step(ctx context.Context, e kv.Engine, settler Settler, rows int) (done bool,
	err error) {
	if err := p.Settle(ctx, e, settler); err != nil {
		return false, err
	}
	for !p.emptied {
		if p.emptied, err = p.drop(ctx, e, rows); err != nil || !p.emptied && rows > 0 {
			return false, err
		}
	}
	limit := rows
	if limit == 0 {
		limit = stepRows
	}
	for len(p.rest) > 0 {
		if err := p.collect(ctx, e, limit); err != nil || rows > 0 {
			return len(p.rest) == 0 && err == nil, err
		}
	}
	return true, nil
}

// Settle settles the locks, which is the first part of the first step. It does nothing the second
// time.
func (p *Pass) Settle(ctx context.Context, e kv.Engine, settler Settler) error {
	if p.settled {
		return nil
	}
	n, err := SettleLocks(ctx, e, settler, p.Stats.Safepoint)
	p.Stats.Locks += n
	if err == nil && n >= denseRecords {
		err = kv.CompactRange(ctx, e, mvcc.LockSpan()) // locks are few, and these were all
	}
	p.settled = err == nil
	return err
}

// SettleLocks settles every lock of transactions that started below the safepoint, and returns
// their number.
func SettleLocks(ctx context.Context, e kv.Engine, settler Settler, safepoint tso.Timestamp) (n int,
	err error) {
	return SettleEach(ctx, e, settler, func(l mvcc.Lock) bool { return l.StartTS < safepoint })
}

// SettleEach settles every lock for which wanted holds, and returns their number. It looks for each
// in a new snapshot, behind what was settled before. An older snapshot would still show locks that
// are gone: neighbours that the settler settled along with an earlier one, and locks that other
// transactions have settled.
func SettleEach(ctx context.Context, e kv.Engine, settler Settler,
	want func(mvcc.Lock) bool) (n int, err error) {
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
	snap, err := kv.Latest(e)
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
