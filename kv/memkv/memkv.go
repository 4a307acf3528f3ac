// Package memkv is the reference engine: an immutable B-tree of which every update makes a new
// version, under one lock. It is small enough to be seen to be right, so the conformance suite and
// the mirror test hold the other engines against it. It can be cut into groups, which forces
// two-phase commit above it, and into something that does not claim to be exclusive, which forces
// the layer above to work as on a shared store. It then also behaves as such a store may: it
// refuses large updates, pins a snapshot at its first read, gives it up after some updates, and
// runs a step without a lock, first on what was there before, and again when a row has changed
// meanwhile.
package memkv

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/fnv"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/tidwall/btree"
)

// Options choose how the engine presents itself.
type Options struct {
	// Splits cut the rows into len(Splits)+1 groups: group i holds the rows below Splits[i].
	Splits [][]byte
	// HashGroups, when above one and without Splits, spreads the rows over that many groups: the
	// same ones for the same HashSeed.
	HashGroups int
	HashSeed   uint64
	// Shared makes the engine deny that it is exclusive, and behave as a store on the network may.
	Shared bool
	// Keeps is after how many updates since its first read a Shared engine gives a snapshot up.
	// Zero is 64, a negative number never.
	Keeps int
	// Reads, if not zero, is after how many reads a Shared engine gives a snapshot up.
	Reads int
	// Lost, if not zero, is of how many snapshots a Shared engine gives one up during its first
	// read.
	Lost int
	// Limits bound an update. When all are zero, a Shared engine has SmallLimits, because what
	// several processes write to is on the network.
	Limits kv.Limits
}

// SmallLimits are those of the smallest store on the network that minidb is run on: each is that of
// an etcd cluster with its default settings, or lower.
var SmallLimits = kv.Limits{Rows: 32, Ops: 128, Bytes: 64 << 10, Value: 32 << 10}

// remembers is after how many updates a Shared engine remembers another state.
const remembers = 4

// Engine keeps everything in memory.
type Engine struct {
	opts   Options
	syncs  atomic.Uint64
	closed atomic.Bool
	// applied counts the updates that wrote something. It moves under mu.
	applied atomic.Int64
	// snapshots counts those that a Shared engine was asked for.
	snapshots atomic.Int64

	mu struct {
		sync.Mutex
		tree    *btree.BTreeG[item]
		changed map[string]int64    // a Shared engine's rows: the number of the last update of each
		before  *btree.BTreeG[item] // of a Shared engine, as it was some updates ago; or nil
		ranged  int64               // the number of the last deletion of a range
	}
}

type item struct {
	key, value []byte
}

func less(a, b item) bool { return bytes.Compare(a.key, b.key) < 0 }

// New returns an empty engine.
func New(opts Options) *Engine {
	e := &Engine{opts: opts}
	if opts.Shared && opts.Limits == (kv.Limits{}) {
		e.opts.Limits = SmallLimits
	}
	sort.Slice(e.opts.Splits, func(i, j int) bool {
		return bytes.Compare(e.opts.Splits[i], e.opts.Splits[j]) < 0
	})
	if e.opts.Keeps == 0 {
		e.opts.Keeps = 64
	}
	e.mu.tree = btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
	e.mu.changed = map[string]int64{}
	return e
}

// Group returns the group of a row.
func (e *Engine) Group(row []byte) uint64 {
	if len(e.opts.Splits) > 0 {
		return uint64(sort.Search(len(e.opts.Splits), func(i int) bool {
			return bytes.Compare(row, e.opts.Splits[i]) < 0
		}))
	}
	if e.opts.HashGroups > 1 {
		h := fnv.New64a()
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, e.opts.HashSeed))
		_, _ = h.Write(row)
		return h.Sum64() % uint64(e.opts.HashGroups)
	}
	return 0
}

// Exclusive reports whether no other process can reach the store: true, except with Options.Shared.
func (e *Engine) Exclusive() bool { return !e.opts.Shared }

// Limits implements kv.Limited.
func (e *Engine) Limits() kv.Limits { return e.opts.Limits }

// Syncs counts the updates that would have been synced.
func (e *Engine) Syncs() uint64 { return e.syncs.Load() }

// Snapshot implements kv.Engine.
func (e *Engine) Snapshot() (kv.Snapshot, error) {
	if e.closed.Load() {
		return nil, kv.ErrClosed
	}
	s := &snapshot{e: e}
	switch lost := int64(e.opts.Lost); {
	case !e.opts.Shared:
		s.pin()
	case lost > 0 && e.snapshots.Add(1)%lost == 0:
		s.lost = true
	}
	return s, nil
}

// Update implements kv.Engine.
func (e *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	wrote, err := e.apply(ctx, rows, step)
	if wrote {
		e.syncs.Add(1)
	}
	return err
}

// UpdateLazy implements kv.Lazy. Memory has no crash, so it differs only in what it counts.
func (e *Engine) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	_, err := e.apply(ctx, rows, step)
	return err
}

func (e *Engine) apply(ctx context.Context, rows [][]byte, step kv.Step) (wrote bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, kv.NotApplied(err)
	}
	if e.closed.Load() {
		return false, kv.NotApplied(kv.ErrClosed)
	}
	for _, row := range rows {
		if e.Group(row) != e.Group(rows[0]) {
			return false, kv.NotApplied(kv.ErrGroups)
		}
	}
	if most := e.opts.Limits.Rows; most != 0 && len(rows) > most {
		return false, e.opts.Limits.Check(len(rows), new(kv.Batch))
	}
	if !e.opts.Shared {
		e.mu.Lock()
		defer e.mu.Unlock()
		var b kv.Batch
		// The step reads a copy, so that its reader stays what it was while the batch is applied.
		if err := step(&reader{tree: e.mu.tree.Copy()}, &b); err != nil {
			return false, err
		}
		return e.write(rows, &b)
	}
	e.mu.Lock()
	before := e.mu.before
	e.mu.Unlock()
	if before != nil {
		// This run never counts, whatever it does.
		_ = step(&reader{tree: before}, new(kv.Batch))
	}
	for {
		wrote, refused, err := e.attempt(rows, step)
		if !refused {
			return wrote, err
		}
		if err := ctx.Err(); err != nil {
			return false, kv.NotApplied(err)
		}
	}
}

// attempt runs a step over the present state of the rows, and applies its batch unless one of them
// has changed meanwhile.
func (e *Engine) attempt(rows [][]byte, step kv.Step) (wrote, refused bool, err error) {
	e.mu.Lock()
	tree, at := e.mu.tree.Copy(), e.applied.Load()
	e.mu.Unlock()
	var b kv.Batch
	if err := step(&reader{tree: tree}, &b); err != nil {
		return false, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.ranged > at {
		return false, true, nil
	}
	for _, row := range rows {
		if e.mu.changed[string(row)] > at {
			return false, true, nil
		}
	}
	wrote, err = e.write(rows, &b)
	return wrote, false, err
}

// write applies a batch. The caller holds mu.
func (e *Engine) write(rows [][]byte, b *kv.Batch) (wrote bool, err error) {
	if err := b.CheckRows(rows); err != nil {
		return false, err
	}
	if err := e.opts.Limits.Check(len(rows), b); err != nil {
		return false, err
	}
	if b.Empty() {
		return false, nil
	}
	n := e.applied.Add(1)
	if e.opts.Shared {
		if n%remembers == 0 {
			e.mu.before = e.mu.tree.Copy()
		}
		for _, row := range rows {
			e.mu.changed[string(row)] = n
		}
	}
	for i := range b.Len() {
		key, value, deleted := b.Op(i)
		if deleted {
			e.mu.tree.Delete(item{key: key})
			continue
		}
		e.mu.tree.Set(item{key: key, value: value})
	}
	return true, nil
}

// Close implements kv.Engine.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return kv.ErrClosed
	}
	return nil
}
