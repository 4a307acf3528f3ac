package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/logsync"
	"github.com/minidb/minidb/txn"
)

// keys is how many keys the read measurements choose from.
const keys = 100_000

// keysPerCommit is the size of the measured transactions.
const keysPerCommit = 5

func key(n int) []byte { return fmt.Appendf(nil, "key/%012d", n) }
func value(n int) []byte {
	return fmt.Appendf(nil, "value %d of some ordinary length, as rows have", n)
}

// openStore opens a store on Pebble in a folder of its own.
func openStore(ctx context.Context, dir string, o txn.Options) (*txn.Store, *pebblekv.Engine,
	func() error, error) {
	engine, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	store, err := txn.Open(ctx, engine, o)
	if err != nil {
		return nil, nil, nil, errors.Join(err, engine.Close())
	}
	return store, engine, func() error { return errors.Join(store.Close(), engine.Close()) }, nil
}

// openRaw opens plain Pebble, with a cache, memtables and filters of the size of minidb's. Syncs of
// its log are counted in syncs, if it is not nil.
func openRaw(dir string, syncs *atomic.Uint64) (*pebble.DB, error) {
	opts := &pebble.Options{Cache: pebble.NewCache(64 << 20), MemTableSize: 32 << 20}
	if syncs != nil {
		opts.FS = logsync.Wrap(vfs.Default, func(sync func() error) error {
			syncs.Add(1)
			return sync()
		})
	}
	defer opts.Cache.Unref()
	opts.EnsureDefaults()
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	opts.Logger = quiet{}
	return pebble.Open(dir, opts)
}

// quiet keeps Pebble's own log out of the figures.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// timestamps measures the oracle alone.
func timestamps(ctx context.Context, o Options) ([]measurement, func() error, error) {
	store, _, done, err := openStore(ctx, filepath.Join(o.Dir, "timestamps"), txn.Options{})
	if err != nil {
		return nil, nil, err
	}
	const batch = 1000
	op := func(ctx context.Context, _, _ int) error {
		for range batch {
			if _, err := store.Now(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return []measurement{
		{name: "timestamps, 1 goroutine", workers: 1, batch: batch,
			minidb: side{name: "minidb", op: op}},
		{name: "timestamps, 8 goroutines", workers: 8, batch: batch,
			minidb: side{name: "minidb", op: op}},
	}, done, nil
}

// pointReads compares a snapshot read of one key with a raw get.
func pointReads(ctx context.Context, o Options) ([]measurement, func() error, error) {
	store, _, closeStore, err := openStore(ctx, filepath.Join(o.Dir, "reads"), txn.Options{})
	if err != nil {
		return nil, nil, err
	}
	raw, err := openRaw(filepath.Join(o.Dir, "reads-raw"), nil)
	if err != nil {
		return nil, nil, errors.Join(err, closeStore())
	}
	done := func() error { return errors.Join(closeStore(), raw.Close()) }
	if err := load(ctx, store, raw); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	one := func(ctx context.Context, t *txn.Txn) error {
		v, err := t.Get(ctx, key(rand.IntN(keys)))
		if err == nil && v == nil {
			err = errors.New("key is missing")
		}
		return err
	}
	readers := make([]*txn.Txn, 8)
	for i := range readers {
		if readers[i], err = store.Begin(ctx, txn.BeginOptions{ReadOnly: true}); err != nil {
			return nil, nil, errors.Join(err, done())
		}
	}
	inOne := side{name: "minidb",
		op: func(ctx context.Context, w, _ int) error { return one(ctx, readers[w]) }}
	own := side{name: "minidb", op: func(ctx context.Context, _, _ int) error {
		t, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		return errors.Join(one(ctx, t), t.Rollback(ctx))
	}}
	newest := side{name: "minidb", op: func(ctx context.Context, _, _ int) error {
		v, err := store.Get(ctx, key(rand.IntN(keys)))
		if err == nil && v == nil {
			err = errors.New("key is missing")
		}
		return err
	}}
	get := side{name: "pebble get", op: func(context.Context, int, int) error {
		v, closer, err := raw.Get(key(rand.IntN(keys)))
		if err != nil {
			return err
		}
		_ = append([]byte(nil), v...)
		return closer.Close()
	}}
	seek := side{name: "pebble seek", op: func(context.Context, int, int) error {
		it, err := raw.NewIter(nil)
		if err != nil {
			return err
		}
		if !it.SeekGE(key(rand.IntN(keys))) {
			return errors.Join(errors.New("key is missing"), it.Close())
		}
		_ = append([]byte(nil), it.Value()...)
		return it.Close()
	}}
	closeAll := func() error {
		for _, t := range readers {
			_ = t.Rollback(ctx)
		}
		return done()
	}
	return []measurement{
		{name: "point read in a snapshot", workers: 1, minidb: inOne, reference: get,
			paper: paperReads},
		{name: "point read in a snapshot, 8 readers", workers: 8, minidb: inOne, reference: get,
			paper: paperReads},
		{name: "point read in a snapshot", workers: 1, minidb: inOne, reference: seek,
			paper: paperReads},
		{name: "point read, own transaction", workers: 1, minidb: own, reference: get,
			paper: paperReads},
		{name: "point read, own transaction", workers: 1, minidb: own, reference: seek,
			paper: paperReads},
		{name: "point read, own transaction, 8 readers", workers: 8, minidb: own, reference: get,
			paper: paperReads},
		{name: "point read without a timestamp", workers: 1, minidb: newest, reference: get,
			paper: paperReads},
		{name: "point read without a timestamp", workers: 1, minidb: newest, reference: seek,
			paper: paperReads},
	}, closeAll, nil
}

// load writes the same keys into both stores and lets both flush.
func load(ctx context.Context, store *txn.Store, raw *pebble.DB) error {
	for from := 0; from < keys; from += 5000 {
		t, err := store.Begin(ctx, txn.BeginOptions{})
		if err != nil {
			return err
		}
		b := raw.NewBatch()
		for n := from; n < from+5000; n++ {
			if err := errors.Join(t.Set(key(n), value(n)),
				b.Set(key(n), value(n), nil)); err != nil {
				return err
			}
		}
		if err := errors.Join(t.Commit(ctx), b.Commit(pebble.NoSync)); err != nil {
			return err
		}
	}
	engine := store.Engine().(*pebblekv.Engine)
	return errors.Join(engine.Flush(), engine.Compact(ctx), raw.Flush(),
		raw.Compact(ctx, key(0), key(keys), true))
}

// commits compares transactions of five keys with raw synced batches of five keys.
func commits(ctx context.Context, o Options) ([]measurement, func() error, error) {
	store, engine, closeOne, err := openStore(ctx, filepath.Join(o.Dir, "commits"), txn.Options{})
	if err != nil {
		return nil, nil, err
	}
	two, engine2, closeTwo, err := openStore(ctx, filepath.Join(o.Dir, "commits-2pc"),
		txn.Options{Protocol: txn.TwoPhase})
	if err != nil {
		return nil, nil, errors.Join(err, closeOne())
	}
	var rawSyncs atomic.Uint64
	raw, err := openRaw(filepath.Join(o.Dir, "commits-raw"), &rawSyncs)
	if err != nil {
		return nil, nil, errors.Join(err, closeOne(), closeTwo())
	}
	batch := side{name: "pebble batch", syncs: rawSyncs.Load,
		op: func(_ context.Context, w, n int) error {
			b := raw.NewBatch()
			for k := range keysPerCommit {
				id := (w<<32 + n*keysPerCommit + k) * 7919 % (1 << 40)
				if err := b.Set(key(id), value(id), nil); err != nil {
					return err
				}
			}
			return b.Commit(pebble.Sync)
		}}
	var ms []measurement
	for _, workers := range []int{1, 8, 64} {
		ms = append(ms,
			measurement{name: fmt.Sprintf("5-key commit, 1PC, %d goroutines", workers),
				workers: workers,
				minidb: side{name: "minidb", op: commitOp(store),
					syncs: engine.Syncs}, reference: batch, paper: paperWrites},
			measurement{name: fmt.Sprintf("5-key commit, 2PC, %d goroutines", workers),
				workers: workers,
				minidb: side{name: "minidb", op: commitOp(two),
					syncs: engine2.Syncs}, reference: batch, paper: paperWrites})
	}
	return ms, func() error { return errors.Join(closeOne(), closeTwo(), raw.Close()) }, nil
}

func commitOp(store *txn.Store) func(ctx context.Context, w, n int) error {
	return func(ctx context.Context, w, n int) error {
		t, err := store.Begin(ctx, txn.BeginOptions{})
		if err != nil {
			return err
		}
		for k := range keysPerCommit {
			id := (w<<32 + n*keysPerCommit + k) * 7919 % (1 << 40)
			if err := t.Set(key(id), value(id)); err != nil {
				return err
			}
		}
		return t.Commit(ctx)
	}
}
