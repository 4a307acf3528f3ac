// Package memkv is the reference engine: an immutable B-tree of which every update makes a new
// version, under one lock. It is small enough to be seen to be right, so the conformance suite and
// the mirror test hold the other engines against it. It can be cut into groups, which forces
// two-phase commit above it, and into something that does not claim to be exclusive, which forces
// the layer above to work as on a shared store, and it can refuse large updates as such a store
// does.
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
	// Shared makes the engine deny that it is exclusive.
	Shared bool
	// Limits bound an update. When all are zero, a Shared engine has SmallLimits, because what
	// several processes write to is on the network.
	Limits kv.Limits
}

// SmallLimits are those of the smallest store on the network that minidb is run on: each is that of
// an etcd cluster with its default settings, or lower.
var SmallLimits = kv.Limits{Rows: 32, Ops: 128, Bytes: 64 << 10, Value: 32 << 10}

// Engine keeps everything in memory.
type Engine struct {
	opts   Options
	syncs  atomic.Uint64
	closed atomic.Bool

	mu struct {
		sync.Mutex
		tree *btree.BTreeG[item]
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
	e.mu.tree = btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
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
	e.mu.Lock()
	defer e.mu.Unlock()
	return &reader{tree: e.mu.tree.Copy()}, nil
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
	e.mu.Lock()
	defer e.mu.Unlock()
	var b kv.Batch
	// The step reads a copy, so that its reader stays what it was while the batch is applied.
	if err := step(&reader{tree: e.mu.tree.Copy()}, &b); err != nil {
		return false, err
	}
	if err := b.CheckRows(rows); err != nil {
		return false, err
	}
	if err := e.opts.Limits.Check(len(rows), &b); err != nil {
		return false, err
	}
	for i := range b.Len() {
		key, value, deleted := b.Op(i)
		if deleted {
			e.mu.tree.Delete(item{key: key})
			continue
		}
		e.mu.tree.Set(item{key: key, value: value})
	}
	return !b.Empty(), nil
}

// Close implements kv.Engine.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return kv.ErrClosed
	}
	return nil
}

// reader sees one version of the tree.
type reader struct {
	tree *btree.BTreeG[item]
}

func (r *reader) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	it, ok := r.tree.Get(item{key: key})
	if !ok {
		return nil, nil
	}
	return it.value, nil
}

func (r *reader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &iterator{it: r.tree.Iter(), span: span}, nil
}

func (r *reader) Close() error { return nil }
