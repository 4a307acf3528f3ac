package txn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// moments is an engine that calls back before and after every update, lazy ones included, and loses
// the results of chosen ones.
type moments struct {
	kv.Engine
	at   func()
	lose func() (lost, applied bool)
}

func (m *moments) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return m.update(func() error { return m.Engine.Update(ctx, rows, step) })
}

func (m *moments) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return m.update(func() error { return kv.UpdateLazy(ctx, m.Engine, rows, step) })
}

func (m *moments) update(run func() error) error {
	m.at()
	defer m.at()
	lost, applied := m.lose()
	if lost && !applied {
		return kvtest.ErrInjected
	}
	if err := run(); err != nil || !lost {
		return err
	}
	return kvtest.ErrInjected
}

func (m *moments) Group(row []byte) uint64 { return kv.GroupOf(m.Engine, row) }

func (m *moments) Exclusive() bool { return kv.IsExclusive(m.Engine) }

// streamers are the ways in which a stream is cancelled: with crash points its batches go one after
// the other and it settles its own locks; without, both is done beside it.
var streamers = []struct {
	name         string
	open         func(t *testing.T) kv.Engine
	hooks        bool
	serializable bool
}{
	{"memory", func(*testing.T) kv.Engine { return memkv.New(memkv.Options{}) }, true, false},
	{"memory, parallel", func(*testing.T) kv.Engine { return memkv.New(memkv.Options{}) }, false,
		false},
	{"groups, parallel", func(
		*testing.T) kv.Engine {
		return memkv.New(memkv.Options{HashGroups: 3})
	}, false, false},
	{"shared, serializable", func(
		*testing.T) kv.Engine {
		return memkv.New(memkv.Options{Shared: true})
	}, true, true},
	{"shared groups, parallel", func(*testing.T) kv.Engine {
		return memkv.New(memkv.Options{Shared: true, HashGroups: 2, Lost: 5})
	}, false, false},
	{"pebble, serializable", openPebble, true, true},
	{"pebble, parallel", openPebble, false, false},
}

// TestAStreamIsCancelledInItsCommit ends the context of a large transaction at each crash point,
// and before and after each of its updates, the commit's among them. A client whose Commit succeeds
// finds all of it, one that gets another error nothing; and no transaction has to wait for what is
// left.
func TestAStreamIsCancelledInItsCommit(t *testing.T) {
	for _, c := range streamers {
		t.Run(c.name, func(t *testing.T) {
			told := cancelEverywhere(t, func(at int64) *streamer {
				return &streamer{t: t, engine: c.open(t), hooks: c.hooks,
					serializable: c.serializable, at: at, ttl: time.Hour}
			}, (*streamer).run)
			require.Zero(t, told["ambiguous"])
			require.Greater(t, told["cancelled in its writes"], 5)
			require.Greater(t, told["committed"], 0)
			if c.hooks { // otherwise the moments of the commit may slip through
				require.Greater(t, told["cancelled in its commit"], 0)
				require.Greater(t, told["committed though cancelled"], 0)
			}
		})
	}
}

// TestAStreamIsCancelledAndItsAnswersAreLost does so, and from that moment on, or from the one
// before, some updates lose their answers: with ErrAmbiguous everything is there or nothing.
func TestAStreamIsCancelledAndItsAnswersAreLost(t *testing.T) {
	for _, lost := range []int64{1, 2, 6} {
		for _, v := range []struct {
			applied bool
			before  int64
		}{{false, 0}, {true, 0}, {false, 1}, {true, 1}} {
			t.Run(fmt.Sprintf("%d, %+v", lost, v), func(t *testing.T) {
				told := cancelEverywhere(t, func(at int64) *streamer {
					e := memkv.New(memkv.Options{HashGroups: 2})
					return &streamer{t: t, engine: e, hooks: true, at: at,
						ttl: 5 * time.Millisecond, lost: lost, applied: v.applied, before: v.before}
				}, (*streamer).run)
				// The engine applies nothing for a context that has ended, so it knows.
				known := v.applied && v.before == 0
				require.Equal(t, lost == 6 && !known, told["ambiguous"] > 0)
				require.Greater(t, told["cancelled in its commit"], 0)
				require.Greater(t, told["committed though cancelled"], 0)
			})
		}
	}
}

// cancelEverywhere runs the transaction with one moment after the other, until a few are beyond its
// end (their number varies by what goes on beside it), and counts the results. run reports whether
// the moment came before the transaction had ended.
func cancelEverywhere(t *testing.T, with func(at int64) *streamer,
	run func(*streamer) (ended bool)) map[string]int {
	told := map[string]int{}
	for n, beyond := int64(1), 0; beyond < 5; n++ {
		s := with(n)
		if run(s) {
			beyond = 0
		} else {
			beyond++
		}
		told[s.told]++
	}
	t.Logf("%v", told)
	return told
}

// streamer is one large transaction over the odd keys of those that are there, and some that are
// not.
type streamer struct {
	t            *testing.T
	engine       kv.Engine
	store        *txn.Store
	hooks        bool
	serializable bool
	at           int64 // the moment at which its context ends
	ttl          time.Duration
	lost         int64 // how many updates lose their answers from then on
	before       int64 // how many moments before
	applied      bool  // they, all the same
	told         string

	counting       atomic.Bool // the moments that pass
	passed, losing atomic.Int64
}

const streamerKeys = 24

func streamerKey(i int) []byte { return fmt.Appendf(nil, "k%03d", i) }

// open opens the store with the even keys, and returns a context that ends at the moment. From then
// on updates lose their answers.
func (s *streamer) open() (ctx context.Context, cancel func()) {
	ctx, cancel = context.WithCancel(context.Background())
	moment := func() {
		if s.counting.Load() && s.passed.Add(1) == s.at {
			cancel()
		}
	}
	lose := func() (lost, applied bool) {
		return s.counting.Load() && s.passed.Load() >= s.at-s.before &&
			s.losing.Add(1) <= s.lost, s.applied
	}
	opts := txn.Options{StreamBytes: 1500, BatchKeys: 2, LockWait: 10 * time.Second, LockTTL: s.ttl,
		Lease:  time.Hour,
		Logger: slog.New(slog.DiscardHandler)}
	if s.hooks {
		opts.CrashPoint = func(txn.CrashPoint) bool { moment(); return false }
	}
	var err error
	s.store, err = openTxn(context.Background(), &moments{s.engine, moment, lose}, opts)
	require.NoError(s.t, err)
	s.writeAll("before")
	return ctx, cancel
}

// close looks for what is left behind.
func (s *streamer) close() {
	s.store.AwaitSecondaries()
	require.NoError(s.t, s.store.Close())
	checkStore(s.t, s.engine, fmt.Sprintf("moment %d: %s", s.at, s.told))
	require.NoError(s.t, s.engine.Close())
}

// run writes, and commits.
func (s *streamer) run() (ended bool) {
	t := s.t
	ctx, cancel := s.open()
	defer cancel()
	s.counting.Store(true)
	tx, err := s.store.Begin(ctx, txn.BeginOptions{Serializable: s.serializable})
	if err == nil {
		err = s.write(ctx, tx)
		where := "writes"
		if err == nil {
			where, err = "commit", tx.Commit(ctx)
		}
		ended = ctx.Err() != nil
		require.NoError(t, tx.Rollback(ctx))
		s.counting.Store(false)
		s.judge(tx, err, where, ended)
	} else {
		s.counting.Store(false)
		ended, s.told = true, "cancelled in its beginning"
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Zero(t, s.store.Active())
	require.True(t, s.store.RowLocks().Empty())
	require.Empty(t, s.store.LockWaits())
	s.writeAll("after")
	if s.lost > 0 {
		_, err = s.store.SettleLocks(context.Background())
		require.NoError(t, err)
	}
	s.close()
	return ended
}

// writeAll writes the even keys, in one transaction. It comes through at once, unless a rollback
// had its answer lost: then the locks that are left have their time to live.
func (s *streamer) writeAll(value string) {
	for {
		tx := begin(s.t, s.store)
		var err error
		for i := 0; i < streamerKeys && err == nil; i += 2 {
			err = tx.Set(streamerKey(i), []byte(value))
		}
		if err == nil {
			err = tx.Commit(context.Background())
		}
		require.NoError(s.t, tx.Rollback(context.Background()))
		var conflict *txn.WriteConflictError
		if s.lost > 0 && errors.As(err, &conflict) {
			runtime.Gosched()
			continue
		}
		require.NoError(s.t, err, "moment %d: %s", s.at, s.told)
		return
	}
}

// write reads, locks and writes every key, some of them twice, and takes a part of it back.
func (s *streamer) write(ctx context.Context, tx *txn.Txn) error {
	tx.SetLocking(txn.Locking{Writes: true})
	for i := range streamerKeys {
		if i == streamerKeys/2 {
			sp := tx.Savepoint()
			if err := errors.Join(tx.Set(streamerKey(1), []byte("undone")),
				tx.Delete(streamerKey(2))); err != nil {
				return err
			}
			tx.RollbackTo(sp)
		}
		key := streamerKey(i)
		if _, err := tx.Get(ctx, key); err != nil {
			return err
		}
		if err := tx.LockCurrent(ctx, key, rowlock.Update, false); err != nil {
			return err
		}
		if err := tx.Set(key, []byte("streamed")); err != nil {
			return err
		}
	}
	return nil
}

func (s *streamer) judge(tx *txn.Txn, err error, where string, ended bool) {
	streamed := s.count("streamed")
	ambiguous := errors.Is(err, txn.ErrAmbiguous)
	switch {
	case ambiguous:
		s.told = "ambiguous"
		require.Contains(s.t, []int{0, streamerKeys}, streamed, "moment %d: torn", s.at)
	case err == nil:
		s.told = "committed"
		if ended {
			s.told = "committed though cancelled"
		}
		require.NotZero(s.t, tx.CommitTS())
		require.Equal(s.t, streamerKeys, streamed, "moment %d: told that it is committed", s.at)
	default:
		s.told = "cancelled in its " + where
		if s.lost == 0 {
			require.ErrorIs(s.t, err, context.Canceled, "moment %d", s.at)
		}
		require.Zero(s.t, streamed, "moment %d: told %v", s.at, err)
	}
	if streamed == 0 {
		require.Equal(s.t, streamerKeys/2, s.count("before"), "moment %d", s.at)
	}
}

// count is how many keys have the value.
func (s *streamer) count(value string) (n int) {
	tx := begin(s.t, s.store)
	it, err := tx.Scan(context.Background(), kv.Span{}, txn.ScanOptions{})
	require.NoError(s.t, err)
	for it.Next() {
		if string(it.Value()) == value {
			n++
		}
	}
	require.NoError(s.t, errors.Join(it.Err(), it.Close(), tx.Rollback(context.Background())))
	return n
}

// TestAWriteOfACancelledStatementWaitsForNobody: the statement is cancelled between a read and the
// write that streams out what came before it, which would have to wait for another's row lock.
func TestAWriteOfACancelledStatementWaitsForNobody(t *testing.T) {
	for _, reads := range []bool{false, true} {
		e := memkv.New(memkv.Options{})
		s, err := openTxn(context.Background(), e, txn.Options{StreamBytes: 1})
		require.NoError(t, err)
		holder := locking(t, s, false)
		require.NoError(t, holder.LockCurrent(context.Background(), []byte("b"), rowlock.Update,
			false))

		ctx, cancel := context.WithCancel(context.Background())
		tx := begin(t, s)
		tx.SetStatement(ctx, "UPDATE")
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		if reads {
			require.Equal(t, "1", get(t, tx, "a"))
		}
		cancel()
		require.ErrorIs(t, tx.Set([]byte("b"), []byte("1")), context.Canceled)
		require.NoError(t, tx.Rollback(context.Background()))
		require.NoError(t, holder.Rollback(context.Background()))
		require.NoError(t, s.Close())
		checkStore(t, e, "after Close")
	}
}

// TestACancelledStatementOfAStreamIsTakenBack ends the context of the second statement of a large
// transaction at each of its moments, goes back to the savepoint before it, and commits: the first
// statement, which has been streamed out or not, is there whole, and of the second nothing. Only
// when the primary could not be prewritten the transaction has failed, and nothing is there.
func TestACancelledStatementOfAStreamIsTakenBack(t *testing.T) {
	for _, c := range streamers {
		t.Run(c.name, func(t *testing.T) {
			for _, first := range []int{streamerKeys / 2, 1} {
				told := cancelEverywhere(t, func(at int64) *streamer {
					return &streamer{t: t, engine: c.open(t), hooks: c.hooks,
						serializable: c.serializable, at: at, ttl: time.Hour}
				}, func(s *streamer) bool { return s.takeBack(first) })
				require.Greater(t, told["taken back"], 5)
				if c.hooks {
					require.Equal(t, first == 1, told["failed"] > 0)
				}
			}
		})
	}
}

func (s *streamer) takeBack(firstKeys int) (ended bool) {
	t, background := s.t, context.Background()
	ctx, cancel := s.open()
	defer cancel()
	tx, err := s.store.Begin(background, txn.BeginOptions{Serializable: s.serializable})
	require.NoError(t, err)
	tx.SetStatement(background, "first")
	for i := range firstKeys {
		require.NoError(t, tx.Set(streamerKey(i), []byte("first")))
	}
	sp := tx.Savepoint()

	tx.SetStatement(ctx, "second")
	s.counting.Store(true)
	for i := 3; i < streamerKeys && err == nil; i++ {
		if i%5 == 0 {
			err = tx.Delete(streamerKey(i))
		} else {
			err = tx.Set(streamerKey(i), []byte("second"))
		}
	}
	s.counting.Store(false)
	if ended = ctx.Err() != nil; err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	tx.SetStatement(background, "third")
	tx.RollbackTo(sp)
	_, failed := tx.Get(background, streamerKey(streamerKeys))
	want := []int{firstKeys, streamerKeys/2 - (firstKeys+1)/2, 0, 1}
	s.told = "taken back"
	if failed == nil {
		require.Contains(t, scan(t, tx, kv.Span{}, txn.ScanOptions{}), "k000=first")
		require.NoError(t, tx.Set(streamerKey(streamerKeys), []byte("third")))
		require.NoError(t, tx.Commit(background))
	} else {
		s.told, want = "failed", []int{0, streamerKeys / 2, 0, 0}
		require.ErrorIs(t, tx.Commit(background), context.Canceled)
	}
	got := []int{s.count("first"), s.count("before"), s.count("second"), s.count("third")}
	require.Equal(t, want, got, "moment %d: %v", s.at, err)
	s.close()
	return ended
}
