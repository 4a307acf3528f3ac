package observer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// The crash test lets writers change rows of one observer, whose runs change those of a second one,
// on a crashable file system. It takes the state that a power failure would leave, at random
// moments and at chosen steps of runs and commits, starts observers on it, and waits until they
// have nothing left to do. Then the store itself says what was committed, and the log what each run
// was given (history_test.go).
//
// MINIDB_OBSERVER_CRASHES is the number of crashes, MINIDB_CRASH_SEED what they are chosen by.

const (
	crashRows    = 12
	crashWriters = 3
	crashesEach  = 5    // crashes taken of one process
	crashTurns   = 12   // transactions between two crashes, at most
	crashesAll   = 1000 // of so many there must be one of each kind
)

// The observers: what happens to a row of the first one is written into a row of the second one,
// which several rows share.
var (
	upper = observer.Target{ID: 21, Rows: kv.Span{Start: []byte("a/"), End: []byte("a0")},
		State: []byte("o21")}.Lowered(5)
	lower = observer.Target{ID: 22, Rows: kv.Span{Start: []byte("b/"), End: []byte("b0")},
		State: []byte("o22")}
	registered = []byte("registered") // the first observer is there
	writes     = kv.Span{Start: []byte("t/"), End: []byte("t0")}
)

func number(t *testing.T, name string, otherwise uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	require.NoError(t, err, name)
	return n
}

func TestCrashesLoseNoChange(t *testing.T) {
	crashes := 40
	if testing.Short() {
		crashes = 20
	}
	crashes = int(number(t, "MINIDB_OBSERVER_CRASHES", uint64(crashes)))
	seed := number(t, "MINIDB_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("MINIDB_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	taken := map[string]int{}
	var fs *testfs.CrashFS
	all := crashes >= crashesAll
	for generation := 0; crashes > 0; generation++ {
		if fs == nil || rng.IntN(3) == 0 {
			fs = testfs.NewCrashFS()
		}
		w := &world{t: t, generation: generation, opts: crashOptions(rng), taken: taken,
			dice: rand.New(rand.NewPCG(rng.Uint64(), 2))}
		left := w.live(fs, rng)
		crashes -= len(left)
		// The next process goes on from what one of the crashes has left, or from what the
		// observers have made of it.
		fs = left[len(left)-1].fs
		if rng.IntN(2) == 0 {
			fs = fs.Crash(100, rng)
		}
		for _, c := range left {
			revive(t, c, rng)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("crashes %v", taken)
	if all {
		require.Empty(t, missing(taken), "no crash was taken")
	}
}

// crashOptions varies how transactions commit.
func crashOptions(rng *rand.Rand) txn.Options {
	var clock atomic.Int64
	clock.Store(1_000_000)
	opts := txn.Options{
		Clock: func() int64 { return clock.Add(1) }, AcceptClock: true,
		Protocol: txn.Protocol(rng.IntN(4)), LockWait: 20 * time.Millisecond,
		LockTTL: time.Duration(1+rng.IntN(300)) * time.Millisecond,
	}
	if rng.IntN(2) == 0 {
		opts.BatchKeys = 1 + rng.IntN(3)
	}
	if rng.IntN(3) == 0 {
		opts.StreamBytes = 1 + rng.IntN(2000)
	}
	return opts
}

// powerFailure is what one leaves, and what had been promised by then.
type powerFailure struct {
	fs    *testfs.CrashFS
	acked []string // keys of writers' records
	what  string
}

// world is one process: a store, writers, and the workers of both observers.
type world struct {
	t          *testing.T
	generation int
	opts       txn.Options
	s          *txn.Store
	fs         *testfs.CrashFS
	taken      map[string]int
	quiet      bool // nothing fails, and no process dies

	mu      sync.Mutex
	dice    *rand.Rand
	acked   []string
	crashes []powerFailure
	armed   string // the step at which the next crash is taken
}

// Steps of runs, and of commits, at which a crash is taken.
var (
	runSteps    = []string{"looked", "function has run", "committed", "cleaned"}
	commitSteps = []string{string(txn.BeforeOnePhase), string(txn.AfterOnePhase),
		string(txn.AfterPrewrite), string(txn.AfterCommitPoint), string(txn.AfterStreamed)}
	moments = []string{"at a random moment", "while syncs were held"}
	among   = []string{"auto", "one-phase", "two-phase", "async", "streamed"}
)

// missing returns a kind of crash that was not taken, or "".
func missing(taken map[string]int) string {
	for _, kind := range slices.Concat(runSteps, commitSteps, moments, among) {
		if taken[kind] == 0 {
			return kind
		}
	}
	return ""
}

// live lets the process work, and takes crashes of it.
func (w *world) live(fs *testfs.CrashFS, rng *rand.Rand) []powerFailure {
	w.fs = fs
	at := slices.Clone(runSteps)
	if hooked := rng.IntN(2) == 0; hooked {
		at = append(at, commitSteps...)
		dying := rng.IntN(2) == 0
		w.opts.CrashPoint = func(p txn.CrashPoint) bool {
			w.step(string(p))
			return dying && w.roll(60)
		}
	}
	e := w.open()
	w.acked = w.records()
	if len(w.acked) == 0 && rng.IntN(2) == 0 {
		w.register(false)
	}
	pools := w.observe()
	var writers sync.WaitGroup
	turns := make(chan struct{}, crashWriters)
	for i := range crashWriters {
		writers.Go(func() { w.write(i, turns) })
	}
	for len(w.crashes) < crashesEach {
		w.arm(at, rng)
		for n := 1 + rng.IntN(crashTurns); n > 0 || w.waits() && n > -crashTurns; n-- {
			turns <- struct{}{}
		}
		w.register(true)
		var release func()
		if rng.IntN(3) == 0 {
			release = fs.HoldSyncs()
			for n := rng.IntN(200); n > 0; n-- {
				select {
				case turns <- struct{}{}:
				default:
				}
				runtime.Gosched()
			}
		}
		w.crash("", release != nil)
		if release != nil {
			release()
		}
	}
	close(turns)
	writers.Wait()
	for _, p := range pools {
		p.Stop()
	}
	require.NoError(w.t, w.s.Close())
	require.NoError(w.t, e.Close())
	return w.crashes
}

func (w *world) open() kv.Engine {
	e, err := pebblekv.Open("db",
		pebblekv.Options{FS: w.fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
	require.NoError(w.t, err)
	w.s, err = txn.Open(ctx, e, w.opts)
	require.NoError(w.t, err)
	return e
}

// arm chooses a step for the next crash, or none.
func (w *world) arm(at []string, rng *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = ""
	if rng.IntN(4) > 0 {
		w.armed = at[rng.IntN(len(at))]
	}
}

// waits reports whether the step for the next crash has not come.
func (w *world) waits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.armed != ""
}

// step is one that a run or a commit comes to.
func (w *world) step(name string) {
	w.mu.Lock()
	here := !w.quiet && w.armed == name && w.dice.IntN(3) == 0
	w.mu.Unlock()
	if here {
		w.crash(name, false)
	}
}

// roll reports true once in n times.
func (w *world) roll(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.quiet && w.dice.IntN(n) == 0
}

// crash takes a crash at a step, or at this moment, which the workers do not know.
func (w *world) crash(step string, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if step != "" && w.armed != step {
		return
	}
	w.armed = ""
	percent := []int{0, 0, 20, 50, 80, 100}[w.dice.IntN(6)]
	w.crashes = append(w.crashes, powerFailure{
		fs: w.fs.Crash(percent, w.dice), acked: slices.Clone(w.acked),
		what: fmt.Sprintf("%s, batches of %d, streams of %d, at %q, syncs held %v, %d%% of "+
			"unsynced data kept", w.opts.Protocol, w.opts.BatchKeys, w.opts.StreamBytes, step, held,
			percent),
	})
	switch {
	case held:
		w.taken["while syncs were held"]++
	case step == "":
		w.taken["at a random moment"]++
	default:
		w.taken[step]++
	}
	if w.opts.StreamBytes > 0 {
		w.taken["streamed"]++
	} else {
		w.taken[w.opts.Protocol.String()]++
	}
}

// register brings the first observer, before all rows or with a backfill. A writer that does not
// know of it yet fails.
func (w *world) register(backfill bool) {
	tx, err := w.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(w.t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	tx.Validate(kv.Span{Start: place, End: kv.Successor(place)})
	in, err := whereIn(ctx, tx)
	if err != nil {
		w.tolerate(err)
		return
	}
	tx.Validate(in.rows())
	value, err := tx.Get(ctx, registered)
	switch o := in.target(); {
	case err != nil || value != nil:
	case backfill:
		err = errors.Join(tx.Set(registered, []byte("backfill")), o.Backfill(tx))
	default:
		err = tx.Set(registered, []byte("at once"))
	}
	if err == nil && value == nil {
		err = tx.Commit(ctx)
	}
	w.tolerate(err)
}

// observe starts the workers of both observers.
func (w *world) observe() []*observer.Pool {
	pools := map[uint32]*observer.Pool{}
	started := make(chan struct{})
	w.s.OnNotified(func(id uint32, keys [][]byte) {
		<-started
		for of, p := range pools {
			if id == of || id == 0 {
				p.Wake(keys)
			}
		}
	})
	for _, o := range []observer.Target{upper, lower} {
		opts := observer.Options{Target: o, Workers: 2, Attempts: 2,
			Place: func(ctx context.Context) (observer.Target, error) { return w.now(ctx, o) },
			Run: func(ctx context.Context, key []byte) observer.Result {
				return w.run(ctx, &o, key)
			},
			Failed: func(key []byte, err error, _ int, _ bool) {
				if !errors.Is(err, errFunction) {
					w.tolerate(err)
				}
			}}
		pools[o.ID] = observer.Start(w.s, opts.ByHand())
	}
	close(started)
	return []*observer.Pool{pools[upper.ID], pools[lower.ID]}
}

var errFunction = errors.New("the function fails")

// run is one run of an observer on a row.
func (w *world) run(ctx context.Context, o *observer.Target, key []byte) (res observer.Result) {
	t, err := w.s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return observer.Result{Err: err, Conflict: true}
	}
	defer func() { _ = t.Rollback(context.WithoutCancel(ctx)) }()
	in := where{}
	if o.ID == upper.ID {
		if in, err = whereIn(ctx, t); err != nil {
			return observer.Result{Err: err, Conflict: true}
		}
		now := in.target()
		o = &now
	}
	c, found, err := o.Claim(ctx, t, key)
	w.step("looked")
	res = observer.Result{Found: found, At: c.At, Err: err}
	if err != nil || found != observer.Pending {
		if err == nil && c.Stale {
			res.Err = o.CleanStale(ctx, w.s, &c)
		}
		return res
	}
	if o.ID == upper.ID {
		w.checkImages(in, &c)
	}
	t.RunFor(c.Origin, c.Generation, c.Path.Then(o.ID))
	err = t.Insert(logKey(o, &c), logValue(&c))
	if err == nil && o.ID == upper.ID {
		err = w.derive(ctx, t, &c)
	}
	if err == nil && w.roll(12) {
		err = errFunction
	}
	w.step("function has run")
	if err == nil {
		err = o.Acknowledge(t, &c)
	}
	if err == nil {
		err = t.Commit(ctx)
	}
	w.step("committed")
	res.Err, res.Conflict = err, err != nil && !errors.Is(err, errFunction)
	if err == nil {
		res.Err = o.Clean(ctx, w.s, &c)
		w.step("cleaned")
	}
	return res
}

// now returns an observer as it is in the store.
func (w *world) now(ctx context.Context, o observer.Target) (observer.Target, error) {
	if o.ID != upper.ID {
		return o, nil
	}
	t, err := w.s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return o, err
	}
	in, err := whereIn(ctx, t)
	return in.target(), errors.Join(err, t.Rollback(context.WithoutCancel(ctx)))
}

// derive is what the first observer does: it changes a row of the second one.
func (w *world) derive(ctx context.Context, t *txn.Txn, c *observer.Change) error {
	key := fmt.Appendf(nil, "b/%d", c.Key[len(c.Key)-1]%4)
	old, err := t.Get(ctx, key)
	if err != nil {
		return err
	}
	t.Notify(key, lower.ID, slices.Clone(old))
	if c.Value == nil && old != nil {
		return t.Delete(key)
	}
	return t.Set(key, fmt.Appendf(nil, "%s:%d", c.Key, c.At))
}

// tolerate fails the test on an error that neither others nor deaths are the reason of.
func (w *world) tolerate(err error) {
	var (
		conflict *txn.WriteConflictError
		locked   *txn.LockedError
	)
	if err != nil && !errors.As(err, &conflict) && !errors.As(err, &locked) &&
		!errors.Is(err, txn.ErrAbandoned) && !errors.Is(err, kvtest.ErrDead) &&
		!errors.Is(err, context.Canceled) {
		w.t.Errorf("%v", err)
	}
}

// write lets a writer do one transaction in each turn.
func (w *world) write(i int, turns <-chan struct{}) {
	n := 0
	for range turns {
		n++
		w.mu.Lock()
		dice := rand.New(rand.NewPCG(w.dice.Uint64(), 3))
		w.mu.Unlock()
		if dice.IntN(25) == 0 {
			w.tolerate(w.move(ctx, dice))
			continue
		}
		key := fmt.Sprintf("t/%04d/%d/%04d", w.generation, i, n)
		committed, err := w.transact(key, dice)
		w.tolerate(err)
		if committed && err == nil {
			w.mu.Lock()
			w.acked = append(w.acked, key)
			w.mu.Unlock()
		}
	}
}

// transact changes some rows, and records what it has made of them.
func (w *world) transact(record string, dice *rand.Rand) (committed bool, err error) {
	tx, err := w.s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	schema := kv.Span{Start: registered, End: kv.Successor(registered)}
	tx.Validate(schema)
	known, err := tx.Get(ctx, registered)
	if err != nil {
		return false, err
	}
	tx.Validate(kv.Span{Start: place, End: kv.Successor(place)})
	in, err := whereIn(ctx, tx)
	if err != nil {
		return false, err
	}
	wr := &writer{tx: tx, in: in, dice: dice, name: record[2:], notifies: known != nil,
		made: map[string]string{}}
	for range 1 + dice.IntN(4) {
		if err := wr.change(); err != nil {
			return false, err
		}
		if dice.IntN(4) > 0 {
			continue
		}
		sp, made := tx.Savepoint(), maps.Clone(wr.made)
		for range 1 + dice.IntN(3) {
			if err := wr.change(); err != nil {
				return false, err
			}
		}
		if dice.IntN(2) == 0 {
			tx.RollbackTo(sp)
			wr.made = made
		}
	}
	if dice.IntN(8) == 0 {
		return false, nil
	}
	var list []string
	for key, value := range wr.made {
		list = append(list, key+"="+value)
	}
	if err := tx.Insert([]byte(record), []byte(strings.Join(list, ";"))); err != nil {
		return false, err
	}
	return true, tx.Commit(ctx)
}

// writer is a transaction that changes rows.
type writer struct {
	tx       *txn.Txn
	in       where
	dice     *rand.Rand
	name     string
	notifies bool
	n        int
	made     map[string]string
}

// change inserts, updates or deletes a row.
func (wr *writer) change() error {
	key := fmt.Appendf(nil, "%s%02d", prefix(wr.in.n), wr.dice.IntN(crashRows))
	old, err := wr.tx.Get(ctx, key)
	if err != nil {
		return err
	}
	if wr.notifies {
		wr.tx.Notify(key, upper.ID, slices.Clone(old))
	}
	if old != nil && wr.dice.IntN(3) == 0 {
		wr.made[string(key)] = "none"
		return wr.tx.Delete(key)
	}
	wr.n++
	value := fmt.Sprintf("%d|%s.%d%s", wr.in.encoding, wr.name, wr.n,
		strings.Repeat("-", 400*wr.dice.IntN(2)))
	wr.made[string(key)] = value
	if old == nil {
		return wr.tx.Insert(key, []byte(value))
	}
	return wr.tx.Set(key, []byte(value))
}

// records returns the writers' records that are there.
func (w *world) records() (keys []string) {
	for {
		tx, err := w.s.Begin(ctx, txn.BeginOptions{})
		require.NoError(w.t, err)
		keys = keys[:0]
		it, err := tx.Scan(ctx, writes, txn.ScanOptions{KeysOnly: true})
		require.NoError(w.t, err)
		for it.Next() {
			keys = append(keys, string(it.Key()))
		}
		err = errors.Join(it.Err(), it.Close(), tx.Rollback(ctx))
		if errors.Is(err, txn.ErrAbandoned) {
			continue // the process died that settled a lock for the scan
		}
		require.NoError(w.t, err)
		return keys
	}
}

// revive opens what a crash has left, lets the observers do what there is to do, and checks it.
func revive(t *testing.T, c powerFailure, rng *rand.Rand) {
	w := &world{t: t, fs: c.fs, quiet: true, dice: rand.New(rand.NewPCG(rng.Uint64(), 4))}
	e := w.open()
	w.register(true)
	w.serveAll()
	h := readHistory(t, w.s, c.what)
	h.checkRecords(c.acked)
	h.checkObservers()
	require.NoError(t, w.s.Close())
	require.NoError(t, e.Close())
}

// serveAll lets the observers do what there is to do, also on rows that were given up.
func (w *world) serveAll() {
	retryLetters(w.t, w.s)
	pools := w.observe()
	for _, p := range pools { // the first one's runs notify the second one
		idle(p)
	}
	for _, p := range pools {
		p.Stop()
	}
}

// retryLetters takes back that rows were given up.
func retryLetters(t *testing.T, s *txn.Store) {
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for _, o := range []observer.Target{upper, lower} {
		var letters []*observer.DeadLetter
		require.NoError(t, o.Letters(ctx, tx, func(l *observer.DeadLetter) error {
			letters = append(letters, l)
			return nil
		}))
		for _, l := range letters {
			found, err := o.Retry(ctx, tx, l.Key)
			require.NoError(t, err)
			require.True(t, found)
		}
	}
	require.NoError(t, tx.Commit(ctx))
}

// checkRecords holds that transactions are there as a whole, and those whose commit has returned.
func (h *history) checkRecords(acked []string) {
	by := map[string]map[tso.Timestamp]string{}
	for key, vs := range h.versions {
		by[key] = map[tso.Timestamp]string{}
		for _, v := range vs {
			by[key][v.startTS] = v.value
		}
	}
	for key, vs := range h.versions {
		if !writes.Contains([]byte(key)) {
			continue
		}
		for _, made := range strings.Split(vs[0].value, ";") {
			row, value, some := strings.Cut(made, "=")
			// What was inserted and deleted again leaves nothing.
			if is := cmp.Or(by[row][vs[0].startTS], "none"); some && is != value {
				h.t.Errorf("%s: %s has made %q of %s, which is %q", h.what, key, value, row, is)
			}
		}
	}
	for _, key := range acked {
		require.NotEmpty(h.t, h.versions[key], "%s: %s is lost", h.what, key)
	}
}

// checkObservers holds what both observers have done against what was committed.
func (h *history) checkObservers() {
	since := h.versions[string(registered)][0]
	h.fold()
	rekeyed := h.rekeyed()
	h.check(&upper, since.commitTS, func(v version) (logged, bool) {
		// What is announced has no origin.
		return logged{origin: v.commitTS}, since.value == "at once" && !rekeyed[v.startTS]
	})
	runs := map[tso.Timestamp]logged{} // of the first observer
	for row, all := range h.runs {
		if strings.HasPrefix(row, fmt.Sprintf("%d/", upper.ID)) {
			for _, r := range all {
				runs[r.at] = r
			}
		}
	}
	h.check(&lower, 0, func(v version) (logged, bool) {
		r, ran := runs[v.startTS]
		if !ran && v.kind != mvcc.KindLock {
			h.t.Errorf("%s: change at %d is of no run", h.what, v.commitTS)
		}
		r.generation++
		return r, ran
	})
}
