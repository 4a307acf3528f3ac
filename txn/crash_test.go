package txn_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// The crash test runs a bank on a crashable file system, takes the state that a power failure would
// leave at random moments, and opens it. Every transfer writes both accounts and, under a key of
// its own, what it moved. So every balance can be recomputed from the transfers found, and a
// transfer that is half there shows. Every transfer whose commit returned before the crash must be
// there (txn: I4), and so must every one that a reader of an account has returned (txn: I18).
//
// MINIDB_CRASH_POINTS is the number of crashes of all these tests together:
//
//	share  test                             crashes at
//	3/5    TestRandomCrashes… (here)        moments of commits in one phase, two phases, async,
//	                                        streamed in batches, with row locks, some passed on
//	                                        before the sync; of secondaries, of rollbacks, of
//	                                        readers that settle locks of coordinators that have
//	                                        ended; while syncs are held; between collections
//	3/10   TestCrashesWhileRecovering       writes of Open, of SettleLocks, of a collection, of
//	                                        Close, on what an earlier crash has left
//	1/10   TestCrashesDuringSchemaChanges   writes of the whole database's first Open, of each
//	       (package minidb)                 schema change and its backfill, of actions of foreign
//	                                        keys, of VACUUM, ANALYZE, CHECKPOINT, Close; in one
//	                                        phase and in two
//
// All count their crashes by what was going on, and fail when one of those was never hit (the last
// one from 10,000 crashes on; the others take more than their share rather than miss one). Of what
// was not synced 0, 20, 50, 80 or 100 percent are kept. Beside these, tests/crash kills real
// servers (MINIDB_KILLS), tests/history and tests/sqlhistory take power failures within histories
// (MINIDB_HISTORIES), and tests/iofault fails writes (MINIDB_IO_FAULTS).

const (
	bankAccounts = 12
	bankStart    = 1000
	bankWorkers  = 4
	crashesEach  = 10 // crashes taken of one run
	transferSize = 8  // transfers between two crashes
)

// crashPoints is how many crashes all tests take together: MINIDB_CRASH_POINTS, or a few hundred.
func crashPoints(t *testing.T) int {
	if v := os.Getenv("MINIDB_CRASH_POINTS"); v != "" {
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "MINIDB_CRASH_POINTS")
		return n
	}
	if testing.Short() {
		return 100
	}
	return 500
}

func TestRandomCrashesLoseNoAcknowledgedCommit(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("MINIDB_CRASH_SEED"); v != "" {
		var err error
		seed, err = strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "MINIDB_CRASH_SEED")
	}
	t.Logf("MINIDB_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fs := testfs.NewCrashFS()
	generation := 0
	taken := map[string]int{}
	missing := func() string { return firstMissing(taken, crashesAmong) }
	for left := crashPoints(t) * 3 / 5; left > 0 || missing() != "" &&
		left > -crashesMore; left -= crashesEach {
		b := &bank{t: t, rng: rng, generation: generation, opts: bankOptions(rng),
			locks: rng.IntN(3) > 0, taken: taken}
		crashes := b.run(fs, crashesEach)
		for i, c := range crashes {
			verifyBank(t, c, i == len(crashes)-1)
		}
		if t.Failed() {
			t.FailNow()
		}
		// Go on from what one of the crashes left, or from scratch.
		if fs = crashes[len(crashes)-1].fs; rng.IntN(4) == 0 {
			fs = testfs.NewCrashFS()
		}
		generation++
	}
	t.Logf("crashes among commits %v", taken)
	require.Empty(t, missing(), "no crash was taken")
}

// crashesMore bounds the crashes that are taken beyond their number until there was one of each
// kind.
const crashesMore = 1000

// firstMissing returns a kind of which there was none, or "".
func firstMissing(taken map[string]int, kinds []string) string {
	for _, k := range kinds {
		if taken[k] == 0 {
			return k
		}
	}
	return ""
}

// crashesAmong are the ways of the bank's runs of which each must have had crashes.
var crashesAmong = []string{
	"in one phase", "in two phases", "async", "streamed", "with row locks", "of dying coordinators",
	"while locks were held", "while syncs were held", "after rows were passed on",
}

// bankOptions varies how transactions commit.
func bankOptions(rng *rand.Rand) txn.Options {
	// Each look at the clock takes a millisecond, so locks expire under their running owners too.
	var clock atomic.Int64
	clock.Store(1_000_000)
	opts := txn.Options{
		Clock: func() int64 { return clock.Add(1) },
		// What is looked at between two runs is opened with the machine's clock.
		AcceptClock: true,
		Protocol:    txn.Protocol(rng.IntN(4)),
		LockTTL:     time.Duration(1+rng.IntN(300)) * time.Millisecond,
		LockWait:    20 * time.Millisecond,
	}
	if rng.IntN(2) == 0 {
		opts.BatchKeys = 1 + rng.IntN(3)
	}
	if rng.IntN(4) == 0 {
		opts.StreamBytes = 1 + rng.IntN(900)
	}
	if dying := rng.IntN(3) == 0; dying {
		var mu sync.Mutex
		dice := rand.New(rand.NewPCG(rng.Uint64(), 0))
		opts.CrashPoint = func(txn.CrashPoint) bool {
			mu.Lock()
			defer mu.Unlock()
			return dice.IntN(40) == 0
		}
	}
	return opts
}

// bank is one run of the workload on one file system.
type bank struct {
	t          *testing.T
	rng        *rand.Rand
	generation int
	opts       txn.Options
	locks      bool // some transactions lock what they write, and go on from what is not durable
	store      *txn.Store
	passedOn   atomic.Int64 // rows that were read anew under a lock since the syncs were held
	taken      map[string]int
	turns      chan struct{} // each lets a worker do one transfer

	acked struct {
		sync.Mutex
		transfers []string // keys of transfers whose commit has returned
	}
}

// crash is what a power failure at some moment leaves, and what had been promised by then.
type crash struct {
	fs    *testfs.CrashFS
	acked []string
	what  string
}

// run lets workers transfer and takes crashes while they do.
func (b *bank) run(fs *testfs.CrashFS, crashes int) (out []crash) {
	ctx := context.Background()
	e, err := pebblekv.Open("db",
		pebblekv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
	require.NoError(b.t, err)
	b.store, err = openTxn(ctx, e, b.opts)
	require.NoError(b.t, err)
	before := b.known()

	var wg sync.WaitGroup
	b.turns = make(chan struct{}, bankWorkers)
	for w := range bankWorkers {
		dice := rand.New(rand.NewPCG(b.rng.Uint64(), uint64(w)))
		wg.Go(func() { b.work(w, dice) })
	}
	collect := b.rng.IntN(2) == 0
	for range crashes {
		for range 1 + b.rng.IntN(2*transferSize) {
			b.turns <- struct{}{}
		}
		if collect && b.rng.IntN(4) == 0 {
			if _, err := b.store.CollectGarbage(ctx); err != nil &&
				!errors.Is(err, txn.ErrAbandoned) {
				var locked *txn.LockedError
				require.ErrorAs(b.t, err, &locked)
			}
		}
		release := b.holdSyncs(fs)
		b.acked.Lock() // what is acknowledged now must be in the clone taken after
		acked := append(slices.Clone(before), b.acked.transfers...)
		b.acked.Unlock()
		percent := []int{0, 0, 20, 50, 80, 100}[b.rng.IntN(6)]
		out = append(out, crash{
			fs: fs.Crash(percent, b.rng), acked: acked,
			what: fmt.Sprintf("%s, batches of %d, streams of %d, row locks %v, %d%% of unsynced "+
				"data kept",
				b.opts.Protocol, b.opts.BatchKeys, b.opts.StreamBytes, b.locks, percent),
		})
		b.count(release != nil)
		if release != nil {
			release()
		}
	}
	close(b.turns)
	wg.Wait()
	require.NoError(b.t, b.store.Close())
	require.NoError(b.t, e.Close())
	return out
}

// holdSyncs holds the syncs of the log now and then, and lets workers run into them: what they
// commit meanwhile is visible and not durable.
func (b *bank) holdSyncs(fs *testfs.CrashFS) (release func()) {
	if b.rng.IntN(3) > 0 {
		return nil
	}
	release = fs.HoldSyncs()
	b.passedOn.Store(0)
	for n := b.rng.IntN(300); n > 0; n-- {
		select {
		case b.turns <- struct{}{}:
		default:
		}
		runtime.Gosched()
	}
	return release
}

// count says what was going on when a crash was taken.
func (b *bank) count(held bool) {
	for among, yes := range map[string]bool{
		"in one phase":  b.opts.Protocol <= txn.OnePhase && b.opts.StreamBytes == 0,
		"in two phases": b.opts.Protocol == txn.TwoPhase && b.opts.StreamBytes == 0,
		"async":         b.opts.Protocol == txn.Async && b.opts.StreamBytes == 0,
		"streamed":      b.opts.StreamBytes > 0, "with row locks": b.locks,
		"of dying coordinators":     b.opts.CrashPoint != nil,
		"while locks were held":     !b.store.RowLocks().Empty(),
		"while syncs were held":     held,
		"after rows were passed on": held && b.passedOn.Load() > 0,
	} {
		if yes && b.taken != nil {
			b.taken[among]++
		}
	}
}

// known returns the transfers that earlier generations left.
func (b *bank) known() (keys []string) {
	tx := begin(b.t, b.store)
	for {
		keys = keys[:0]
		it, err := tx.Scan(context.Background(), transfers, txn.ScanOptions{KeysOnly: true})
		require.NoError(b.t, err)
		for it.Next() {
			keys = append(keys, string(it.Key()))
		}
		err = it.Err()
		require.NoError(b.t, it.Close())
		if errors.Is(err, txn.ErrAbandoned) {
			continue // the dice of the crash points fell while a lock was settled
		}
		require.NoError(b.t, err)
		require.NoError(b.t, tx.Rollback(context.Background()))
		return keys
	}
}

var transfers = kv.Span{Start: []byte("t/"), End: []byte("t0")}

func account(i int) []byte { return fmt.Appendf(nil, "a/%02d", i) }

func (b *bank) work(w int, dice *rand.Rand) {
	n := 0
	for range b.turns {
		n++
		key := fmt.Sprintf("t/%04d/%d/%04d", b.generation, w, n)
		var err error
		if b.locks && dice.IntN(4) == 0 {
			key, err = b.look(dice)
		} else {
			err = b.transfer(key, dice)
		}
		var (
			conflict *txn.WriteConflictError
			locked   *txn.LockedError
			deadlock *rowlock.DeadlockError
		)
		switch {
		case err == nil && key == "":
		case err == nil:
			b.acked.Lock()
			b.acked.transfers = append(b.acked.transfers, key)
			b.acked.Unlock()
		case errors.As(err, &conflict), errors.As(err, &locked), errors.As(err,
			&deadlock), errors.Is(err, txn.ErrAbandoned):
		default:
			b.t.Errorf("transfer %s: %v", key, err)
		}
	}
}

// begin begins a transaction, which locks when the bank's do so and the dice say so.
func (b *bank) begin(ctx context.Context, locks bool) (*txn.Txn, error) {
	tx, err := b.store.Begin(ctx, txn.BeginOptions{})
	if err == nil && locks {
		tx.SetLocking(txn.Locking{Writes: true, Rereads: true, Early: true})
	}
	return tx, err
}

// read returns what is in an account, as it is once it is locked.
func (b *bank) read(ctx context.Context, tx *txn.Txn, i int) ([]byte, error) {
	if tx.LocksWrites() {
		err := tx.LockCurrent(ctx, account(i), rowlock.NoKeyUpdate, false)
		var stale *txn.StaleError
		if errors.As(err, &stale) {
			b.passedOn.Add(1)
			err = tx.Advance(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return tx.Get(ctx, account(i))
}

// transfer moves an amount between two accounts, which name it as the last, and records it, padded
// now and then so that values are not always inlined.
func (b *bank) transfer(key string, dice *rand.Rand) error {
	ctx := context.Background()
	tx, err := b.begin(ctx, b.locks && dice.IntN(3) > 0)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	from := dice.IntN(bankAccounts)
	to := (from + 1 + dice.IntN(bankAccounts-1)) % bankAccounts
	amount := 1 + dice.IntN(20)
	for i, sign := range map[int]int{from: -1, to: 1} {
		v, err := b.read(ctx, tx, i)
		if err != nil {
			return err
		}
		tx.Notify(account(i), bankObserver, v)
		if err := tx.Set(account(i),
			fmt.Appendf(nil, "%d %s", balanceOf(v)+sign*amount, key)); err != nil {
			return err
		}
	}
	record := fmt.Sprintf("%d %d %d %s", from, to, amount, strings.Repeat("x", 400*dice.IntN(2)))
	if err := tx.Insert([]byte(key), []byte(record)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// look returns the last transfer of an account, if there is one.
func (b *bank) look(dice *rand.Rand) (transfer string, err error) {
	ctx := context.Background()
	tx, err := b.begin(ctx, true)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	v, err := b.read(ctx, tx, dice.IntN(bankAccounts))
	if err != nil {
		return "", err
	}
	_, transfer, _ = strings.Cut(string(v), " ")
	return transfer, tx.Commit(ctx)
}

// balanceOf reads a balance; an account that was never written has the starting one.
func balanceOf(v []byte) int {
	if v == nil {
		return bankStart
	}
	balance, _, _ := strings.Cut(string(v), " ")
	n, _ := strconv.Atoi(balance)
	return n
}

// verifyBank opens what a crash left and checks it, at first as it is and then collected.
func verifyBank(t *testing.T, c crash, keep bool) {
	ctx := context.Background()
	e, err := pebblekv.Open("db",
		pebblekv.Options{FS: c.fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
	require.NoError(t, err, c.what)
	s, err := openTxn(ctx, e, txn.Options{LeaveFoundLocks: keep})
	require.NoError(t, err, c.what)
	checkBank(t, s, c)
	if !keep { // the one that the workload goes on from stays as the crash left it
		_, err = s.SettleLocks(ctx)
		require.NoError(t, err, c.what)
		checkStore(t, e, c.what)
		_, err = s.CollectGarbage(ctx)
		require.NoError(t, err, c.what)
		checkBank(t, s, c)
		checkStore(t, e, c.what)
	}
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}

// checkStore holds a store without running transactions to mvcc's invariants, and to having no
// locks.
func checkStore(t testing.TB, e kv.Engine, what string) {
	ctx := context.Background()
	snap, err := e.Snapshot()
	require.NoError(t, err)
	require.NoError(t, mvcctest.Check(ctx, snap,
		func(problem string) { t.Errorf("%s: %s", what, problem) }))
	require.NoError(t, mvcc.Locks(ctx, snap, kv.Span{}, func(key []byte, l mvcc.Lock) error {
		return fmt.Errorf("%s: lock on %q of %s", what, key, l.StartTS)
	}))
	require.NoError(t, snap.Close())
}

func checkBank(t *testing.T, s *txn.Store, c crash) {
	tx := begin(t, s)
	want := make([]int, bankAccounts)
	for i := range want {
		want[i] = bankStart
	}
	found := map[string]bool{}
	moved := make([][]string, bankAccounts) // what has written each account
	it, err := tx.Scan(context.Background(), transfers, txn.ScanOptions{})
	require.NoError(t, err)
	for it.Next() {
		found[string(it.Key())] = true
		var from, to, amount int
		_, err := fmt.Sscan(string(it.Value()), &from, &to, &amount)
		require.NoError(t, err)
		want[from] -= amount
		want[to] += amount
		moved[from] = append(moved[from], string(it.Key()))
		moved[to] = append(moved[to], string(it.Key()))
	}
	require.NoError(t, it.Err(), c.what)
	require.NoError(t, it.Close())
	for _, key := range c.acked {
		if !found[key] {
			t.Errorf("%s: acknowledged transfer %s is lost", c.what, key)
		}
	}
	for i := range want {
		v, err := tx.Get(context.Background(), account(i))
		require.NoError(t, err)
		if got := balanceOf(v); got != want[i] {
			t.Errorf("%s: account %d has %d, its transfers make %d", c.what, i, got, want[i])
		}
		checkNotified(t, tx, i, v, moved[i], c)
	}
	require.NoError(t, tx.Rollback(context.Background()))
}

// bankObserver is notified of each transfer, and acknowledges none.
const bankObserver = 7

// checkNotified holds that each transfer of an account has left one notification, with the balance
// before it, in the order of the commits. v is the balance now.
func checkNotified(t *testing.T, tx *txn.Txn, i int, v []byte, moved []string, c crash) {
	all, settled, err := tx.NotificationsOf(context.Background(), account(i), bankObserver)
	require.NoError(t, err, c.what)
	require.True(t, settled, c.what)
	slices.SortFunc(all, func(a, b txn.Notification) int {
		return cmp.Compare(a.CommitTS, b.CommitTS)
	})
	var seen []string
	for k, n := range all {
		require.Equal(t, k > 0, n.HasOld, "%s: account %d: only the first had no value", c.what, i)
		if n.HasOld {
			_, transfer, _ := strings.Cut(string(n.Old), " ")
			seen = append(seen, transfer)
		}
	}
	if _, last, written := strings.Cut(string(v), " "); written {
		seen = append(seen, last)
	}
	slices.Sort(seen)
	slices.Sort(moved)
	require.Equal(t, moved, seen, "%s: account %d", c.what, i)
}
