package pebblekv_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, opts pebblekv.Options) *pebblekv.Engine {
	opts.MemTableBytes, opts.CacheBytes = 1<<18, 1<<20
	e, err := pebblekv.Open(dir, opts)
	require.NoError(t, err)
	return e
}

func TestContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		return open(t, "",
			pebblekv.Options{InMemory: true})
	})
}

func TestContractOnDisk(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		return open(t, filepath.Join(t.TempDir(), "a", "b"), pebblekv.Options{})
	})
}

// TestContractOnTables runs the suite where every update is flushed to a table at once, so that
// filters and table iterators answer and not the memtable.
func TestContractOnTables(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		return flushing{open(t, "", pebblekv.Options{InMemory: true})}
	})
}

type flushing struct{ *pebblekv.Engine }

func (f flushing) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if err := f.Engine.Update(ctx, rows, step); err != nil {
		return err
	}
	return f.Flush()
}

func put(row, value string) ([][]byte, kv.Step) {
	r := []byte(row + "\x00\x01")
	return [][]byte{r}, func(_ kv.Reader, b *kv.Batch) error {
		b.Set(append([]byte{'x'}, r...), []byte(value))
		return nil
	}
}

func update(t testing.TB, e *pebblekv.Engine, row, value string) {
	rows, step := put(row, value)
	require.NoError(t, e.Update(context.Background(), rows, step))
}

func lazy(t testing.TB, e *pebblekv.Engine, row, value string) {
	rows, step := put(row, value)
	require.NoError(t, e.UpdateLazy(context.Background(), rows, step))
}

func TestReopenKeepsWhatWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	e := open(t, dir, pebblekv.Options{})
	update(t, e, "a", "1")
	lazy(t, e, "b", "2")
	before := kvtest.Dump(t, e)
	require.NoError(t, e.Close())
	e = open(t, dir, pebblekv.Options{})
	require.Equal(t, before, kvtest.Dump(t, e))
	require.NoError(t, e.Close())
	e = open(t, dir, pebblekv.Options{ReadOnly: true})
	require.Equal(t, before, kvtest.Dump(t, e))
	require.NoError(t, e.Close())
}

func TestASecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, pebblekv.Options{})
	_, err := pebblekv.Open(dir, pebblekv.Options{})
	require.ErrorIs(t, err, kv.ErrInUse)
	require.NoError(t, e.Close())
	require.NoError(t, open(t, dir, pebblekv.Options{}).Close())
}

func TestReadOnlyOpenOfNothingFails(t *testing.T) {
	_, err := pebblekv.Open(filepath.Join(t.TempDir(), "none"), pebblekv.Options{ReadOnly: true})
	require.Error(t, err)
	_, err = pebblekv.Open(t.TempDir(), pebblekv.Options{ReadOnly: true})
	require.ErrorContains(t, err, "not a minidb store")
}

func TestEachUpdateSyncsOnceAndALazyOneNever(t *testing.T) {
	e := open(t, "", pebblekv.Options{FS: testfs.NewCrashFS()})
	before := e.Syncs()
	lazy(t, e, "a", "1")
	require.Equal(t, before, e.Syncs())
	update(t, e, "a", "2")
	require.Equal(t, before+1, e.Syncs())
	err := e.Update(context.Background(), nil, func(kv.Reader, *kv.Batch) error { return nil })
	require.NoError(t, err)
	require.Equal(t, before+1, e.Syncs(), "nothing to write and nothing unsynced: no sync")
	require.NoError(t, e.Close())
}

// TestADeletedSpanIsLazy: a crash may take the deletion back as long as nothing durable came after
// it (kv I4), and after that it stays.
func TestADeletedSpanIsLazy(t *testing.T) {
	fs := testfs.NewCrashFS()
	e := open(t, "dir", pebblekv.Options{FS: fs})
	for _, row := range []string{"a", "b", "c"} {
		update(t, e, row, "1")
	}
	left := func(fs *testfs.CrashFS) int {
		again := open(t, "dir", pebblekv.Options{FS: fs})
		defer func() { require.NoError(t, again.Close()) }()
		return len(kvtest.Dump(t, again))
	}
	before := e.Syncs()
	require.NoError(t, e.DeleteRange(context.Background(),
		kv.Span{Start: []byte("xa"), End: []byte("xc")}))
	require.Equal(t, before, e.Syncs())
	require.Len(t, kvtest.Dump(t, e), 1)
	require.Equal(t, 3, left(fs.Crash(0, nil)))
	update(t, e, "d", "1")
	require.Equal(t, 2, left(fs.Crash(0, nil)))
	require.NoError(t, e.Close())
}

// TestACrashKeepsAPrefix checks kv I3 and I4: after a crash every durable update is there, and if
// a lazy one is, so is everything before it.
func TestACrashKeepsAPrefix(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 30 {
		fs := testfs.NewCrashFS()
		e := open(t, "db", pebblekv.Options{FS: fs})
		durable := -1
		n := 1 + rng.IntN(60)
		for i := range n {
			row := fmt.Sprintf("%03d", i)
			if rng.IntN(5) == 0 {
				update(t, e, row, row)
				durable = i
			} else {
				lazy(t, e, row, row)
			}
		}
		after := fs.Crash([]int{0, 30, 70, 100}[round%4], rng)
		require.NoError(t, e.Close())
		e = open(t, "db", pebblekv.Options{FS: after})
		kept := kvtest.Dump(t, e)
		require.Greater(t, len(kept), durable, "round %d", round)
		for i, pair := range kept {
			require.Equal(t, fmt.Sprintf("78%x0001=%x", fmt.Sprintf("%03d", i),
				fmt.Sprintf("%03d", i)), pair)
		}
		require.NoError(t, e.Close())
	}
}

func TestConcurrentUpdatesShareSyncs(t *testing.T) {
	fs := testfs.NewCrashFS()
	e := open(t, "db", pebblekv.Options{FS: fs})
	before := e.Syncs()
	const workers = 32
	release := fs.HoldSyncs()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { update(t, e, fmt.Sprint(w), "v") })
	}
	// An update is visible before it is durable: wait until all are under way.
	for len(kvtest.Dump(t, e)) < workers {
		runtime.Gosched()
	}
	release()
	wg.Wait()
	require.LessOrEqual(t, e.Syncs()-before, uint64(2), "one was held, the others share the next")
	require.NoError(t, e.Close())
}

func TestAnUpdateThatOnlyReadsWaitsForWhatItRead(t *testing.T) {
	fs := testfs.NewCrashFS()
	e := open(t, "db", pebblekv.Options{FS: fs})
	release := fs.HoldSyncs()
	var wg sync.WaitGroup
	wg.Go(func() { update(t, e, "a", "1") })
	for len(kvtest.Dump(t, e)) == 0 {
		runtime.Gosched()
	}
	answered, ran := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		defer close(answered)
		err := e.Update(context.Background(), [][]byte{[]byte("a\x00\x01")},
			func(r kv.Reader, _ *kv.Batch) error {
				v, err := r.Get(context.Background(), []byte("xa\x00\x01"))
				if string(v) != "1" {
					t.Errorf("read %q, %v", v, err)
				}
				close(ran)
				return err
			})
		if err != nil {
			t.Error(err)
		}
		// kv I3: what the step read survives a crash at the moment of the answer.
		after := open(t, "db", pebblekv.Options{FS: fs.Crash(0, nil)})
		if len(kvtest.Dump(t, after)) != 1 {
			t.Error("an answer rests on an update that a crash takes back")
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	})
	<-ran
	for range 1000 { // enough for an answer that does not wait; one that does, never comes
		runtime.Gosched()
	}
	select {
	case <-answered:
		t.Error("answered while the sync was held")
	default:
	}
	release()
	wg.Wait()
	require.NoError(t, e.Close())
}

func TestCloseWithAnOpenSnapshotIsAnError(t *testing.T) {
	e := open(t, "", pebblekv.Options{InMemory: true})
	s, err := e.Snapshot()
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = s.Get(context.Background(), []byte("x"))
	require.ErrorIs(t, err, kv.ErrClosed)
	require.NoError(t, e.Close())
	require.ErrorIs(t, e.Close(), kv.ErrClosed)
}

// TestASnapshotKeepsTheIteratorOfASpan: the next span is read with the same one, which shows that
// span and no other; a second one that is open meanwhile is of its own.
func TestASnapshotKeepsTheIteratorOfASpan(t *testing.T) {
	ctx := context.Background()
	e := open(t, "", pebblekv.Options{InMemory: true})
	defer func() { require.NoError(t, e.Close()) }()
	const rows = 500
	for i := range rows {
		update(t, e, fmt.Sprintf("%03d", i), "v")
		if i == rows/2 {
			require.NoError(t, e.Flush())
		}
	}
	s, err := e.Snapshot()
	require.NoError(t, err)
	over := func(from, to int) kv.Iterator {
		it, err := s.NewIter(ctx, kv.Span{Start: fmt.Appendf(nil, "x%03d", from),
			End: fmt.Appendf(nil, "x%03d", to)})
		require.NoError(t, err)
		return it
	}
	whole := func(it kv.Iterator, from, to int) {
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			require.Equal(t, fmt.Sprintf("x%03d", from+n), string(it.Key()[:4]))
			n++
		}
		require.NoError(t, it.Err())
		require.Equal(t, to-from, n)
		if it.Last(); n > 0 {
			require.Equal(t, fmt.Sprintf("x%03d", to-1), string(it.Key()[:4]))
		}
	}
	first := over(0, 1)
	require.NoError(t, first.Close())
	for range 200 {
		from := rand.IntN(rows)
		to := from + rand.IntN(rows-from)
		it := over(from, to)
		require.Same(t, first, it)
		other := over(to, rows)
		require.NotSame(t, first, other)
		whole(it, from, to)
		whole(other, to, rows)
		require.NoError(t, it.Close())
		require.NoError(t, other.Close())
	}
	require.NoError(t, s.Close())
}
