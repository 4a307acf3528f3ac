package observer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// Each test here holds one step of the protocol still and lets something happen beside it: a change
// of the row, another run, or the end of the process.

// stage is a site whose process dies, or lets something happen, at a step of a commit.
type stage struct {
	*site
	e  kv.Engine
	at func(p txn.CrashPoint) (die bool)
}

func newStage(t *testing.T) *stage {
	st := &stage{e: memkv.New(memkv.Options{})}
	st.site = open(t, st.e, st.opts())
	return st
}

func (st *stage) opts() txn.Options {
	return txn.Options{CrashPoint: func(p txn.CrashPoint) bool { return st.at != nil && st.at(p) }}
}

// dieAt makes the process die the first time that it comes to a crash point, and then at each.
func (st *stage) dieAt(point txn.CrashPoint) {
	dead := false
	st.at = func(p txn.CrashPoint) bool {
		dead = dead || p == point
		return dead
	}
}

// onceAt lets something happen the next time that a commit comes to a crash point.
func (st *stage) onceAt(point txn.CrashPoint, f func()) {
	st.at = func(p txn.CrashPoint) bool {
		if p == point {
			st.at = nil
			f()
		}
		return false
	}
}

// restart is a new process on the same store.
func (st *stage) restart() {
	st.at = nil
	st.reopen(st.e, st.opts())
}

// serve lets a pool do all there is to do.
func (st *stage) serve(left int) {
	p := st.start()
	st.settle(p, left)
	p.Stop()
}

// acknowledge is a run that loses its clean-up.
func (st *stage) acknowledge(key string) observer.Change {
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(st.t, err)
	c, found, err := target.Look(ctx, tx, []byte(key))
	require.NoError(st.t, err)
	require.Equal(st.t, observer.Pending, found)
	require.NoError(st.t, target.Acknowledge(tx, &c))
	require.NoError(st.t, tx.Commit(ctx))
	return c
}

// found is a run of the function, if there is something to run on.
func (st *stage) found(key string) observer.Found {
	res := st.run(ctx, []byte(key))
	require.NoError(st.t, res.Err)
	return res.Found
}

func (st *stage) backfill() {
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(st.t, err)
	require.NoError(st.t, target.Backfill(tx))
	require.NoError(st.t, tx.Commit(ctx))
}

// load writes rows without notifications.
func (st *stage) load(n int) {
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(st.t, err)
	for i := range n {
		require.NoError(st.t, tx.Set(fmt.Appendf(nil, "a/%04d", i), []byte("old")))
	}
	require.NoError(st.t, tx.Commit(ctx))
}

// TestAChangeBesideARun comes after the snapshot of the run and before its commit: it is above the
// acknowledgement, which is the snapshot's timestamp and not the commit's (observer I2).
func TestAChangeBesideARun(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.fail = func(context.Context, string) error {
		st.fail = func(context.Context, string) error { return nil }
		st.change("a/1", "two")
		return nil
	}
	require.Equal(t, observer.Pending, st.found("a/1"))
	require.Equal(t, observer.Pending, st.found("a/1"))
	require.Equal(t, observer.Nothing, st.found("a/1"))
	require.Equal(t, []string{"a/1 none>one", "a/1 one>two"}, st.log())
	require.Zero(t, st.notified())
}

// TestAChangeBetweenCommitAndCleanUp: the clean-up removes what the run covers (observer I3).
func TestAChangeBetweenCommitAndCleanUp(t *testing.T) {
	for _, next := range []string{"two", ""} {
		st := newStage(t)
		st.change("a/1", "one")
		st.again = func(observer.Change) {
			st.again = nil
			st.change("a/1", next)
		}
		st.serve(0)
		require.Len(t, st.log(), 2)
		require.Equal(t, "a/1 none>one", st.log()[0])
	}
}

// TestTheOldImageIsOfTheFirstChange: there were three since the last run.
func TestTheOldImageIsOfTheFirstChange(t *testing.T) {
	st := newStage(t)
	for _, v := range []string{"0", "1", "2", "3"} {
		st.change("a/1", v)
		if v == "0" {
			st.acknowledge("a/1")
		}
	}
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	c, _, err := target.Look(ctx, tx, []byte("a/1"))
	require.NoError(t, err)
	require.Equal(t, "0", string(c.Old))
	require.Equal(t, "3", string(c.Value))
	require.NoError(t, tx.Rollback(ctx))
}

// TestWhatIsAcknowledgedIsNotPending: a notification that is left is no change, and neither is a
// write of the row without a notification: it was of other columns (observer I1).
func TestWhatIsAcknowledgedIsNotPending(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.acknowledge("a/1")
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, tx.Set([]byte("a/1"), []byte("one, and another column")))
	require.NoError(t, tx.Commit(ctx))
	require.Equal(t, observer.Nothing, st.found("a/1"))
	require.Empty(t, st.log())
	require.Zero(t, st.notified(), "it is removed")
}

// TestDeathsInACleanUp: the process dies around the update that removes the acknowledgement of a
// row that is gone, which is the last one (observer I5).
func TestDeathsInACleanUp(t *testing.T) {
	for _, point := range []txn.CrashPoint{txn.BeforeOnePhase, txn.AfterOnePhase} {
		st := newStage(t)
		st.change("a/1", "one")
		st.change("a/1", "")
		st.again = func(observer.Change) { st.dieAt(point) }
		require.ErrorIs(t, st.run(ctx, []byte("a/1")).Err, txn.ErrAbandoned, point)
		st.again = nil
		st.restart()
		st.serve(0)
		require.Equal(t, []string{"a/1 none>none"}, st.log(), "%s: run once", point)
		require.Zero(t, st.state(), point)
	}
}

// TestACleanUpThatFailsIsMadeUpFor: the process lives, and there is no notification any more.
func TestACleanUpThatFailsIsMadeUpFor(t *testing.T) {
	for _, left := range []bool{true, false} {
		st := newStage(t)
		st.change("a/1", "one")
		st.change("a/1", "")
		c := st.acknowledge("a/1")
		if !left {
			require.NoError(t, st.s.Acknowledge(ctx, c.Key, target.ID, c.At))
		}
		require.Equal(t, observer.Nothing, st.found("a/1"))
		require.Zero(t, st.state())
		require.Zero(t, st.notified())
	}
}

// TestARowThatComesBackTakesItsMark: the clean-up of the run that saw it gone has failed.
func TestARowThatComesBackTakesItsMark(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.change("a/1", "")
	st.acknowledge("a/1")
	st.change("a/1", "again")
	require.Equal(t, observer.Pending, st.found("a/1"))
	require.Equal(t, []string{"a/1 none>again"}, st.log())
	require.Equal(t, 1, st.state(), "the acknowledgement")
}

// TestALateCleanUp is of a run after which there was another one, which saw the row gone again: it
// leaves that one's acknowledgement and mark, by which a new process finds it.
func TestALateCleanUp(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.change("a/1", "")
	first := st.acknowledge("a/1")
	st.change("a/1", "two")
	st.change("a/1", "")
	second := st.acknowledge("a/1")
	require.NoError(t, target.Clean(ctx, st.s, &first))
	require.Equal(t, 2, st.state())
	require.NoError(t, st.s.Acknowledge(ctx, second.Key, target.ID, second.At))
	st.restart()
	st.serve(0)
	require.Zero(t, st.state())
}

// TestTwoCleanUpsAtOnce: the one that comes second has nothing left to do.
func TestTwoCleanUpsAtOnce(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.change("a/1", "")
	c := st.acknowledge("a/1")
	st.onceAt(txn.BeforeOnePhase, func() { require.NoError(t, target.Clean(ctx, st.s, &c)) })
	require.NoError(t, target.Clean(ctx, st.s, &c))
	require.Zero(t, st.state())
}

// TestTheRowIsReadBeforeItsNotifications: a commit is under way below the snapshot, and none of it
// is to be seen. A look at the notifications before the wait for it misses its own, which the
// clean-up of an older one would remove.
func TestTheRowIsReadBeforeItsNotifications(t *testing.T) {
	e, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
	require.NoError(t, err)
	slow := &slowEngine{Engine: e}
	st := &stage{e: slow}
	st.site = open(t, slow, txn.Options{})
	st.change("a/1", "one")
	st.acknowledge("a/1")
	drawn, land := slow.hold()
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		st.change("a/1", "two")
	}()
	<-drawn
	slow.onSnapshot(land)
	require.Equal(t, observer.Pending, st.found("a/1"))
	<-committed
	require.Equal(t, []string{"a/1 one>two"}, st.log())
	require.Zero(t, st.notified())
	require.NoError(t, st.s.Close())
	require.NoError(t, e.Close())
}

// TestAChangeBesideADeadLetter: the function changes the row before it fails for the last time.
func TestAChangeBesideADeadLetter(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.fail = func(context.Context, string) error {
		st.fail = func(context.Context, string) error { return nil }
		st.change("a/1", "two")
		return errors.New("poison")
	}
	opts := st.options()
	opts.Attempts, opts.Workers = 1, 1
	p := st.startWith(opts)
	st.settle(p, 0)
	p.Stop()
	require.EqualValues(t, 1, p.Stats().DeadLetters)
	require.Equal(t, []string{"a/1 none>two"}, st.log(), "the newer change supersedes it")
	require.Empty(t, st.letters())
}

// TestNoDeadLetterOfWhatIsAcknowledged: another worker has run on the row, or does so now.
func TestNoDeadLetterOfWhatIsAcknowledged(t *testing.T) {
	st := newStage(t)
	giveUp := func(at tso.Timestamp) error {
		return target.GiveUp(ctx, st.s, &observer.DeadLetter{Key: []byte("a/1"), At: at})
	}
	for _, v := range []string{"one", "two"} {
		at := st.change("a/1", v)
		st.onceAt(txn.BeforeOnePhase, func() {
			require.Equal(t, observer.Pending, st.found("a/1"))
		})
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, giveUp(at), &conflict)
		require.ErrorIs(t, giveUp(at), observer.ErrSuperseded)
	}
	require.Empty(t, st.letters())
	require.Equal(t, []string{"a/1 none>one", "a/1 one>two"}, st.log())
	require.NoError(t, giveUp(st.change("a/1", "three")))
	require.Len(t, st.letters(), 1)
}

// TestADroppedDeadLetterOfARowThatIsGone leaves nothing, also when the process ends before its
// clean-up.
func TestADroppedDeadLetterOfARowThatIsGone(t *testing.T) {
	for _, restart := range []bool{false, true} {
		st := newStage(t)
		st.change("a/1", "one")
		at := st.change("a/1", "")
		require.NoError(t, target.GiveUp(ctx, st.s,
			&observer.DeadLetter{Key: []byte("a/1"), At: at}))
		require.Equal(t, observer.Nothing, st.found("a/1"))
		require.Equal(t, 1, st.notified())
		tx, err := st.s.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		found, err := target.Drop(ctx, tx, []byte("a/1"))
		require.NoError(t, err)
		require.True(t, found)
		require.NoError(t, tx.Commit(ctx))
		if restart {
			// all but the last step of the clean-up was done
			require.NoError(t, st.s.Acknowledge(ctx, []byte("a/1"), target.ID, at))
			st.restart()
			st.serve(0)
		} else {
			require.Equal(t, observer.Nothing, st.found("a/1"))
		}
		require.Zero(t, st.notified())
		require.Zero(t, st.state())
		require.Empty(t, st.log())
	}
}

// TestDeathsInABackfill: the process dies at each of its commits, before it and after.
func TestDeathsInABackfill(t *testing.T) {
	const rows, step = 25, 10
	small := target.Lowered(step)
	for _, point := range []txn.CrashPoint{txn.BeforeOnePhase, txn.AfterOnePhase} {
		st := newStage(t)
		st.load(rows)
		st.backfill()
		for deaths, done := 0, false; !done; deaths++ {
			require.Less(t, deaths, 10)
			st.dieAt(point)
			_, _, err := small.BackfillStep(ctx, st.s)
			st.restart()
			if done = err == nil; done {
				break
			}
			require.ErrorIs(t, err, txn.ErrAbandoned)
			if point == txn.BeforeOnePhase { // it makes no way
				_, done, err = small.BackfillStep(ctx, st.s)
				require.NoError(t, err)
			}
		}
		st.serve(0)
		require.Len(t, st.log(), rows, point)
		require.Equal(t, rows+1, st.state(), point)
	}
}

// TestABackfillBesideWriters: what is inserted, changed and deleted between its scan and its commit
// is run on once, and is new to the observer.
func TestABackfillBesideWriters(t *testing.T) {
	st := newStage(t)
	st.load(20)
	st.backfill()
	small := target.Lowered(10)
	st.onceAt(txn.BeforeOnePhase, func() {
		for _, key := range []string{"a/0003x", "a/0015x"} {
			st.change(key, "inserted")
		}
		for _, key := range []string{"a/0004", "a/0014"} {
			st.change(key, "changed")
		}
		for _, key := range []string{"a/0005", "a/0016"} {
			st.change(key, "")
		}
		for _, key := range []string{"a/0006", "a/0017"} {
			st.change(key, "run")
			require.Equal(t, observer.Pending, st.found(key))
		}
	})
	_, done, err := small.BackfillStep(ctx, st.s)
	require.NoError(t, err)
	require.False(t, done)
	st.serve(0)
	runs := st.log()
	require.Len(t, runs, 22)
	for _, want := range []string{"a/0003 none>old", "a/0003x none>inserted",
		"a/0015x none>inserted", "a/0004 none>changed", "a/0014 none>changed", "a/0005 none>none",
		"a/0016 none>none", "a/0006 none>run", "a/0017 none>run"} {
		require.Contains(t, runs, want)
	}
	require.Equal(t, 20+1, st.state(), "acknowledgements of the rows that are there")
}

// TestAnInsertBesideARegistration: the writer began before the observer was there, and leaves no
// notification. It validates what it knows of observers, so it does not commit after the
// registration, and what commits before is in the backfill.
func TestAnInsertBesideARegistration(t *testing.T) {
	st := newStage(t)
	insert := func(key string) *txn.Txn {
		writer, err := st.s.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		writer.Validate(kv.Span{Start: registered, End: kv.Successor(registered)})
		require.NoError(t, writer.Insert([]byte(key), []byte("old")))
		return writer
	}
	early, late := insert("a/0001"), insert("a/0002")
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, tx.Set(registered, nil))
	require.NoError(t, target.Backfill(tx))
	require.NoError(t, early.Commit(ctx))
	require.NoError(t, tx.Commit(ctx))
	_, done, err := target.BackfillStep(ctx, st.s)
	require.NoError(t, err)
	require.True(t, done)
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, late.Commit(ctx), &conflict)
	st.serve(0)
	require.Equal(t, []string{"a/0001 none>old"}, st.log())
}

// TestARegistrationBesideACommit: the writer has validated that there is no observer, and its
// locks are down. The registration validates the rows, and so meets them: else a backfill would
// read past the locks, and the writer commit above that, with no notification.
func TestARegistrationBesideACommit(t *testing.T) {
	st := newStage(t)
	st.reopen(st.e, txn.Options{Protocol: txn.TwoPhase, LockWait: time.Millisecond,
		CrashPoint: st.opts().CrashPoint})
	register := func() error {
		tx, err := st.s.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		tx.Validate(target.Rows)
		require.NoError(t, tx.Set(registered, nil))
		require.NoError(t, target.Backfill(tx))
		return tx.Commit(ctx)
	}
	writer, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	writer.Validate(kv.Span{Start: registered, End: kv.Successor(registered)})
	require.NoError(t, writer.Insert([]byte("a/0001"), []byte("old")))
	st.onceAt(txn.AfterCommitTS, func() {
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, register(), &conflict)
	})
	require.NoError(t, writer.Commit(ctx))
	require.NoError(t, register())
	st.serve(0)
	require.Equal(t, []string{"a/0001 none>old"}, st.log())
}

// TestABackfillBesideATransactionThatRollsBack: its notification is beside its lock when the
// backfill comes to the row, and is gone when the observer does.
func TestABackfillBesideATransactionThatRollsBack(t *testing.T) {
	st := newStage(t)
	st.reopen(st.e, txn.Options{StreamBytes: 1})
	st.load(2)
	st.backfill()
	writer, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	writer.Notify([]byte("a/0001"), target.ID, []byte("old"))
	require.NoError(t, writer.Set([]byte("a/0001"), []byte("never")))
	_, done, err := target.BackfillStep(ctx, st.s)
	require.NoError(t, err)
	require.True(t, done)
	require.NoError(t, writer.Rollback(ctx))
	st.serve(0)
	require.Equal(t, []string{"a/0000 none>old", "a/0001 none>old"}, st.log())
}

// TestABackfillAnnouncesARowThatIsGone: it was deleted after the scan, and the observer has seen
// that already.
func TestABackfillAnnouncesARowThatIsGone(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.change("a/1", "")
	require.Equal(t, observer.Pending, st.found("a/1"))
	require.NoError(t, st.s.Announce(ctx, [][]byte{[]byte("a/1")}, target.ID))
	require.Equal(t, observer.Nothing, st.found("a/1"))
	require.Len(t, st.log(), 1)
	require.Zero(t, st.state())
	require.Zero(t, st.notified())
}

// TestTwoPoolsOnOneStore run on the same rows, and each change is in one run.
func TestTwoPoolsOnOneStore(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	pools := []*observer.Pool{x.start(), x.start()}
	x.wake = func(keys [][]byte) {
		for _, p := range pools {
			p.Wake(keys)
		}
	}
	const rows, rounds = 8, 12
	for round := range rounds {
		for row := range rows {
			x.change(fmt.Sprintf("a/%d", row), fmt.Sprint(round))
		}
	}
	for _, p := range pools {
		idle(p)
	}
	last := map[string]string{}
	for _, run := range x.log() {
		var key, values string
		_, err := fmt.Sscan(run, &key, &values)
		require.NoError(t, err)
		before, after, _ := cutValues(values)
		if was, ran := last[key]; ran {
			require.Equal(t, was, before, key)
		}
		last[key] = after
	}
	for row := range rows {
		require.Equal(t, fmt.Sprint(rounds-1), last[fmt.Sprintf("a/%d", row)])
	}
	require.Zero(t, x.notified())
	require.Equal(t, rows, x.state())
	require.EqualValues(t, len(x.log()), pools[0].Stats().Runs+pools[1].Stats().Runs)
	for _, p := range pools {
		p.Stop()
	}
}
