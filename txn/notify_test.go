package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// notified returns what the notify column has for a key, as observer:old@stamp-start_ts.
func notified(t *testing.T, s *txn.Store, key string) (all []string) {
	span := kv.Span{Start: []byte(key), End: []byte(key + "\x00")}
	err := s.Notifications(context.Background(), span,
		func(_ []byte, n *txn.Notification) error {
			old, stamp := "none", "unstamped"
			if n.HasOld {
				old = string(n.Old)
			}
			if n.Stamped() {
				stamp = "stamped"
			}
			all = append(all, fmt.Sprintf("%d:%s:%s", n.Observer, old, stamp))
			return nil
		})
	require.NoError(t, err)
	return all
}

func eachProtocol(t *testing.T, f func(t *testing.T, opts txn.Options)) {
	for name, opts := range map[string]txn.Options{
		"one phase": {}, "two phases": {Protocol: txn.TwoPhase},
		"async": {Protocol: txn.Async}, "streamed": {StreamBytes: 1},
	} {
		t.Run(name, func(t *testing.T) { f(t, opts) })
	}
}

func newStore(t *testing.T, opts txn.Options) *txn.Store {
	e := memkv.New(memkv.Options{})
	s, err := openTxn(context.Background(), e, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		checkStoreSettled(t, s, e)
		require.NoError(t, s.Close())
		require.NoError(t, e.Close())
	})
	return s
}

// checkStoreSettled holds the store to mvcc's invariants.
func checkStoreSettled(t *testing.T, s *txn.Store, e kv.Engine) {
	_, err := s.SettleLocks(context.Background())
	require.NoError(t, err)
	checkStore(t, e, t.Name())
}

func TestACommitNotifiesObservers(t *testing.T) {
	ctx := context.Background()
	eachProtocol(t, func(t *testing.T, opts txn.Options) {
		s := newStore(t, opts)
		woken := map[uint32]int{}
		s.OnNotified(func(observer uint32, keys [][]byte) { woken[observer] += 1 + len(keys) })
		commit(t, s, "a", "0", "b", "0")
		require.Empty(t, woken)

		tx := begin(t, s)
		tx.Notify([]byte("a"), 1, []byte("0"))
		tx.Notify([]byte("a"), 2, []byte("0"))
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		tx.Notify([]byte("b"), 1, []byte("0"))
		require.NoError(t, tx.Delete([]byte("b")))
		tx.Notify([]byte("c"), 1, nil)
		require.NoError(t, tx.Insert([]byte("c"), []byte("1")))
		tx.Notify([]byte("a"), 1, []byte("1"))
		require.NoError(t, tx.Set([]byte("a"), []byte("2")))
		require.NoError(t, tx.Set([]byte("d"), []byte("1")))
		require.NoError(t, tx.Commit(ctx))

		reader := begin(t, s)
		for key, want := range map[string][]string{
			"a": {"1:0:stamped", "2:0:stamped"}, "b": {"1:0:stamped"}, "c": {"1:none:stamped"},
			"d": nil,
		} {
			_, err := reader.Get(ctx, []byte(key)) // settles what is left of two phases
			require.NoError(t, err)
			all, settled, err := reader.NotificationsOf(ctx, []byte(key), 1)
			require.NoError(t, err)
			require.True(t, settled)
			for _, n := range all {
				require.Equal(t, tx.CommitTS(), n.CommitTS)
				require.Equal(t, tx.CommitTS(), n.From())
			}
			require.Equal(t, want, notified(t, s, key), key)
		}
		require.NoError(t, reader.Rollback(ctx))
		if opts.StreamBytes == 0 {
			require.Equal(t, map[uint32]int{1: 4, 2: 2}, woken)
		} else {
			require.Equal(t, map[uint32]int{0: 1}, woken, "the store tells which")
		}
	})
}

func TestWhatDoesNotCommitNotifiesNobody(t *testing.T) {
	ctx := context.Background()
	eachProtocol(t, func(t *testing.T, opts txn.Options) {
		s := newStore(t, opts)
		s.OnNotified(func(uint32, [][]byte) { t.Error("woken") })
		loser := begin(t, s)
		loser.Notify([]byte("a"), 1, nil)
		require.NoError(t, loser.Set([]byte("a"), []byte("1")))
		loser.Notify([]byte("b"), 1, nil)
		require.NoError(t, loser.Set([]byte("b"), []byte("1")))
		if opts.StreamBytes == 0 {
			commit(t, s, "b", "won")
			require.Error(t, loser.Commit(ctx))
		} else {
			require.NotEmpty(t, notified(t, s, "a"), "it is in the store already")
			require.NoError(t, loser.Rollback(ctx))
		}
		checkStoreSettled(t, s, s.Engine())
		require.Empty(t, notified(t, s, "a"))
		require.Empty(t, notified(t, s, "b"))
	})
}

func TestASavepointTakesNotificationsBack(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{})
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	sp := tx.Savepoint()
	tx.Notify([]byte("a"), 1, []byte("0"))
	require.NoError(t, tx.Set([]byte("a"), []byte("2")))
	tx.Notify([]byte("b"), 1, nil)
	require.NoError(t, tx.Insert([]byte("b"), []byte("1")))
	tx.RollbackTo(sp)
	tx.Notify([]byte("gone"), 1, nil)
	require.NoError(t, tx.Insert([]byte("gone"), []byte("1")))
	require.NoError(t, tx.Delete([]byte("gone")))
	require.NoError(t, tx.Commit(ctx))
	for _, key := range []string{"a", "b", "gone"} {
		require.Empty(t, notified(t, s, key), key)
	}
}

// TestASavepointBringsANotificationBack: the delete and the insert before it are streamed out
// together, and the savepoint between them takes only the delete back.
func TestASavepointBringsANotificationBack(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{StreamBytes: 16 << 10})
	tx := begin(t, s)
	tx.Notify([]byte("a"), 1, nil)
	require.NoError(t, tx.Insert([]byte("a"), []byte("1")))
	sp := tx.Savepoint()
	require.NoError(t, tx.Delete([]byte("a")))
	require.NoError(t, tx.Set([]byte("b"), make([]byte, 20<<10)))
	require.True(t, tx.Streams())
	tx.RollbackTo(sp)
	require.NoError(t, tx.Commit(ctx))
	value, err := s.Get(ctx, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, "1", string(value))
	require.Equal(t, []string{"1:none:stamped"}, notified(t, s, "a"))
}

// TestACommitOfUnknownResultWakesObservers: it is there, perhaps, and nothing else would wake them.
func TestACommitOfUnknownResultWakesObservers(t *testing.T) {
	ctx := context.Background()
	e := kvtest.NewFault(memkv.New(memkv.Options{}))
	s, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	woken := 0
	s.OnNotified(func(_ uint32, keys [][]byte) { woken += len(keys) })
	tx := begin(t, s)
	tx.Notify([]byte("a"), 1, nil)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	e.Plan(kvtest.FaultPlan{At: 2, Times: 1000, Applied: true})
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAmbiguous)
	e.Plan(kvtest.FaultPlan{})
	require.Equal(t, 1, woken)
	value, err := s.Get(ctx, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, "1", string(value))
}

func TestAStreamedWriteKeepsWhatItFound(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{StreamBytes: 1})
	commit(t, s, "a", "0")
	tx := begin(t, s)
	tx.Notify([]byte("a"), 1, []byte("0"))
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	sp := tx.Savepoint()
	tx.Notify([]byte("a"), 1, []byte("1"))
	tx.Notify([]byte("a"), 2, []byte("1"))
	require.NoError(t, tx.Set([]byte("a"), []byte("2")))
	tx.RollbackTo(sp)
	require.NoError(t, tx.Set([]byte("b"), []byte("1")))
	require.NoError(t, tx.Commit(ctx))
	require.Equal(t, "1:0:stamped", notified(t, s, "a")[0])
}

func TestAcknowledgeKeepsWhatTheRunDidNotSee(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{Protocol: txn.TwoPhase})
	change := func(old string) tso.Timestamp {
		tx := begin(t, s)
		tx.Notify([]byte("a"), 1, []byte(old))
		tx.Notify([]byte("a"), 2, []byte(old))
		require.NoError(t, tx.Set([]byte("a"), []byte(old+"+")))
		require.NoError(t, tx.Commit(ctx))
		return tx.CommitTS()
	}
	change("0")
	run := change("1")
	change("2")
	require.NoError(t, s.Acknowledge(ctx, []byte("a"), 1, run))
	require.Equal(t, []string{"1:2:stamped", "2:0:stamped", "2:1:stamped", "2:2:stamped"},
		notified(t, s, "a"))

	open := begin(t, s) // its lock is in the store, and its status is unknown
	require.NoError(t, s.Acknowledge(ctx, []byte("a"), 1, tso.Max))
	require.Equal(t, []string{"2:0:stamped", "2:1:stamped", "2:2:stamped"}, notified(t, s, "a"))
	require.NoError(t, open.Rollback(ctx))

	require.NoError(t, s.Announce(ctx, [][]byte{[]byte("a"), []byte("b")}, 3))
	require.Equal(t, []string{"3:none:stamped"}, notified(t, s, "b"))
}

// busy is an engine on which other processes write all the time: no update of several rows finds
// them as its step has read them.
type busy struct {
	kv.Engine
	runs int
}

func (e *busy) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if len(rows) == 1 {
		return e.Engine.Update(ctx, rows, step)
	}
	for ; ; e.runs++ {
		if e.runs == 1000 {
			return errors.New("the step ran a thousand times")
		}
		lost := errors.New("others have written the rows")
		err := e.Engine.Update(ctx, rows, func(r kv.Reader, _ *kv.Batch) error {
			if err := step(r, new(kv.Batch)); err != nil {
				return err
			}
			return lost
		})
		if !errors.Is(err, lost) {
			return err
		}
	}
}

func TestAcknowledgingBusyRowsEnds(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Shared: true})
	s := openStore(t, e, txn.Options{})
	tx := begin(t, s)
	var keys [][]byte
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		tx.Notify([]byte(key), 1, nil)
		require.NoError(t, tx.Insert([]byte(key), []byte("1")))
		keys = append(keys, []byte(key))
	}
	require.NoError(t, tx.Commit(ctx))
	s.AwaitSecondaries()

	other := openStore(t, &busy{Engine: e}, txn.Options{})
	run := begin(t, other)
	_, err := other.AcknowledgeAll(ctx, keys, 1, run.StartTS())
	require.NoError(t, err)
	require.NoError(t, run.Rollback(ctx))
	for _, key := range keys {
		require.Empty(t, notified(t, s, string(key)))
	}
}

func TestAcknowledgeKeepsWhatHasNoStamp(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{StreamBytes: 1})
	tx := begin(t, s)
	tx.Notify([]byte("a"), 1, nil)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, s.Acknowledge(ctx, []byte("a"), 1, tso.Max))
	require.Equal(t, []string{"1:none:unstamped"}, notified(t, s, "a"))
	reader := begin(t, s)
	_, settled, err := reader.NotificationsOf(ctx, []byte("a"), 1)
	require.NoError(t, err)
	require.False(t, settled, "its transaction runs")
	require.NoError(t, tx.Commit(ctx))
	_, settled, err = reader.NotificationsOf(ctx, []byte("a"), 1)
	require.NoError(t, err)
	require.True(t, settled, "whoever meets the lock rolls it forward")
	require.NoError(t, reader.Rollback(ctx))
}

func TestRunsPassTheirOriginOn(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{})
	tx := begin(t, s)
	tx.RunFor(5, 2, "")
	tx.Notify([]byte("a"), 1, nil)
	require.NoError(t, tx.Set([]byte("a"), nil))
	require.NoError(t, tx.Commit(ctx))
	all, _, err := tx.NotificationsOf(ctx, []byte("a"), 1)
	require.NoError(t, err)
	require.EqualValues(t, 5, all[0].From())
	require.EqualValues(t, 3, all[0].Generation)
}

// TestADroppedSpanTakesItsNotifications: they lie under the keys of a table.
func TestADroppedSpanTakesItsNotifications(t *testing.T) {
	spans := mvcc.RawSpans(kv.Span{Start: []byte("t1"), End: []byte("t2")})
	want := mvcc.NotifySpan(kv.Span{Start: []byte("t1"), End: []byte("t2")})
	require.Contains(t, spans, want)
}

func TestANoteOfAWriteThatFailedIsReplaced(t *testing.T) {
	ctx := context.Background()
	s := newStore(t, txn.Options{})
	tx := begin(t, s)
	tx.Notify([]byte("a"), 1, []byte("stale"))
	tx.Notify([]byte("a"), 1, []byte("0"))
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Commit(ctx))
	require.Equal(t, []string{"1:0:stamped"}, notified(t, s, "a"))
}
