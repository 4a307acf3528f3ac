package sqlhistory

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/tests/history"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Config is one way of making histories.
type Config struct {
	Name  string
	Level string // of all sessions; "" lets each session have its own
	// Power fails at some write, Faulty disks from some write on.
	Power, Faulty bool
	// Workload is the only one, unless it is "".
	Workload string
	// Trace, if not nil, is called for every statement.
	Trace func(string)
}

var levels = []string{"read committed", "repeatable read", "serializable"}

// Configs are the ways of the tests.
func Configs() (out []Config) {
	for _, level := range append(levels, "") {
		name := level
		if level == "" {
			name = "mixed levels"
		}
		out = append(out, Config{Name: name, Level: level},
			Config{Name: name + ", power failures", Level: level, Power: true},
			Config{Name: name + ", failing disk", Level: level, Faulty: true})
	}
	return out
}

const (
	sessions     = 4
	transactions = 9 // of each session, in each epoch
)

// run is one history in the making.
type run struct {
	config Config
	dice   *rand.Rand
	t      *history.Scheduler
	db     *minidb.DB
	// byIndexes and byRows are what findTruth reads through.
	byIndexes, byRows *minidb.Conn
	fs                *testfs.CrashFS
	faults            *testfs.FaultFS
	history           *history.History
	works             []workload
	epoch             int

	mu         sync.Mutex
	clockwork  int
	over       bool            // the epoch is
	ended      chan struct{}   // closed then
	left       *testfs.CrashFS // by the power failure
	seen       []tso.Timestamp
	cancels    map[int]context.CancelFunc
	statements map[string]sent
	effects    []effect
	claims     []claim
	ranges     []rangeRead
}

// Run makes a history, finds the truth about it, and returns it with what package history has no
// eye for in Found; the rest is for history.Check.
func Run(config Config, seed uint64) (*history.History, error) {
	r := &run{
		config: config, dice: rand.New(rand.NewPCG(seed, way(config.Name))),
		fs:         testfs.NewCrashFS(),
		history:    &history.History{Serializable: config.Level == "serializable"},
		statements: map[string]sent{},
	}
	for range 1 + r.dice.IntN(2) {
		r.works = append(r.works, workloads[r.dice.IntN(len(workloads))])
	}
	if i := slices.IndexFunc(workloads,
		func(w workload) bool { return w.name == config.Workload }); i >= 0 {
		r.works = workloads[i : i+1]
	}
	epochs := 1
	if config.Power || config.Faulty {
		epochs = 2 + r.dice.IntN(2)
	}
	for r.epoch = range epochs {
		if err := r.runEpoch(r.epoch == epochs-1); err != nil {
			return nil, fmt.Errorf("epoch %d: %w", r.epoch, err)
		}
	}
	return r.history, nil
}

// way makes histories of one seed differ between ways.
func way(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// smallSections makes most stores keep columns, of so few rows that the tables have several
// sections, and often of few of these. Half of those that keep few use the file too.
func (r *run) smallSections(file *scratch.File) func(*txn.Options) {
	rows, bytes := 1+r.dice.IntN(8), [...]int64{-1, 2 << 10, 0, 0}[r.dice.IntN(4)]
	return func(o *txn.Options) {
		o.SectionRows, o.SectionCacheBytes, o.SectionSettled = rows, bytes, -1
		if bytes == 2<<10 && rows%2 == 0 {
			o.SectionCacheBytes, o.SectionFile = 8<<10, file
		}
	}
}

// runEpoch opens the database on what the epoch before left, and lets the sessions live until they
// are done or all is over. After the last epoch the truth is found.
func (r *run) runEpoch(last bool) (err error) {
	ctx := context.Background()
	r.faults = testfs.NewFaultFS(r.fs)
	opts := []minidb.Option{
		minidb.OnEngine(func(o *pebblekv.Options) {
			o.FS, o.MemTableBytes = r.faults, 256<<10
			o.OnFailure = r.stopped(rand.New(rand.NewPCG(r.dice.Uint64(), 2)))
		}),
		minidb.CacheSize(1 << 20), minidb.GCInterval(-1),
		minidb.Logger(slog.New(slog.DiscardHandler)),
	}
	if r.dice.IntN(2) == 0 {
		opts = append(opts, minidb.CommitProtocol("two-phase"))
	}
	columns := scratch.New(scratch.Options{
		Create: func() (scratch.Handle, error) { return scratch.CreateIn("") }})
	defer func() { err = errors.Join(err, columns.Close()) }()
	opts = append(opts, minidb.OnStore(r.smallSections(columns)))
	if r.db, err = minidb.Open("db", opts...); err != nil {
		return err
	}
	r.over, r.ended = false, make(chan struct{})
	r.left, r.cancels = nil, map[int]context.CancelFunc{}
	if r.epoch == 0 {
		err = r.setup(ctx)
	} else {
		err = r.audit(ctx)
	}
	if err != nil {
		return errors.Join(err, r.db.Close())
	}
	r.t = history.NewScheduler(rand.New(rand.NewPCG(r.dice.Uint64(), 1)), 0)
	r.t.Blocked = func() int { return len(r.db.Store().RowLocks().Waits()) }
	r.t.Crowds = 4
	r.t.Run(r.lives(last))
	r.faults.Before(nil)
	if last {
		if err = r.findTruth(ctx); err == nil {
			r.resolve()
			r.check()
			err = r.audit(ctx)
		}
	}
	cerr := r.db.Close()
	if r.over {
		r.fs = r.left
		return err
	}
	return errors.Join(err, cerr)
}

// stopped is called when the log cannot be written, at which the database fails.
func (r *run) stopped(dice *rand.Rand) func(error) {
	return func(error) {
		r.crash(dice)
		r.faults.Plan(testfs.Fault{}) // so that it can be closed
	}
}

func (r *run) lives(last bool) (lives []func()) {
	dice := func(n int) *rand.Rand { return rand.New(rand.NewPCG(r.dice.Uint64(), uint64(n))) }
	for who := range sessions {
		s := &session{r: r, who: who, dice: dice(who)}
		lives = append(lives, func() { s.live(transactions) })
	}
	d := dice(sessions)
	lives = append(lives, func() { r.disturb(d) })
	if d := dice(sessions + 1); !last {
		lives = append(lives, func() { r.fail(d) })
	}
	return lives
}

func (r *run) setup(ctx context.Context) error {
	if _, err := r.db.Exec(ctx, "CREATE EXTENSION btree_gist; CREATE EXTENSION pg_trgm; "+
		"CREATE ROLE guest; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO guest; "+
		itemTypes); err != nil {
		return err
	}
	for _, t := range slices.Concat(tables, families, bookings) {
		if _, err := r.db.Exec(ctx,
			fmt.Sprintf("CREATE TABLE %s %s", t.name, t.definition)); err != nil {
			return err
		}
	}
	_, err := r.db.Exec(ctx, fmt.Sprintf("BEGIN; INSERT INTO bank SELECT i, %d, '%s' FROM "+
		"generate_series(0, %d) i; "+
		"INSERT INTO pair SELECT i, 0, '%[2]s' FROM generate_series(0, %[4]d) i; COMMIT", opening,
		firstRows, accounts-1, pairs4-1))
	return err
}

// audit is what minidb check does.
func (r *run) audit(ctx context.Context) error {
	problems, err := r.db.Check(ctx)
	for _, p := range problems {
		r.found(Disagreement, "epoch %d: %s", r.epoch, p)
	}
	return err
}

// disturb cancels statements, and makes the engine write its memory out.
func (r *run) disturb(dice *rand.Rand) {
	for !r.isOver() && r.t.Crowd() > 0 {
		for range 1 + dice.IntN(20) {
			r.t.Pass(sessions)
		}
		r.mu.Lock()
		for who := range sessions {
			if cancel := r.cancels[who]; cancel != nil && dice.IntN(4) == 0 {
				cancel()
			}
		}
		r.mu.Unlock()
		if dice.IntN(8) == 0 {
			_, _ = r.db.Exec(context.Background(), []string{"CHECKPOINT", "VACUUM"}[dice.IntN(2)])
		}
	}
}

// fail is the power's end, or the disk's.
func (r *run) fail(dice *rand.Rand) {
	at := r.t.Moved() + 20 + dice.IntN(250)
	for r.t.Moved() < at && r.t.Crowd() > 0 {
		r.t.Pass(sessions + 1)
	}
	in := 1 + dice.IntN(8)
	if r.config.Faulty {
		r.faults.Plan(testfs.Fault{At: in, DiskFull: dice.IntN(3) == 0})
		return
	}
	r.faults.Before(func(int) {
		if in--; in == 0 {
			r.crash(dice)
		}
	})
}

func (r *run) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// awaitEnd waits until the epoch is over, if the error is that of an engine that has failed: calls
// return it a moment before the engine reports it.
func (r *run) awaitEnd(err error) {
	if errors.Is(err, kv.ErrFailed) {
		<-r.ended
	}
}

// crash takes what is left on the disk, and ends the epoch. Several may call it, with the same
// dice.
func (r *run) crash(dice *rand.Rand) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	percent := []int{0, 0, 30, 70, 100}[dice.IntN(5)]
	r.over, r.left = true, r.fs.Crash(percent, dice)
	close(r.ended)
}

// cancellable returns a context that disturb may cancel.
func (r *run) cancellable(ctx context.Context, who int) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancels[who] = cancel
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.cancels, who)
		cancel()
	}
}

// tick counts one more beginning or answer.
func (r *run) tick() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clockwork++
	return r.clockwork
}

func (r *run) add(rec *history.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Records = append(r.history.Records, rec)
}

func (r *run) remember(ts tso.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, ts)
}

// somePast is a timestamp at which a transaction has read or committed lately.
func (r *run) somePast(dice *rand.Rand) tso.Timestamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) == 0 {
		return 0
	}
	return r.seen[len(r.seen)-1-dice.IntN(min(len(r.seen), 20))]
}

func (r *run) sent(who string, s sent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements[who] = s
}

func (r *run) addEffect(e effect) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.effects = append(r.effects, e)
}

// dropEffects forgets those of a transaction's writes from the n-th on, which were undone: what
// they were based on may have changed since.
func (r *run) dropEffects(rec *history.Record, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.effects = slices.DeleteFunc(r.effects,
		func(e effect) bool { return e.rec == rec && e.own >= n })
}

func (r *run) addRange(g rangeRead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ranges = append(r.ranges, g)
}

func (r *run) found(v history.Verdict, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Found = append(r.history.Found,
		history.Violation{Verdict: v, Text: fmt.Sprintf(format, args...)})
}

func (r *run) unexpected(format string, args ...any) {
	r.found(history.Unexpected, format, args...)
}
