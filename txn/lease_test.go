package txn_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// shop is an engine on which several processes, each with a store, work at one oracle. Its clock
// moves only when a test moves it, and nothing is renewed unless a test renews it.
type shop struct {
	t      testing.TB
	engine kv.Engine
	clock  atomic.Int64
	oracle *tso.Oracle
	opts   txn.Options
}

// The times of a shop: a time to live is longer than a lease, or shorter, as a test needs.
const (
	shopTTL   = time.Hour
	shopLease = time.Minute
)

func openShop(t testing.TB, groups int) *shop {
	s := &shop{t: t, engine: memkv.New(memkv.Options{Shared: true, HashGroups: groups})}
	s.clock.Store(1_000_000)
	oracle, err := tso.Open(context.Background(), s.engine, mvcc.MetaKey("oracle"),
		tso.Options{Clock: s.clock.Load})
	require.NoError(t, err)
	s.oracle = oracle
	s.opts = txn.Options{
		Oracle: oracle, LockTTL: shopTTL, Lease: shopLease, LeaseRenewal: -1,
		LockWait: 2 * time.Millisecond,
	}
	return s
}

// store opens a store that is closed with the test, unless the test does it before. The options are
// those of the shop as it changes them.
func (s *shop) store(change func(*txn.Options)) *txn.Store {
	opts := s.opts
	if change != nil {
		change(&opts)
	}
	st, err := openTxn(context.Background(), s.engine, opts)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = st.Close() })
	return st
}

func (s *shop) pass(d time.Duration) { s.clock.Add(d.Milliseconds()) }

// sessions returns the records in the store.
func (s *shop) sessions() []lease.Record {
	snap, err := s.engine.Snapshot()
	require.NoError(s.t, err)
	defer func() { _ = snap.Close() }()
	all, err := lease.All(context.Background(), snap)
	require.NoError(s.t, err)
	return all
}

func (s *shop) ids() (out []uint64) {
	for _, r := range s.sessions() {
		out = append(out, r.ID)
	}
	return out
}

// locks returns the locks in the store, by key.
func (s *shop) locks() map[string]mvcc.Lock {
	return locksOf(s.t, s.engine)
}

func locksOf(t testing.TB, e kv.Engine) map[string]mvcc.Lock {
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { _ = snap.Close() }()
	out := map[string]mvcc.Lock{}
	require.NoError(t, mvcc.Locks(context.Background(), snap, kv.Span{},
		func(key []byte, l mvcc.Lock) error {
			out[string(key)] = l
			return nil
		}))
	return out
}

// dying makes a store whose coordinators die at a crash point.
func dying(at txn.CrashPoint) func(*txn.Options) {
	return func(o *txn.Options) { o.CrashPoint = func(p txn.CrashPoint) bool { return p == at } }
}

// abandon leaves the locks of a transaction on a and z.
func abandon(t testing.TB, s *txn.Store) *txn.Txn {
	tx := begin(t, s)
	tx.SetStatement(t.Context(), "UPDATE accounts SET balance = 0")
	require.NoError(t, tx.Set([]byte("a"), []byte("new")))
	require.NoError(t, tx.Set([]byte("z"), []byte("new")))
	require.ErrorIs(t, tx.Commit(context.Background()), txn.ErrAbandoned)
	return tx
}

// lockRow takes the row lock of a key, which waits for locks in the store.
func lockRow(t testing.TB, s *txn.Store, key string) error {
	tx := begin(t, s)
	defer func() { require.NoError(t, tx.Rollback(context.Background())) }()
	return tx.LockCurrent(context.Background(), []byte(key), rowlock.Update, false)
}

func TestASessionIsInTheStoreUntilClose(t *testing.T) {
	sh := openShop(t, 0)
	a, b := sh.store(nil), sh.store(nil)
	require.NotEqual(t, a.SessionID(), b.SessionID())
	require.Equal(t, []uint64{a.SessionID(), b.SessionID()}, sh.ids())
	require.NoError(t, a.Close())
	require.Equal(t, []uint64{b.SessionID()}, sh.ids())
}

func TestAnExclusiveStoreHasASessionAndNoRecord(t *testing.T) {
	e := memkv.New(memkv.Options{})
	s, err := openTxn(context.Background(), e, txn.Options{})
	require.NoError(t, err)
	require.NotZero(t, s.SessionID())
	snap, err := e.Snapshot()
	require.NoError(t, err)
	all, err := lease.All(context.Background(), snap)
	require.NoError(t, err)
	require.Empty(t, all)
	require.NoError(t, snap.Close())
	require.NoError(t, s.Close())
}

// TestEveryLockNamesItsOwner: in two phases, with a calculated commit timestamp, and streamed.
func TestEveryLockNamesItsOwner(t *testing.T) {
	for name, opts := range map[string]txn.Options{
		"two phases": {Protocol: txn.TwoPhase, BatchKeys: 1},
		"async":      {Protocol: txn.Async, BatchKeys: 1},
		"streamed":   {Protocol: txn.TwoPhase, StreamBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			e := memkv.New(memkv.Options{})
			seen := 0
			var s *txn.Store
			look := func() {
				for key, l := range locksOf(t, e) {
					seen++
					require.Equal(t, s.SessionID(), l.Owner, key)
					if string(l.Primary) == key {
						require.Equal(t, "UPDATE t", l.Statement)
						require.EqualValues(t, 12, l.Client)
					} else {
						require.Empty(t, l.Statement, "secondaries lead to it through the primary")
						require.Zero(t, l.Client)
					}
				}
			}
			for _, at := range []txn.CrashPoint{txn.AfterPrewritePrimary, txn.AfterPrewrite,
				txn.AfterStreamed} {
				s = duringCommit(t, e, opts, at, look)
				tx := begin(t, s)
				tx.SetLocking(txn.Locking{Owner: s.RowLocks().NewOwner(12)})
				tx.SetStatement(ctx, "UPDATE t")
				for _, key := range []string{"a", "b", "c"} {
					require.NoError(t, tx.Set([]byte(key), []byte("v")))
				}
				tx.SetStatement(ctx, "SELECT 1") // writes nothing
				require.NoError(t, tx.Commit(ctx))
				require.NoError(t, s.Close())
			}
			require.GreaterOrEqual(t, seen, 2)
		})
	}
}

// TestADeadOwnersLockIsCleanedUpBeforeItsTime holds txn: I19.
func TestADeadOwnersLockIsCleanedUpBeforeItsTime(t *testing.T) {
	for name, die := range map[string]func(*shop, *txn.Store){
		"its lease is past":   func(sh *shop, _ *txn.Store) { sh.pass(shopLease) },
		"its session is over": func(_ *shop, s *txn.Store) { require.NoError(t, s.Close()) },
		"both, seen by a reader": func(sh *shop,
			s *txn.Store) {
			sh.pass(shopLease)
			_ = s.Close()
		},
	} {
		t.Run(name, func(t *testing.T) { deadOwner(t, die) })
	}
}

func deadOwner(t testing.TB, die func(*shop, *txn.Store)) {
	sh := openShop(t, 2)
	owner := sh.store(dying(txn.AfterPrewrite))
	abandon(t, owner)
	id := owner.SessionID()
	die(sh, owner)
	other := sh.store(nil)
	require.NoError(t, lockRow(t, other, "z"), "its time to live has an hour to go")
	require.NotContains(t, sh.ids(), id, "who is judged dead is so for everybody")
	commit(t, other, "a", "1", "z", "1")
	for key, l := range sh.locks() {
		require.NotEqual(t, id, l.Owner, key)
	}
}

// TestALivingOwnersLockIsRespected until its time to live is over: then it is cleaned up although
// the owner lives.
func TestALivingOwnersLockIsRespected(t *testing.T) { livingOwner(t) }

func livingOwner(t testing.TB) {
	ctx := context.Background()
	sh := openShop(t, 2)
	owner, other := sh.store(dying(txn.AfterPrewrite)), sh.store(nil)
	abandon(t, owner)
	for range 3 {
		sh.pass(shopLease - time.Second)
		require.NoError(t, owner.RenewLease(ctx))
		var locked *txn.LockedError
		require.ErrorAs(t, lockRow(t, other, "a"), &locked)
		require.Equal(t, owner.SessionID(), locked.Lock.Owner)
	}
	require.Len(t, sh.locks(), 2)
	sh.pass(shopTTL)
	require.NoError(t, owner.RenewLease(ctx))
	require.NoError(t, lockRow(t, other, "a"))
	require.NoError(t, lockRow(t, other, "z"))
	require.Empty(t, sh.locks())
	require.Contains(t, sh.ids(), owner.SessionID())
}

// TestWhoWaitsIsToldForWhat: the lock of a secondary leads to the statement through its primary.
func TestWhoWaitsIsToldForWhat(t *testing.T) {
	sh := openShop(t, 2)
	owner, other := sh.store(dying(txn.AfterPrewrite)), sh.store(nil)
	abandon(t, owner)
	for _, key := range []string{"a", "z"} {
		require.ErrorContains(t, lockRow(t, other, key), `for "UPDATE accounts SET balance = 0"`,
			key)
	}
}

// TestAStatementInALockIsBounded and is text.
func TestAStatementInALockIsBounded(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", 500):       strings.Repeat("x", mvcc.StatementMax),
		strings.Repeat("ä", 500):       strings.Repeat("ä", mvcc.StatementMax/2),
		"x" + strings.Repeat("ä", 500): "x" + strings.Repeat("ä", mvcc.StatementMax/2-1),
		"ab\xffcd":                     "ab",
		"a\uFFFDb":                     "a\uFFFDb",
		"":                             "",
	} {
		e := memkv.New(memkv.Options{})
		var got string
		s := duringCommit(t, e, txn.Options{Protocol: txn.TwoPhase}, txn.AfterPrewrite,
			func() { got = locksOf(t, e)["a"].Statement })
		tx := begin(t, s)
		tx.SetStatement(t.Context(), text)
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		require.NoError(t, tx.Commit(context.Background()))
		require.Equal(t, want, got)
		require.NoError(t, s.Close())
	}
}

// TestAPausedProcessTakesANewSession before it writes locks again, and begins transactions again.
func TestAPausedProcessTakesANewSession(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	var during map[string]mvcc.Lock
	s := sh.store(func(o *txn.Options) {
		o.CrashPoint = func(p txn.CrashPoint) bool {
			if p == txn.AfterPrewrite {
				during = sh.locks()
			}
			return false
		}
	})
	old := s.SessionID()
	running := begin(t, s)
	require.NoError(t, running.Set([]byte("a"), []byte("1")))
	sh.pass(2 * shopLease)
	require.NoError(t, running.Commit(ctx), "nobody was in its way")
	require.NotEqual(t, old, s.SessionID())
	require.Equal(t, s.SessionID(), during["a"].Owner)
	require.Equal(t, []uint64{s.SessionID()}, sh.ids())

	old = s.SessionID()
	sh.pass(2 * shopLease)
	tx := begin(t, s)
	require.NotEqual(t, old, s.SessionID(), "a transaction begins under a lease that lasts")
	require.Less(t, s.SessionID(), uint64(tx.StartTS()))
	require.NoError(t, tx.Rollback(ctx))
}

// TestATransactionWhoseLocksWereCleanedUpFailsCleanly: the process is paused between its prewrites
// and its commit point, and comes back after its lease.
func TestATransactionWhoseLocksWereCleanedUpFailsCleanly(t *testing.T) {
	for _, at := range []txn.CrashPoint{txn.AfterPrewritePrimary, txn.AfterPrewrite,
		txn.AfterCommitTS} {
		t.Run(string(at), func(t *testing.T) {
			ctx := context.Background()
			sh := openShop(t, 0)
			other := sh.store(nil)
			paused := false
			s := sh.store(func(o *txn.Options) {
				o.BatchKeys = 1
				o.CrashPoint = func(p txn.CrashPoint) bool {
					if p == at && !paused {
						paused = true
						sh.pass(2 * shopLease)
						commit(t, other, "a", "theirs")
					}
					return false
				}
			})
			tx := begin(t, s)
			require.NoError(t, tx.Set([]byte("a"), []byte("mine")))
			require.NoError(t, tx.Set([]byte("z"), []byte("mine")))
			var conflict *txn.WriteConflictError
			require.ErrorAs(t, tx.Commit(ctx), &conflict)
			reader := begin(t, other)
			require.Equal(t, []string{"a=theirs"}, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
			require.NoError(t, reader.Rollback(ctx))
			require.Empty(t, sh.locks())
		})
	}
}

// TestALongTransactionShowsThatItLives: one that streams its writes extends the primary's time to
// live for as long as its client thinks.
func TestALongTransactionShowsThatItLives(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	s := sh.store(func(o *txn.Options) { o.StreamBytes, o.LockTTL = 1, 30*time.Millisecond })
	other := sh.store(nil)
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Set([]byte("z"), []byte("1")))
	for range 5 {
		sh.pass(2 * shopLease / 3)
		require.NoError(t, s.RenewLease(ctx))
		// until its heartbeat
		for l := sh.locks()["a"]; l.Expired(sh.oracle.Now()); l = sh.locks()["a"] {
			runtime.Gosched()
		}
		reader := begin(t, other)
		require.Nil(t, get(t, reader, "z"))
		require.NoError(t, reader.Rollback(ctx))
	}
	require.NoError(t, tx.Commit(ctx))
	reader := begin(t, other)
	require.Equal(t, "1", get(t, reader, "z"))
	require.NoError(t, reader.Rollback(ctx))
}

// TestTheLeaseIsRenewedInTheBackground while the clock goes on.
func TestTheLeaseIsRenewedInTheBackground(t *testing.T) {
	sh := openShop(t, 0)
	s := sh.store(func(o *txn.Options) { o.LeaseRenewal = time.Millisecond })
	id := s.SessionID()
	for range 3 {
		sh.pass(shopLease / 2)
		at := sh.oracle.Now()
		renewed := func() bool {
			all := sh.sessions()
			return len(all) == 1 && all[0].LeaseEnd > at+tso.New(shopLease.Milliseconds()/2, 0)
		}
		for !renewed() {
			runtime.Gosched()
		}
	}
	require.Equal(t, id, s.SessionID())
}

// TestOneOfRenewalAndJudgementWins: both are updates of the record.
func TestOneOfRenewalAndJudgementWins(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Shared: true})
	end := tso.New(1000, 0)
	rec := lease.Record{ID: 7, LeaseEnd: end, Oldest: 3}
	row := [][]byte{kv.Row(lease.Key(7))}
	step := func(f func(kv.Reader, *kv.Batch) error) error { return e.Update(ctx, row, f) }
	judge := func(now tso.Timestamp) (alive bool) {
		require.NoError(t, step(func(r kv.Reader, b *kv.Batch) (err error) {
			_, alive, err = lease.CheckLiveness(ctx, r, b, 7, now)
			return err
		}))
		return alive
	}
	renew := func(now tso.Timestamp) error {
		later := rec
		later.LeaseEnd = now + end
		return step(func(r kv.Reader,
			b *kv.Batch) error {
			return lease.Renew(ctx, r, b, later, now)
		})
	}
	require.NoError(t, step(func(_ kv.Reader,
		b *kv.Batch) error {
		lease.Start(b, rec)
		return nil
	}))
	require.True(t, judge(end-1))
	require.NoError(t, renew(end-1))
	require.True(t, judge(end), "it was renewed")
	require.False(t, judge(2*end))
	require.ErrorIs(t, renew(end), lease.ErrEnded, "it was judged dead, by whatever clock")
	require.False(t, judge(0))
}

// TestAHeartbeatTakesTheNewSession: the process was paused beyond its lease, no other one met its
// locks, and the long transaction goes on under the new session, though its secondaries name the
// old one.
func TestAHeartbeatTakesTheNewSession(t *testing.T) {
	ctx := context.Background()
	sh := openShop(t, 0)
	s := sh.store(func(o *txn.Options) { o.StreamBytes, o.LockTTL = 1, 30*time.Millisecond })
	other := sh.store(nil)
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Set([]byte("z"), []byte("1")))
	sh.pass(2 * shopLease)
	for l := sh.locks()["a"]; l.Expired(sh.oracle.Now()) ||
		l.Owner != s.SessionID(); l = sh.locks()["a"] {
		runtime.Gosched()
	}
	require.NotEqual(t, s.SessionID(), sh.locks()["z"].Owner)
	reader := begin(t, other)
	require.Nil(t, get(t, reader, "z"))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, tx.Commit(ctx))
}
