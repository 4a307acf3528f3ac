package table_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// keptDB is a table of few rows in sections of eight.
type keptDB struct {
	*db
	desc *table.Desc
	dice *rand.Rand
	hits int
	disk int // sections that were read from the file
}

func (k *keptDB) row(id int) []types.Datum {
	return []types.Datum{types.NewInt(int64(id)), types.NewInt(k.dice.Int64N(100)),
		types.NewString(fmt.Sprint("text ", k.dice.IntN(1000))), types.Null}
}

// write changes some rows near each other, or far more of them.
func (k *keptDB) write(ctx context.Context, tx *txn.Txn) error {
	n, from := 1+k.dice.IntN(5), k.dice.IntN(400)
	if k.dice.IntN(8) == 0 {
		n = 150
	}
	w := table.NewWriter(k.desc, k.cat)
	out := []int{0, 1, 2, 3}
	for i := from; i < from+n; i++ {
		b := types.NewBatch([]*types.Type{types.TInt4, types.TInt8, types.TText, types.TText})
		err := table.Lookup(ctx, tx, k.desc, nil, out, [][]types.Datum{{types.NewInt(int64(i))}}, b,
			nil)
		if err != nil {
			return err
		}
		if b.Len == 0 {
			err = w.Insert(ctx, tx, k.row(i))
		} else {
			old := make([]types.Datum, 4)
			for j, c := range b.Cols {
				old[j] = c.Get(0)
			}
			if k.dice.IntN(3) == 0 {
				err = w.Delete(ctx, tx, old)
			} else {
				err = w.Update(ctx, tx, old, k.row(i))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare scans with and without what is kept.
func (k *keptDB) compare(ctx context.Context, tx *txn.Txn) {
	outs := [][]int{{0, 1, 2, 3}, {1}, {}, {2, 0}, {1, 1}}
	spec := table.ScanSpec{Desc: k.desc, Out: outs[k.dice.IntN(len(outs))]}
	if k.dice.IntN(3) == 0 {
		spec.Index, spec.Out = &k.desc.Indexes[1], []int{1, 0}
	}
	var ranges []table.Range
	if k.dice.IntN(3) == 0 {
		low, high := types.NewInt(k.dice.Int64N(50)), types.NewInt(k.dice.Int64N(400))
		ranges = []table.Range{{Low: &low, High: &high}}
	}
	var err error
	spec.Spans, err = table.Spans(k.desc, spec.Index, ranges, false)
	require.NoError(k.t, err)
	want := k.scan(tx, spec)
	spec.Parallel = true
	s, err := table.OpenScan(ctx, tx, spec)
	require.NoError(k.t, err)
	ts := make([]*types.Type, len(spec.Out))
	for i, o := range spec.Out {
		ts[i] = k.desc.Columns[o].Type
	}
	b := types.NewBatch(ts)
	var got [][]types.Datum
	for {
		more, err := s.Next(ctx, b)
		require.NoError(k.t, err)
		k.hits += s.Hits()
		for i := range b.Len {
			row := make([]types.Datum, len(ts))
			for j, c := range b.Cols {
				row[j] = c.Get(i)
			}
			got = append(got, row)
		}
		if !more {
			break
		}
	}
	k.disk += int(s.Sections().OnDisk)
	require.NoError(k.t, s.Close())
	require.Equal(k.t, want, got)
	if spec.Index == nil {
		k.reuse(ctx, tx, spec, b)
	}
}

// reuse fills a batch with the first rows of a scan, and then with others.
func (k *keptDB) reuse(ctx context.Context, tx *txn.Txn, spec table.ScanSpec, b *types.Batch) {
	s, err := table.OpenScan(ctx, tx, spec)
	require.NoError(k.t, err)
	_, err = s.Next(ctx, b)
	require.NoError(k.t, err)
	require.NoError(k.t, s.Close())
	b.Reset()
	var keys [][]types.Datum
	for range 3 {
		keys = append(keys, []types.Datum{types.NewInt(k.dice.Int64N(400))})
	}
	require.NoError(k.t, table.Lookup(ctx, tx, k.desc, nil, spec.Out, keys, b, nil))
}

// TestKeptRowsAreThoseOfTheTable compares scans with what they give without sections, between
// writes of all kinds: by transactions of the present and of the past, and with their own writes.
func TestKeptRowsAreThoseOfTheTable(t *testing.T) {
	several(t)
	ctx := t.Context()
	engines := map[string]func() kv.Engine{
		"memkv": func() kv.Engine { return memkv.New(memkv.Options{}) },
		"pebblekv": func() kv.Engine {
			engine, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
			require.NoError(t, err)
			return engine
		},
		"groups": func() kv.Engine { return memkv.New(memkv.Options{HashGroups: 3}) },
	}
	for name, opts := range map[string]txn.Options{
		"usual":      {},
		"two phases": {Protocol: txn.TwoPhase, BatchKeys: 4},
		"streams":    {StreamBytes: 1 << 10, BatchKeys: 4},
		"small":      {SectionCacheBytes: 64 << 10},
		"file":       {SectionCacheBytes: 32 << 10, SectionSettled: -1},
		"small file": {SectionCacheBytes: 32 << 10, SectionSettled: -1},
	} {
		opts.SectionRows = 8
		for on, engine := range engines {
			if testing.Short() && (on != "pebblekv" || name == "small") {
				continue // the race detector sees all it can in the others
			}
			t.Run(name+"/"+on, func(t *testing.T) {
				hits, disk := 0, 0
				seeds := uint64(3)
				if testing.Short() {
					seeds = 1
				}
				for seed := range seeds {
					opts := opts
					limit := int64(0)
					if name == "small file" {
						limit = 20 * scratch.Page
					}
					if opts.SectionSettled < 0 {
						opts.SectionFile = newFile(t, limit)
					}
					d := openDB(t, engine(), opts)
					k := &keptDB{db: d, desc: d.create(wide()),
						dice: rand.New(rand.NewPCG(seed, 7))}
					k.run(ctx)
					hits, disk = hits+k.hits, disk+k.disk
				}
				require.Greater(t, hits, 100*int(seeds))
				if opts.SectionSettled < 0 {
					require.Greater(t, disk, 20*int(seeds))
				}
			})
		}
	}
}

// newFile makes a file for columns.
func newFile(t *testing.T, limit int64) *scratch.File {
	f := scratch.New(scratch.Options{Limit: limit, Create: func() (scratch.Handle, error) {
		return scratch.CreateIn(t.TempDir())
	}})
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func (k *keptDB) run(ctx context.Context) {
	var old []*txn.Txn
	for step := range 150 {
		if step%10 == 0 {
			runtime.GC() // others use the room of columns that are not kept any more
		}
		tx, err := k.store.Begin(ctx, txn.BeginOptions{})
		require.NoError(k.t, err)
		if step%3 != 0 && k.refused(k.write(ctx, tx)) {
			require.NoError(k.t, tx.Rollback(ctx))
			continue
		}
		if k.dice.IntN(2) == 0 {
			k.compare(ctx, tx)
		}
		switch {
		case step%3 == 0 && len(old) < 3 && k.dice.IntN(4) == 0:
			old = append(old, tx)
			continue
		case k.dice.IntN(8) == 0:
			require.NoError(k.t, tx.Rollback(ctx))
		default:
			k.refused(tx.Commit(ctx))
		}
		if k.dice.IntN(3) == 0 {
			_, err := k.store.SettleLocks(ctx)
			require.NoError(k.t, err)
		}
		for range k.dice.IntN(3) {
			k.must(func(tx *txn.Txn) error { k.compare(ctx, tx); return nil })
		}
		if len(old) > 0 && k.dice.IntN(4) == 0 {
			k.compare(ctx, old[0])
			if k.dice.IntN(4) == 0 {
				_ = old[0].Commit(ctx) // may conflict
				old = old[1:]
			}
		}
	}
	for _, tx := range old {
		require.NoError(k.t, tx.Rollback(ctx))
	}
}

// refused reports whether a transaction lost against another.
func (k *keptDB) refused(err error) bool {
	var conflict *txn.WriteConflictError
	if err != nil {
		require.ErrorAs(k.t, err, &conflict)
	}
	return err != nil
}

// TestKeptColumnsAreOfTheirDescriptor: what was kept by one descriptor of a table is not given to
// another, to which its columns are others.
func TestKeptColumnsAreOfTheirDescriptor(t *testing.T) {
	several(t)
	d := openDB(t, memkv.New(memkv.Options{}), txn.Options{SectionRows: 8})
	desc := d.create(wide())
	fillMany(t, d, desc)
	all, err := table.Spans(desc, nil, nil, false)
	require.NoError(t, err)
	other := desc.Clone()
	other.Version++
	other.Columns[0], other.Columns[1] = other.Columns[1], other.Columns[0]
	require.NoError(t, other.Prepare(nil))
	for range 4 {
		d.must(func(tx *txn.Txn) error {
			d.both(tx, table.ScanSpec{Desc: desc, Out: []int{1}, Spans: all})
			return nil
		})
	}
	d.must(func(tx *txn.Txn) error {
		d.both(tx, table.ScanSpec{Desc: other, Out: []int{1}, Spans: all})
		return nil
	})
}
