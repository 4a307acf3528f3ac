package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/minidb/minidb/txn/tso"
)

// Config is one way in which histories are made. Everything that it leaves open, the seed decides.
type Config struct {
	Name string
	// Memory is the engine, unless it is nil: then it is Pebble on a crashable file system.
	Memory *memkv.Options
	// Open, if not nil, opens an empty engine that is used instead of Memory.
	Open func() (kv.Engine, error)
	// StorePerCoordinator gives each coordinator a store of its own; the engine must be shared.
	StorePerCoordinator bool
	Options             txn.Options
	Serializable        bool
	// ReadCommitted gives each statement a read timestamp of its own.
	ReadCommitted bool
	// Locking is how many of four transactions lock what they write before they write it.
	Locking int
	// Dying coordinators stop at crash points. Without it prewrites run in parallel, and
	// secondaries in the background.
	Dying bool
	// Losing updates lose their answers.
	Losing bool
	// Power failures take everything that was not synced, in part. Pebble only.
	Power bool
	// Collecting runs the collector beside the rest; History lets readers read the past.
	Collecting, History bool
	// Mixed makes some transactions async, whatever the protocol of the others.
	Mixed bool
	// Trace, if not nil, is called for every update.
	Trace func(string)
}

// Configs are the ways of the tests.
func Configs() []Config {
	var out []Config
	for _, level := range []struct {
		name                        string
		serializable, readCommitted bool
		locking                     int
	}{
		{name: ""},
		{name: ", row locks", locking: 3},
		{name: ", read committed", readCommitted: true, locking: 3},
		{name: ", serializable", serializable: true, locking: 2},
	} {
		for _, c := range []Config{
			{Name: "pebble, one phase", Collecting: true, History: true},
			{Name: "pebble, one phase, power failures", Power: true, Dying: true},
			{Name: "pebble, two phases", Options: txn.Options{Protocol: txn.TwoPhase}, Dying: true,
				Collecting: true, History: true},
			{Name: "pebble, two phases, power failures",
				Options: txn.Options{Protocol: txn.TwoPhase,
					BatchKeys: 1}, Power: true, Dying: true},
			{Name: "memory, one phase, lost answers", Memory: &memkv.Options{}, Losing: true,
				Dying: true, Collecting: true},
			{Name: "memory, groups", Memory: &memkv.Options{HashGroups: 3}, Dying: true,
				Losing: true, History: true},
			{Name: "memory, groups, parallel", Memory: &memkv.Options{HashGroups: 4}, Losing: true,
				Collecting: true},
			{Name: "pebble, async commit", Options: txn.Options{Protocol: txn.Async}, Dying: true,
				Collecting: true, History: true},
			{Name: "pebble, async commit, power failures",
				Options: txn.Options{Protocol: txn.Async}, Power: true, Dying: true},
			{Name: "memory, async commit, groups, parallel", Memory: &memkv.Options{HashGroups: 3},
				Mixed: true, Losing: true, Collecting: true},
			{Name: "memory, async commit, groups", Memory: &memkv.Options{HashGroups: 3},
				Mixed: true, Dying: true, Losing: true, History: true},
			{Name: "memory, shared, groups",
				Memory:              &memkv.Options{Shared: true, HashGroups: 2, Lost: 5},
				StorePerCoordinator: true, Dying: true, Collecting: true},
			{Name: "pebble, streaming", Options: txn.Options{StreamBytes: 1, RowLocks: 1},
				Dying: true, Collecting: true, History: true},
			{Name: "pebble, streaming, power failures", Options: txn.Options{StreamBytes: 500},
				Power: true, Dying: true},
			{Name: "memory, streaming, groups, parallel", Memory: &memkv.Options{HashGroups: 3},
				Options: txn.Options{StreamBytes: 500,
					RowLocks: 1}, Losing: true, Collecting: true},
			{Name: "memory, streaming, shared",
				Memory:              &memkv.Options{Shared: true, HashGroups: 2, Lost: 5},
				StorePerCoordinator: true, Dying: true, Options: txn.Options{StreamBytes: 1},
				Collecting: true, History: true},
			{Name: "memory, shared", Memory: &memkv.Options{Shared: true},
				StorePerCoordinator: true, Dying: true, Options: txn.Options{BatchKeys: 1},
				Collecting: true, History: true},
			{Name: "memory, shared, groups, parallel",
				Memory:              &memkv.Options{Shared: true, HashGroups: 3, Lost: 5},
				StorePerCoordinator: true, Losing: true, Collecting: true, History: true},
		} {
			c.Name += level.name
			c.Serializable, c.ReadCommitted, c.Locking = level.serializable, level.readCommitted,
				level.locking
			out = append(out, c)
		}
	}
	return out
}

const (
	coordinators = 4
	transactions = 10 // of each coordinator, in each epoch
	clockStart   = 1_000_000
	rowsOfCache  = 16 // of a small row cache
)

// run is one history in the making.
type run struct {
	config  Config
	dice    *rand.Rand
	t       *Scheduler
	opts    txn.Options
	history *History
	works   []workload
	epoch   int

	mu        sync.Mutex
	clockwork int  // counts beginnings and answers
	dark      bool // the power has failed
	current   []tso.Timestamp
	seen      []tso.Timestamp
	deadUpTo  tso.Timestamp
	watched   *watched
	left      *testfs.CrashFS // by the power failure
	dead      []*txn.Store    // whose processes died with their leases
}

// Run makes a history and returns it, with the truth.
func Run(config Config, seed uint64) (*History, error) {
	dice := rand.New(rand.NewPCG(seed, 0))
	r := &run{
		config: config, dice: dice, history: &History{Serializable: config.Serializable},
		current: make([]tso.Timestamp, coordinators),
	}
	for range 1 + dice.IntN(2) {
		r.works = append(r.works, workloads[dice.IntN(len(workloads))])
	}
	if config.Open != nil {
		e, err := config.Open()
		if err != nil {
			return nil, err
		}
		return r.history, r.liveOn(e, clockStart, nil)
	}
	if config.Memory != nil {
		opts := *config.Memory
		opts.HashSeed = dice.Uint64()
		return r.history, r.liveOn(memkv.New(opts), clockStart, nil)
	}
	fs := testfs.NewCrashFS()
	clock := int64(clockStart)
	epochs := 1
	if config.Power {
		epochs = 2 + dice.IntN(2)
	}
	for r.epoch = range epochs {
		if r.epoch == epochs-1 {
			config.Power = false
		}
		e, err := pebblekv.Open("db", pebblekv.Options{
			FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20,
			Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return nil, err
		}
		r.dark, r.left = false, nil
		var power *testfs.CrashFS
		if config.Power {
			power = fs
		}
		if err := r.liveOn(e, clock, power); err != nil {
			return nil, err
		}
		if r.left != nil {
			fs = r.left
		}
		// The clock of the machine that comes back may be behind.
		clock = r.t.Now() + int64(dice.IntN(6000)) - 5000
	}
	return r.history, nil
}

// liveOn lets the coordinators live on an engine until they are done or the power fails, and closes
// it. When power is not nil, it fails at some move.
func (r *run) liveOn(e kv.Engine, clock int64, power *testfs.CrashFS) (err error) {
	r.t = NewScheduler(rand.New(rand.NewPCG(r.dice.Uint64(), 1)), clock)
	w := newWatched(e, r.t)
	r.watched = w
	w.lose, w.inStep, w.started, w.trace = r.losing(), r.inStep(), r.started, r.config.Trace
	w.untilSync = r.untilSync()
	if power != nil {
		w.syncs = &syncs{fs: power}
	}
	stores, err := r.openStores(w)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	var lives []func()
	for actor := range coordinators {
		dice := rand.New(rand.NewPCG(r.dice.Uint64(), uint64(actor)))
		lives = append(lives, func() { r.live(actor, &stores[actor], w, dice) })
	}
	for i := range stores[coordinators:] {
		dice := rand.New(rand.NewPCG(r.dice.Uint64(), uint64(coordinators+2+i)))
		lives = append(lives, func() { r.collect(stores[coordinators+i], coordinators, dice) })
	}
	if power != nil {
		dice := rand.New(rand.NewPCG(r.dice.Uint64(), coordinators+1))
		lives = append(lives, func() { r.fail(power, w.syncs, dice) })
	}
	w.oracle = stores[0].Oracle().(*tso.Oracle)
	w.calm.Store(false)
	r.t.Run(lives)
	w.calm.Store(true)
	closed := map[*txn.Store]bool{}
	for _, s := range append(stores, r.dead...) {
		if !closed[s] {
			closed[s] = true
			err = errors.Join(err, s.Close())
		}
	}
	r.history.Found = append(r.history.Found, w.mu.found...)
	if err == nil && !r.dark {
		err = r.settle(w)
	}
	return errors.Join(err, e.Close())
}

func (r *run) openStores(w *watched) ([]*txn.Store, error) {
	ctx := context.Background()
	opts := r.config.Options
	opts.Clock = r.t.Now
	opts.LockTTL = time.Duration(5+r.dice.IntN(400)) * time.Millisecond
	opts.LockWait = 3 * time.Millisecond
	opts.Logger = slog.New(slog.DiscardHandler)
	opts.RowCacheBytes = [...]int64{-1, rowsOfCache << 7, 0, 0}[r.dice.IntN(4)]
	opts.SectionCacheBytes = [...]int64{-1, sectionsOfCache, 0, 0}[r.dice.IntN(4)]
	opts.SectionRows = 1 + r.dice.IntN(3)
	if opts.BatchKeys == 0 && r.dice.IntN(2) == 0 {
		opts.BatchKeys = 1 + r.dice.IntN(2)
	}
	if r.config.Dying {
		opts.CrashPoint = r.crashPoint(rand.New(rand.NewPCG(r.dice.Uint64(), 2)))
	}
	if r.config.StorePerCoordinator || !kv.IsExclusive(w) {
		oracle, err := tso.Open(ctx, w, mvcc.MetaKey("oracle"), tso.Options{Clock: opts.Clock})
		if err != nil {
			return nil, err
		}
		opts.Oracle = oracle
	}
	r.leases(&opts)
	r.opts = opts
	r.t.letThrough(true) // no goroutine waits while stores are opened
	defer r.t.letThrough(false)
	n := coordinators
	switch {
	case r.config.Collecting && r.config.StorePerCoordinator:
		n += collectors
	case r.config.Collecting:
		n++
	}
	if !r.config.StorePerCoordinator {
		// Whatever is locked while the store is opened, and settled in its background from then on,
		// belongs to the dead.
		r.buried(math.MaxUint64)
	}
	stores := make([]*txn.Store, n)
	for i := range stores {
		if i > 0 && !r.config.StorePerCoordinator {
			stores[i] = stores[0]
			continue
		}
		s, err := txn.Open(ctx, w, opts)
		if err != nil {
			return nil, err
		}
		stores[i] = s
	}
	if !r.config.StorePerCoordinator {
		now, err := stores[0].Now(ctx)
		if err != nil {
			return nil, err
		}
		r.buried(now)
	}
	return stores, nil
}

// buried notes the start_ts up to which all transactions are dead, whatever their time to live.
func (r *run) buried(upTo tso.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadUpTo = upTo
}

// live is a coordinator's life.
func (r *run) live(actor int, s **txn.Store, w *watched, dice *rand.Rand) {
	ctx := withActor(context.Background(), actor)
	for n := range transactions {
		work := r.works[dice.IntN(len(r.works))]
		r.renew(ctx, *s, dice)
		err := r.transact(ctx, *s, actor, n, work, dice)
		switch {
		case errors.Is(err, errDark):
			return
		case err != nil && r.config.StorePerCoordinator && dice.IntN(2) == 0:
			if !r.reborn(ctx, s, w, dice) {
				return
			}
		}
		r.t.Pass(actor)
	}
}

// crashPoint lets coordinators die, and pause, at crash points.
func (r *run) crashPoint(dice *rand.Rand) func(txn.CrashPoint) bool {
	var mu sync.Mutex
	roll := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return dice.IntN(n)
	}
	return func(txn.CrashPoint) bool {
		if roll(30) == 0 {
			return true
		}
		turns := 1
		if roll(15) == 0 {
			turns = 10 + roll(80)
		}
		for range turns {
			r.t.Pass(coordinators)
		}
		return false
	}
}

func (r *run) losing() func() (lose, applied bool) {
	dice := rand.New(rand.NewPCG(r.dice.Uint64(), 3))
	var mu sync.Mutex
	return func() (bool, bool) {
		if !r.config.Losing {
			return false, false
		}
		mu.Lock()
		defer mu.Unlock()
		return dice.IntN(40) == 0, dice.IntN(2) == 0
	}
}

// inStep chooses updates that stop while they hold their latches. Only Pebble lets others go on
// then.
func (r *run) inStep() func() bool {
	dice := rand.New(rand.NewPCG(r.dice.Uint64(), 4))
	var mu sync.Mutex
	return func() bool {
		if r.config.Memory != nil {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		return dice.IntN(4) == 0
	}
}

// fail is the power's. It likes moments at which a commit is visible and not yet durable.
func (r *run) fail(fs *testfs.CrashFS, s *syncs, dice *rand.Rand) {
	at := r.t.Moved() + 20 + dice.IntN(400)
	for r.t.Moved() < at && r.t.Crowd() > 0 {
		r.t.Pass(coordinators + 1)
	}
	if dice.IntN(2) == 0 {
		for n := 100; n > 0 && !s.held() && r.t.Crowd() > 0; n-- {
			r.t.Pass(coordinators + 1)
		}
		for range dice.IntN(20) {
			r.t.Pass(coordinators + 1)
		}
	}
	percent := []int{0, 0, 30, 70, 100}[dice.IntN(5)]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dark = true
	r.left = fs.Crash(percent, dice)
}

func (r *run) report(v Verdict, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Found = append(r.history.Found, Violation{v, fmt.Sprintf(format, args...)})
}

// started returns the start_ts of a coordinator's transaction; of -1, the one up to which all
// owners of locks are dead.
func (r *run) started(actor int) tso.Timestamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case actor == -1:
		return r.deadUpTo
	case actor < coordinators:
		return r.current[actor]
	}
	return 0
}

// settle opens the engine once more, settles every lock, and takes the truth.
func (r *run) settle(w *watched) error {
	ctx := context.Background()
	later := r.t.Now() + 3_600_000
	clock := func() int64 { return later }
	oracle, err := tso.Open(ctx, w, mvcc.MetaKey("oracle"), tso.Options{Clock: clock})
	if err != nil {
		return err
	}
	s, err := txn.Open(ctx, w, txn.Options{Oracle: oracle})
	if err != nil {
		return err
	}
	if _, err := s.SettleLocks(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	snap, err := kv.Latest(w)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	var cells []mvcc.Cell
	err = mvcc.Cells(ctx, snap, func(c mvcc.Cell) error {
		cells = append(cells, c)
		if c.Column == mvcc.ColumnLock {
			r.report(Leftover, "key %q is still locked by %s", c.Key, c.Lock.StartTS)
		}
		return nil
	})
	err = errors.Join(err, mvcctest.Check(ctx, snap,
		func(problem string) { r.report(Leftover, "%s", problem) }))
	r.history.Truth = takeCells(cells)
	if r.config.Collecting {
		r.history.Truth = w.truth()
		r.compare(takeCells(cells))
	}
	return errors.Join(err, snap.Close(), s.Close())
}

// compare holds what the collector left to what was applied: the newest version of each key must
// be there, and nothing that was not applied.
func (r *run) compare(left Truth) {
	for _, k := range r.history.Truth.Keys() {
		newest := r.history.Truth.At(k, tso.Max)
		got := left.At(k, tso.Max)
		if got == nil && newest.Delete || got != nil && *got == *newest {
			continue
		}
		r.report(Leftover, "key %q: the newest version is %v, the store has %v", k, newest, got)
	}
}
