package observer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
	"github.com/stretchr/testify/require"
)

// toB is a table-level change that takes the rows from a/ to b/.
var toB = observer.Move{Number: 1, From: target.Rows, To: prefixSpan("b/"), Keep: true,
	Dropped: target.Rows.Start}

// move makes a table-level change, after which the site knows where the rows are.
func (x *site) move(m observer.Move) {
	x.t.Helper()
	tx, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(x.t, err)
	require.NoError(x.t, tx.DropSpan(m.From))
	require.NoError(x.t, target.Move(tx, &m))
	require.NoError(x.t, tx.Commit(ctx))
	x.o.Rows = m.To
}

// carry takes a step of the only table-level change.
func (x *site) carry() (keys []string, found observer.Found, err error) {
	var places [][]byte
	require.NoError(x.t, x.s.Notifications(ctx, target.Spans()[0],
		func(key []byte, _ *txn.Notification) error {
			places = append(places, slices.Clone(key))
			return nil
		}))
	require.Len(x.t, places, 1)
	announced, found, err := target.Carry(ctx, x.s, places[0])
	for _, key := range announced {
		keys = append(keys, string(key))
	}
	return keys, found, err
}

// carried takes the steps of a table-level change up to its end.
func (x *site) carried() (keys []string) {
	x.t.Helper()
	for {
		some, found, err := x.carry()
		require.NoError(x.t, err)
		require.NotEqual(x.t, observer.Later, found)
		if keys = append(keys, some...); found == observer.Nothing {
			return keys
		}
	}
}

// TestACarryBesideARun: the run has seen the row under its old key, and commits after a step has
// carried the row. It was the first one, so there is no acknowledgement that the step would take
// along.
func TestACarryBesideARun(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.fail = func(context.Context, string) error {
		st.fail = func(context.Context, string) error { return nil }
		st.move(toB)
		require.Equal(t, []string{"b/1"}, st.carried())
		st.o = target // as the run has read it
		return nil
	}
	res := st.run(ctx, []byte("a/1"))
	require.True(t, res.Conflict, "%v", res.Err)
	st.o.Rows = toB.To
	require.Equal(t, observer.Nothing, st.found("a/1"), "it has no row any more")
	require.Equal(t, observer.Pending, st.found("b/1"))
	require.Equal(t, []string{"b/1 none>none"}, st.log())
}

// TestACarryBesideACommit: the writer has validated before the change, its locks are down, and its
// commit_ts is above the snapshot of the step.
func TestACarryBesideACommit(t *testing.T) {
	st := newStage(t)
	st.reopen(st.e, txn.Options{Protocol: txn.TwoPhase, LockWait: time.Millisecond,
		CrashPoint: st.opts().CrashPoint})
	writer, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	writer.Notify([]byte("a/1"), target.ID, nil)
	require.NoError(t, writer.Insert([]byte("a/1"), []byte("one")))
	st.onceAt(txn.AfterPrewrite, func() {
		st.move(toB)
		keys, found, err := st.carry()
		require.Empty(t, keys)
		require.True(t, err != nil || found == observer.Later, "%v %v", found, err)
	})
	require.NoError(t, writer.Commit(ctx))
	require.Equal(t, []string{"b/1"}, st.carried())
	require.Equal(t, observer.Pending, st.found("b/1"))
	require.Equal(t, []string{"b/1 none>none"}, st.log())
}

// TestARunWaitsForTheCarry: the row under the new key is the old one changed, and not a new one.
func TestARunWaitsForTheCarry(t *testing.T) {
	st := newStage(t)
	st.change("a/1", "one")
	st.serve(0)
	st.move(toB)
	st.change("b/1", "two")
	require.Equal(t, observer.Later, st.found("b/1"))
	require.Equal(t, []string{"b/1"}, st.carried())
	require.Equal(t, observer.Pending, st.found("b/1"))
	require.Equal(t, observer.Nothing, st.found("b/1"))
	require.Equal(t, []string{"a/1 none>one", "b/1 one>two"}, st.log())
}

// TestALetterIsCarriedAsPending: the change that takes the row away is newer than what was given
// up. One that comes late, of a run under the old key, is refused.
func TestALetterIsCarriedAsPending(t *testing.T) {
	st := newStage(t)
	at := st.change("a/1", "one")
	letter := func(key string) error {
		return target.GiveUp(ctx, st.s, &observer.DeadLetter{Key: []byte(key), At: at + 1})
	}
	require.NoError(t, letter("a/1"))
	st.move(toB)
	require.Equal(t, []string{"b/1"}, st.carried())
	require.ErrorIs(t, letter("a/1"), observer.ErrSuperseded)
	require.Equal(t, observer.Pending, st.found("b/1"))
	tx, err := st.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, target.Letters(ctx, tx, func(l *observer.DeadLetter) error {
		t.Errorf("letter of %q", l.Key)
		return nil
	}))
	require.NoError(t, tx.Rollback(ctx))
}
