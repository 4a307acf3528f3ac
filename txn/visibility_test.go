package txn_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// pausing is an engine that stops between the run of a step and the application of its batch, when
// the batch writes the key that the test chose.
type pausing struct {
	kv.Engine
	onKey   string
	column  mvcc.Column // zero: the write column
	reached chan struct{}
	resume  chan struct{}
}

func (p *pausing) Exclusive() bool { return true }

func (p *pausing) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return p.Engine.Update(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		if err := step(r, b); err != nil {
			return err
		}
		for i := range b.Len() {
			key, value, deleted := b.Op(i)
			c, err := mvcc.Decode(key, value)
			on := c.Column == mvcc.ColumnWrite && p.column == 0 || c.Column == p.column
			if !deleted && err == nil && on && string(c.Key) == p.onKey {
				p.reached <- struct{}{}
				<-p.resume
				break
			}
		}
		return nil
	})
}

// watched is a context that notices when a goroutine begins to wait for it. A reader that waits for
// a commit in flight selects on it; one that goes on without waiting never does.
type watched struct {
	context.Context
	once    *sync.Once
	waiting chan struct{}
}

func newWatched() watched {
	return watched{context.Background(), new(sync.Once), make(chan struct{})}
}

func (w watched) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waiting) })
	return w.Context.Done()
}

// reads are all the ways to read key a.
var reads = map[string]func(ctx context.Context, tx *txn.Txn) (string, error){
	"get": func(ctx context.Context, tx *txn.Txn) (string, error) {
		v, err := tx.Get(ctx, []byte("a"))
		return string(v), err
	},
	"get many": func(ctx context.Context, tx *txn.Txn) (string, error) {
		vs, err := tx.GetMany(ctx, [][]byte{[]byte("a")})
		return string(vs[0]), err
	},
	"scan": func(ctx context.Context, tx *txn.Txn) (string,
		error) {
		return firstOf(ctx, tx, false)
	},
	"reverse scan": func(ctx context.Context, tx *txn.Txn) (string,
		error) {
		return firstOf(ctx, tx, true)
	},
}

func firstOf(ctx context.Context, tx *txn.Txn, reverse bool) (string, error) {
	span := kv.Span{Start: []byte("a"), End: []byte("aa")}
	it, err := tx.Scan(ctx, span, txn.ScanOptions{Reverse: reverse})
	if err != nil {
		return "", err
	}
	v := ""
	if it.Next() {
		v = string(it.Value())
	}
	return v, errors.Join(it.Err(), it.Close())
}

// TestAReaderAboveACommitNeverMissesIt holds txn: I2 where it is hardest: the commit has drawn its
// timestamp, the reader starts above it, and the engine does not show the commit yet. Without the
// table of commits in flight the first read says 1 and the second says 2.
func TestAReaderAboveACommitNeverMissesIt(t *testing.T) {
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		for name, read := range reads {
			t.Run(name, func(t *testing.T) {
				// Pebble: unlike memkv it serves snapshots while an update holds its latches.
				p := &pausing{Engine: openPebble(t), onKey: "none", reached: make(chan struct{}),
					resume: make(chan struct{})}
				s, err := openTxn(context.Background(), p, txn.Options{Protocol: protocol})
				require.NoError(t, err)
				commit(t, s, "a", "1")
				below := begin(t, s)
				p.onKey = "a"

				var wg sync.WaitGroup
				wg.Go(func() { commit(t, s, "a", "2") })
				<-p.reached
				v, err := read(context.Background(), below)
				require.NoError(t, err)
				require.Equal(t, "1", v, "a reader below the commit does not wait")

				reader, ctx, answer := begin(t, s), newWatched(), make(chan string, 1)
				wg.Go(func() {
					v, err := read(ctx, reader)
					if err != nil {
						t.Error(err)
					}
					answer <- v
				})
				select {
				case <-ctx.waiting:
				case v := <-answer:
					t.Errorf("read %q while a commit below it was in flight", v)
					answer <- v
				}
				p.resume <- struct{}{}
				wg.Wait()
				require.Equal(t, "2", <-answer)
				require.Equal(t, "2", get(t, reader, "a"))
				require.NoError(t, reader.Rollback(context.Background()))
				require.NoError(t, below.Rollback(context.Background()))
				require.NoError(t, s.Close())
				require.NoError(t, p.Close())
			})
		}
	}
}

// TestAnAnswerRestsOnDurableCommitsOnly: a commit is visible in the engine before it is synced. A
// reader above it waits until it is.
func TestAnAnswerRestsOnDurableCommitsOnly(t *testing.T) {
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		for name, read := range reads {
			t.Run(name, func(t *testing.T) {
				fs := testfs.NewCrashFS()
				e, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
				require.NoError(t, err)
				s, err := openTxn(context.Background(), e, txn.Options{Protocol: protocol})
				require.NoError(t, err)
				commit(t, s, "a", "1")

				release := fs.HoldSyncs()
				var wg sync.WaitGroup
				wg.Go(func() { commit(t, s, "a", "2") })
				for newest(t, e, "a") != "2" {
					runtime.Gosched()
				}
				other := begin(t, s)
				require.Nil(t, get(t, other, "c"),
					"a key that no commit in flight writes is read at once")
				require.NoError(t, other.Rollback(context.Background()))

				reader, ctx, answer := begin(t, s), newWatched(), make(chan string, 1)
				wg.Go(func() {
					v, err := read(ctx, reader)
					if err != nil {
						t.Error(err)
					}
					answer <- v
				})
				select {
				case <-ctx.waiting:
				case v := <-answer:
					t.Errorf("answered %q, and a crash would take it back", v)
					answer <- v
				}
				release()
				wg.Wait()
				require.Equal(t, "2", <-answer)
				require.NoError(t, reader.Rollback(context.Background()))
				require.NoError(t, s.Close())
				require.NoError(t, e.Close())
			})
		}
	}
}

// newest returns the newest committed value of a key in the engine.
func newest(t testing.TB, e kv.Engine, key string) (value string) {
	snap, err := e.Snapshot()
	require.NoError(t, err)
	span := kv.Span{Start: []byte(key), End: append([]byte(key), 0)}
	err = mvcc.Keys(context.Background(), snap, span, func(_ []byte, cells []mvcc.Cell) error {
		for _, c := range cells {
			if c.Column == mvcc.ColumnWrite {
				value = string(c.Write.Short)
				break
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, snap.Close())
	return value
}

// TestACommitCostsOneSync counts what reaches the disk.
func TestACommitCostsOneSync(t *testing.T) {
	for _, c := range []struct {
		opts          txn.Options
		updates, lazy int64
	}{
		{txn.Options{Clock: still}, 1, 0},
		// a prewrite without a sync, and the secondaries follow
		{txn.Options{Clock: still, Protocol: txn.TwoPhase}, 1, 1},
	} {
		fs := testfs.NewCrashFS()
		e, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
		require.NoError(t, err)
		rec := record.New(e)
		s, err := openTxn(context.Background(), rec, c.opts)
		require.NoError(t, err)
		commit(t, s, "warm", "up") // the oracle persists its range
		before := rec.Counts()
		commit(t, s, "a", "1", "b", "2", "c", "3", "d", "4", "e", "5")
		d := rec.Since(before)
		require.Equal(t, uint64(1), d.Syncs)
		require.Equal(t, c.updates, d.Updates)
		require.GreaterOrEqual(t, d.Lazy, c.lazy)
		require.Less(t, d.Lazy, c.lazy+2)

		before = rec.Counts()
		tx := begin(t, s)
		require.Equal(t, "1", get(t, tx, "a"))
		require.NoError(t, tx.Commit(context.Background()))
		require.Zero(t, rec.Since(before).Syncs, "a commit of nothing does nothing")
		require.NoError(t, s.Close())
		require.NoError(t, e.Close())
	}
}

// TestConcurrentCommitsShareASync holds the first sync until every commit is under way.
func TestConcurrentCommitsShareASync(t *testing.T) {
	fs := testfs.NewCrashFS()
	e, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
	require.NoError(t, err)
	s, err := openTxn(context.Background(), e, txn.Options{Clock: still})
	require.NoError(t, err)
	commit(t, s, "warm", "up")
	const writers = 32
	before := e.Syncs()
	release := fs.HoldSyncs()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { commit(t, s, string(rune('A'+w)), "v") })
	}
	for w := range writers {
		for newest(t, e, string(rune('A'+w))) == "" {
			runtime.Gosched()
		}
	}
	release()
	wg.Wait()
	require.LessOrEqual(t, e.Syncs()-before, uint64(2))
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}

// TestReadingUnlockedKeysLooksForNoLock counts look-ups: one iterator, no get, and two look-ups of
// the lock column once someone may hold locks (txn: I7).
func TestReadingUnlockedKeysLooksForNoLock(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{}))
	s, err := openTxn(context.Background(), rec, txn.Options{Clock: still})
	require.NoError(t, err)
	commit(t, s, "a", "1", "b", "2")
	tx := begin(t, s)
	before := rec.Counts()
	require.Equal(t, "1", get(t, tx, "a"))
	require.Equal(t, "2", get(t, tx, "b"))
	require.Equal(t, record.Counts{Snapshots: 1, Iters: 1}, rec.Since(before))
	require.NoError(t, tx.Rollback(context.Background()))
	require.NoError(t, s.Close())
}

// TestAReaderAtTheTimestampOfACommitWaitsForIt: a reader of the past may name the very timestamp
// that a commit in flight has drawn.
func TestAReaderAtTheTimestampOfACommitWaitsForIt(t *testing.T) {
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		oracle := &stepOracle{}
		p := &pausing{Engine: openPebble(t), onKey: "none", reached: make(chan struct{}),
			resume: make(chan struct{})}
		s, err := openTxn(context.Background(), p, txn.Options{Protocol: protocol, Oracle: oracle})
		require.NoError(t, err)
		commit(t, s, "a", "1")
		p.onKey = "a"
		var wg sync.WaitGroup
		wg.Go(func() { commit(t, s, "a", "2") })
		<-p.reached
		reader, err := s.Begin(context.Background(), txn.BeginOptions{StartTS: oracle.Now()})
		require.NoError(t, err)
		ctx, answer := newWatched(), make(chan string, 1)
		wg.Go(func() {
			v, err := reads["get"](ctx, reader)
			if err != nil {
				t.Error(err)
			}
			answer <- v
		})
		select {
		case <-ctx.waiting:
		case v := <-answer:
			t.Errorf("read %q at the timestamp of a commit in flight", v)
			answer <- v
		}
		p.resume <- struct{}{}
		wg.Wait()
		require.Equal(t, "2", <-answer)
		require.NoError(t, reader.Rollback(context.Background()))
		require.NoError(t, s.Close())
		require.NoError(t, p.Close())
	}
}

// TestATwoPhaseCommitOfFreshKeysReadsNothing: memory knows that no transaction has locked, written
// or rolled back there, and that the locks are untouched when they become records.
func TestATwoPhaseCommitOfFreshKeysReadsNothing(t *testing.T) {
	for name, engine := range map[string]func() kv.Engine{"one group": single,
		"two groups": split} {
		for _, protocol := range []txn.Protocol{txn.TwoPhase, txn.Async} {
			rec := record.New(engine())
			s, err := openTxn(context.Background(), rec,
				txn.Options{Protocol: protocol, Clock: still})
			require.NoError(t, err)
			commit(t, s, "warm", "up") // the oracle persists its range
			before := rec.Counts()
			commit(t, s, "a", "1", "b", "2", "y", "3", "z", "4")
			require.NoError(t, s.Close()) // the secondaries are through
			d := rec.Since(before)
			require.EqualValues(t, 1, d.Gets, "%s, %s: the oracle's mark at Close", name, protocol)
			require.Zero(t, d.Iters)
			require.EqualValues(t, 5, rec.Counts().Deletes, "each lock has become a record")
		}
	}
}
