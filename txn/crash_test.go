package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/txntest"
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
//	1/2    TestRandomCrashes… (here)        moments of commits in one phase, two phases, async,
//	                                        streamed in batches, with row locks, some passed on
//	                                        before the sync; of secondaries, of rollbacks, of
//	                                        readers that settle locks of coordinators that have
//	                                        ended; while syncs are held; between collections
//	3/10   TestCrashesWhileRecovering       writes of Open, of SettleLocks, of a collection, of
//	                                        Close, on what an earlier crash has left
//	1/10   TestDeathsLose…                  deaths of processes on a store that they share, which
//	       (deaths_test.go)                 goes on: at crash points, at updates, in recovery
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

// crashSeed is MINIDB_CRASH_SEED, or another one each time.
func crashSeed(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("MINIDB_CRASH_SEED"); v != "" {
		var err error
		seed, err = strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "MINIDB_CRASH_SEED")
	}
	t.Logf("MINIDB_CRASH_SEED=%d", seed)
	return seed
}

func TestRandomCrashesLoseNoAcknowledgedCommit(t *testing.T) {
	rng := rand.New(rand.NewPCG(crashSeed(t), 0))
	fs := testfs.NewCrashFS()
	generation := 0
	taken := map[string]int{}
	missing := func() string { return firstMissing(taken, crashesAmong) }
	for left := crashPoints(t) / 2; left > 0 || missing() != "" &&
		left > -crashesMore; left -= crashesEach {
		b := &bank{t: t, rng: rng, generation: generation, opts: txntest.BankOptions(rng),
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

// bank is one run of the workload on one file system.
type bank struct {
	txntest.Bank
	t          *testing.T
	rng        *rand.Rand
	generation int
	opts       txn.Options
	locks      bool // some transactions lock what they write, and go on from what is not durable
	taken      map[string]int
	turns      chan struct{} // each lets a worker do one transfer
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
	b.T, b.Name, b.Locks = b.t, fmt.Sprintf("%04d", b.generation), b.locks
	b.Store, err = openTxn(ctx, e, b.opts)
	require.NoError(b.t, err)
	before := b.Known()

	var wg sync.WaitGroup
	b.turns = make(chan struct{}, bankWorkers)
	for w := range bankWorkers {
		dice := rand.New(rand.NewPCG(b.rng.Uint64(), uint64(w)))
		wg.Go(func() { b.Work(w, dice, b.turns) })
	}
	collect := b.rng.IntN(2) == 0
	for range crashes {
		for range 1 + b.rng.IntN(2*transferSize) {
			b.turns <- struct{}{}
		}
		if collect && b.rng.IntN(4) == 0 {
			if _, err := b.Store.CollectGarbage(ctx); err != nil &&
				!errors.Is(err, txn.ErrAbandoned) {
				var locked *txn.LockedError
				require.ErrorAs(b.t, err, &locked)
			}
		}
		release := b.holdSyncs(fs)
		// What is acknowledged now must be in the clone taken after.
		acked := append(slices.Clone(before), b.Acknowledged()...)
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
	require.NoError(b.t, b.Store.Close())
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
	b.PassedOn.Store(0)
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
		"while locks were held":     !b.Store.RowLocks().Empty(),
		"while syncs were held":     held,
		"after rows were passed on": held && b.PassedOn.Load() > 0,
	} {
		if yes && b.taken != nil {
			b.taken[among]++
		}
	}
}

// verifyBank opens what a crash left and checks it, at first as it is and then collected.
func verifyBank(t *testing.T, c crash, keep bool) {
	ctx := context.Background()
	e, err := pebblekv.Open("db",
		pebblekv.Options{FS: c.fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
	require.NoError(t, err, c.what)
	s, err := openTxn(ctx, e, txn.Options{LeaveFoundLocks: keep})
	require.NoError(t, err, c.what)
	txntest.CheckBank(t, s, c.acked, c.what)
	if !keep { // the one that the workload goes on from stays as the crash left it
		_, err = s.SettleLocks(ctx)
		require.NoError(t, err, c.what)
		checkStore(t, e, c.what)
		_, err = s.CollectGarbage(ctx)
		require.NoError(t, err, c.what)
		txntest.CheckBank(t, s, c.acked, c.what)
		checkStore(t, e, c.what)
	}
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}
