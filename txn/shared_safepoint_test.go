package txn_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// versions returns how many write records a key has.
func versions(t testing.TB, e kv.Engine, key string) (n int) {
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { _ = snap.Close() }()
	require.NoError(t, mvcc.Keys(context.Background(), snap, kv.Span{},
		func(k []byte, cells []mvcc.Cell) error {
			for _, c := range cells {
				if string(k) == key && c.Column == mvcc.ColumnWrite {
					n++
				}
			}
			return nil
		}))
	return n
}

// rolledForward rolls forward what the background has not done yet.
func rolledForward(t testing.TB, s *txn.Store) {
	tx := begin(t, s)
	scan(t, tx, kv.Span{}, txn.ScanOptions{})
	require.NoError(t, tx.Rollback(context.Background()))
}

func collected(t testing.TB, s *txn.Store) gc.Stats {
	st, err := s.CollectGarbage(context.Background())
	require.NoError(t, err)
	return st
}

// TestAReaderInAnotherStoreHoldsTheSafepoint holds txn: I20.
func TestAReaderInAnotherStoreHoldsTheSafepoint(t *testing.T) {
	for groups := range 3 {
		t.Run(fmt.Sprint(groups, " groups"), func(t *testing.T) { readerElsewhere(t, groups) })
	}
}

func readerElsewhere(t testing.TB, groups int) {
	ctx := context.Background()
	sh := openShop(t, groups)
	collector, other := sh.store(nil), sh.store(nil)
	commit(t, collector, "a", "1", "z", "1")
	reader := begin(t, other)
	require.Equal(t, "1", get(t, reader, "a"))
	for range 3 {
		commit(t, collector, "a", "2", "z", "2")
		sh.pass(shopLease - time.Second)
		require.NoError(t, other.RenewLease(ctx))
		require.LessOrEqual(t, collected(t, collector).Safepoint, reader.StartTS())
		reader.Idle()
		require.Equal(t, "1", get(t, reader, "z"))
		require.Equal(t, []string{"a=1", "z=1"}, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	}
	require.Equal(t, 4, versions(t, sh.engine, "a"))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, other.RenewLease(ctx), "what it published lags until then")
	require.Equal(t, 6, collected(t, collector).Versions)
	require.Equal(t, 1, versions(t, sh.engine, "a"))
}

// TestAReaderThatOutlivedItsLeaseIsRefused, in whatever way it asks, and so are its writes. The
// process did not notice that it was paused.
func TestAReaderThatOutlivedItsLeaseIsRefused(t *testing.T) {
	ctx := context.Background()
	for name, use := range map[string]func(tx *txn.Txn) error{
		"get": func(tx *txn.Txn) error { _, err := tx.Get(ctx, []byte("a")); return err },
		"scan": func(tx *txn.Txn) error {
			it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{})
			if err == nil {
				err = it.Close()
			}
			return err
		},
		"lock": func(tx *txn.Txn) error {
			return tx.LockCurrent(ctx, []byte("gone"), rowlock.Update,
				false)
		},
		"write": func(tx *txn.Txn) error {
			if err := tx.Set([]byte("gone"), []byte("9")); err != nil {
				return err
			}
			return tx.Commit(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) { outlived(t, use) })
	}
}

func outlived(t testing.TB, use func(*txn.Txn) error) {
	ctx := context.Background()
	sh := openShop(t, 2)
	collector, other := sh.store(nil), sh.store(nil)
	commit(t, collector, "a", "1", "gone", "1")
	tx := begin(t, other)
	require.Equal(t, "1", get(t, tx, "gone"))
	tx.Idle()
	commit(t, collector, "a", "2")
	gone := begin(t, collector)
	require.NoError(t, gone.Delete([]byte("gone")))
	require.NoError(t, gone.Commit(ctx))
	sh.pass(shopLease)
	require.Greater(t, collected(t, collector).Safepoint, tx.StartTS())
	require.Zero(t, versions(t, sh.engine, "gone"), "no record tells of the delete")
	var below *txn.SafepointError
	require.ErrorAs(t, use(tx), &below)
	require.Equal(t, tx.StartTS(), below.StartTS)
	require.NoError(t, tx.Rollback(ctx))
	reader := begin(t, other)
	require.Equal(t, []string{"a=2"}, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(ctx))
}

// TestASnapshotFromBeforeTheCollectionStaysGood: the safepoint is that of the snapshot, not of the
// present.
func TestASnapshotFromBeforeTheCollectionStaysGood(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	collector, other := sh.store(nil), sh.store(nil)
	commit(t, collector, "a", "1", "b", "1")
	rolledForward(t, collector)
	tx := begin(t, other)
	it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{})
	require.NoError(t, err)
	require.True(t, it.Next())
	commit(t, collector, "a", "2", "b", "2")
	sh.pass(shopLease)
	collected(t, collector)
	require.Equal(t, 1, versions(t, sh.engine, "b"))
	require.True(t, it.Next())
	require.Equal(t, "b=1", fmt.Sprintf("%s=%s", it.Key(), it.Value()))
	require.NoError(t, it.Close())
	tx.Idle()
	_, err = tx.Get(ctx, []byte("b"))
	var below *txn.SafepointError
	require.ErrorAs(t, err, &below)
	require.NoError(t, tx.Rollback(ctx))
}

// TestAReaderOfThePastPublishesItself: nothing else of its store is that old.
func TestAReaderOfThePastPublishesItself(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	collector := sh.store(func(o *txn.Options) { o.Retention = time.Hour })
	other := sh.store(nil)
	commit(t, collector, "a", "1")
	then, err := collector.Now(ctx)
	require.NoError(t, err)
	commit(t, collector, "a", "2")
	step := func() {
		sh.pass(shopLease / 2)
		require.NoError(t, other.RenewLease(ctx))
		require.NoError(t, collector.RenewLease(ctx))
	}
	step()
	past, err := other.Begin(ctx, txn.BeginOptions{StartTS: then})
	require.NoError(t, err)
	for range 200 {
		step()
	}
	require.LessOrEqual(t, collected(t, collector).Safepoint, then,
		"though it is out of the retention by now")
	require.Equal(t, "1", get(t, past, "a"))
	require.NoError(t, past.Rollback(ctx))
	step()
	require.Greater(t, collected(t, collector).Safepoint, then)
	var below *txn.SafepointError
	_, err = other.Begin(ctx, txn.BeginOptions{StartTS: then})
	require.ErrorAs(t, err, &below)
	require.Equal(t, below.Safepoint, other.Safepoint())
}

// TestAReaderOfThePastAndARaiseSeeEachOther: the reader begins when the target is announced and the
// sessions are not read yet.
func TestAReaderOfThePastAndARaiseSeeEachOther(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	s := sh.store(nil)
	commit(t, s, "a", "1")
	then, err := s.Now(ctx)
	require.NoError(t, err)
	target, err := s.Now(ctx)
	require.NoError(t, err)
	update := func(step kv.Step) {
		require.NoError(t,
			sh.engine.Update(ctx, [][]byte{gc.SafepointRow()}, step))
	}
	const collector = 12345
	update(func(r kv.Reader, b *kv.Batch) error {
		_, err := gc.Claim(ctx, r, b, collector, 0, target)
		return err
	})
	var below *txn.SafepointError
	_, err = s.Begin(ctx, txn.BeginOptions{StartTS: then})
	require.ErrorAs(t, err, &below)
	require.Equal(t, target, below.Safepoint)
	require.Zero(t, s.Active())
	past, err := s.Begin(ctx, txn.BeginOptions{StartTS: target})
	require.NoError(t, err)
	require.NoError(t, past.Rollback(ctx))
	update(func(r kv.Reader, b *kv.Batch) error {
		_, err := gc.Raise(ctx, r, b, collector, then)
		return err
	})
	past, err = s.Begin(ctx, txn.BeginOptions{StartTS: then})
	require.NoError(t, err, "the sessions held it back")
	require.NoError(t, past.Rollback(ctx))
}

// TestOneCollectorAtATime across processes; one that died is succeeded.
func TestOneCollectorAtATime(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	step := func(o *txn.Options) { o.GCRows = 1 }
	first, second := sh.store(step), sh.store(step)
	for range 3 {
		commit(t, first, "a", "1", "b", "1", "c", "1")
		rolledForward(t, first)
	}
	done, err := first.CollectStep(ctx)
	require.NoError(t, err)
	require.False(t, done, "it is in the middle of a pass")
	done, err = second.CollectStep(ctx)
	require.NoError(t, err)
	require.True(t, done, "there is nothing to do for this one")
	_, err = second.CollectGarbage(ctx)
	require.ErrorIs(t, err, gc.ErrClaimed)
	require.Equal(t, 3, versions(t, sh.engine, "c"))
	stats, err := second.CollectSpan(ctx, kv.Span{Start: []byte("c"), End: []byte("d")}, nil)
	require.NoError(t, err)
	require.Equal(t, first.Safepoint(), stats.Safepoint, "the one that there is")
	require.EqualValues(t, 3, stats.Records)

	sh.pass(shopLease)
	commit(t, second, "d", "1")
	require.NotZero(t, collected(t, second).Versions, "the first one counts as dead")
	require.Equal(t, 1, versions(t, sh.engine, "c"))
	for done = false; !done; {
		done, err = first.CollectStep(ctx)
		require.NoError(t, err, "and does no harm when it goes on")
	}
	reader := begin(t, second)
	require.Len(t, scan(t, reader, kv.Span{}, txn.ScanOptions{}), 4)
	require.NoError(t, reader.Rollback(ctx))
	_, err = second.CollectGarbage(ctx)
	require.NoError(t, err)
	_, err = first.CollectGarbage(ctx)
	require.NoError(t, err, "both have given up their claims")
}

// TestACollectorThatLostItsClaimDoesNotRaise: it was paused between its claim and its look at the
// sessions.
func TestACollectorThatLostItsClaimDoesNotRaise(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	update := func(step kv.Step) error {
		return sh.engine.Update(ctx, [][]byte{gc.SafepointRow()},
			step)
	}
	claim := func(session, dead uint64) error {
		return update(func(r kv.Reader, b *kv.Batch) error {
			_, err := gc.Claim(ctx, r, b, session, dead, 10)
			return err
		})
	}
	require.NoError(t, claim(1, 0))
	require.ErrorIs(t, claim(2, 0), gc.ErrClaimed)
	require.NoError(t, claim(2, 1))
	require.ErrorIs(t, update(func(r kv.Reader, b *kv.Batch) error {
		_, err := gc.Raise(ctx, r, b, 1, 9)
		return err
	}), gc.ErrClaimed)
	require.NoError(t, update(func(r kv.Reader,
		b *kv.Batch) error {
		return gc.Release(ctx, r, b, 1)
	}))
	require.ErrorIs(t, claim(3, 0), gc.ErrClaimed, "a release of what one has not is nothing")
	require.NoError(t, update(func(r kv.Reader, b *kv.Batch) error {
		point, err := gc.Raise(ctx, r, b, 2, 9)
		require.EqualValues(t, 9, point)
		return err
	}))
}

// TestTheCollectorSettlesLocksOfTheDead before it drops anything, without waiting for their time.
func TestTheCollectorSettlesLocksOfTheDead(t *testing.T) {
	sh := openShop(t, 2)
	owner := sh.store(dying(txn.AfterCommitPoint))
	abandon(t, owner)
	sh.pass(shopLease)
	collector := sh.store(nil)
	commit(t, collector, "a", "later")
	require.NotZero(t, collected(t, collector).Locks)
	require.Empty(t, sh.locks())
	reader := begin(t, collector)
	require.Equal(t, []string{"a=later", "z=new"}, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(context.Background()))
}

// TestALostAnswerBelowTheSafepointIsAmbiguous: the record of the commit may have been collected by
// the time its coordinator asks again.
func TestALostAnswerBelowTheSafepointIsAmbiguous(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	other := sh.store(nil)
	lossy := &losing{Engine: sh.engine}
	plain := sh.engine
	sh.engine = lossy
	s := sh.store(func(o *txn.Options) {
		o.CrashPoint = func(p txn.CrashPoint) bool {
			lossy.lose = func() {
				lossy.lose = nil
				sh.pass(shopLease)
				// The lock of the primary is gone with its commit; the record goes with the next
				// one.
				commit(t, other, "a", "theirs")
				collected(t, other)
			}
			if p != txn.AfterCommitTS {
				lossy.lose = nil
			}
			return false
		}
	})
	sh.engine = plain
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("mine")))
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAmbiguous)
	require.Equal(t, 1, versions(t, sh.engine, "a"))
}

// losing loses the answer of the next update for which lose is set.
type losing struct {
	kv.Engine
	lose func()
}

func (l *losing) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	lose := l.lose
	l.lose = nil
	err := l.Engine.Update(ctx, rows, step)
	if err == nil && lose != nil {
		lose()
		return fmt.Errorf("the answer was lost")
	}
	return err
}

// TestProcessesCollectInTurn: none begins a pass soon after another one has.
func TestProcessesCollectInTurn(t *testing.T) {
	sh := openShop(t, 0)
	raises := 0
	sh.engine = &counted{Engine: sh.engine, row: gc.SafepointRow(), before: func(int) { raises++ }}
	hourly := func(o *txn.Options) { o.GCInterval, o.Retention = time.Hour, time.Minute }
	stores := []*txn.Store{sh.store(hourly), sh.store(hourly), sh.store(hourly)}
	passes := func() int {
		raises = 0
		for _, s := range stores {
			for done := false; !done; {
				var err error
				done, err = s.CollectStep(t.Context())
				require.NoError(t, err)
			}
		}
		return raises / 3 // a pass claims, raises and gives the claim up
	}
	for range 3 {
		sh.pass(time.Hour)
		for _, s := range stores {
			require.NoError(t, s.RenewLease(t.Context()))
		}
		commit(t, stores[0], "a", "1", "z", "1")
		require.Equal(t, 1, passes())
		sh.pass(20 * time.Minute)
		require.Zero(t, passes())
		require.Zero(t, raises)
	}
}
