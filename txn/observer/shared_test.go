package observer_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// On a store that several processes share each of them has workers, which run on what their own
// process has committed, and at their start on all there is, and which go on patrol. Both observers
// run in every process, so two runs of a row meet (observer I2). Processes die at the crash points
// of their own transactions, and others take their places. What the dead have left is found by a
// process that was there from the beginning.

const (
	sharedLease  = time.Minute
	sharedRounds = 6
	sharedTurns  = 8 // transactions of one process in a round
)

// process is a store of a shared engine, with its workers and a writer.
type process struct {
	*world
	engine *kvtest.Mortal
	pools  []*observer.Pool
}

// colony is the engine, and the processes on it.
type colony struct {
	t      *testing.T
	rng    *rand.Rand
	engine kv.Engine
	clock  atomic.Int64 // moves only when a test moves it
	oracle *tso.Oracle
	first  *process      // lives from the beginning to the end
	died   chan struct{} // has a value when a process died since the leases ended last
	all    []*process
	stores []*txn.Store
	acked  []string
	n      int
	deaths int
}

func TestProcessesThatDieLoseNoChange(t *testing.T) {
	seed := number(t, "MINIDB_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("MINIDB_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	rounds := int(number(t, "MINIDB_OBSERVER_CRASHES", 40))/10 + 1
	deaths := 0
	for range rounds {
		c := newColony(t, rng)
		c.run()
		deaths += c.deaths
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d processes died", deaths)
	require.NotZero(t, deaths)
}

func newColony(t *testing.T, rng *rand.Rand) *colony {
	c := &colony{t: t, rng: rng,
		engine: memkv.New(memkv.Options{Shared: true, HashGroups: rng.IntN(4), Lost: 5}),
		died:   make(chan struct{}, 1)}
	c.clock.Store(1_000_000)
	oracle, err := tso.Open(ctx, c.engine, mvcc.MetaKey("oracle"),
		tso.Options{Clock: c.clock.Load})
	require.NoError(t, err)
	c.oracle = oracle
	return c
}

// start adds a process. One that is mortal dies at some crash point.
func (c *colony) start(mortal bool) *process {
	c.n++
	p := &process{engine: kvtest.NewMortal(c.engine)}
	p.world = &world{t: c.t, generation: c.n,
		dice: rand.New(rand.NewPCG(c.rng.Uint64(), 6))}
	p.opts = txn.Options{Oracle: c.oracle, Lease: sharedLease, LeaseRenewal: -1,
		LockTTL: time.Hour, LockWait: time.Millisecond, BatchKeys: c.rng.IntN(4)}
	if c.rng.IntN(3) == 0 {
		p.opts.StreamBytes = 1 + c.rng.IntN(2000)
	}
	if mortal {
		p.opts.CrashPoint = func(txn.CrashPoint) bool {
			if p.roll(150) && p.engine.Kill() {
				select {
				case c.died <- struct{}{}:
				default:
				}
			}
			return p.engine.Dead()
		}
	} else {
		p.quiet = true
	}
	s, err := txn.Open(ctx, p.engine, p.opts)
	require.NoError(c.t, err)
	p.s = s
	c.stores = append(c.stores, s)
	return p
}

// run lets processes come, work and die, and checks what the last one makes of it.
func (c *colony) run() {
	c.first = c.start(false)
	c.first.register(c.rng.IntN(2) == 0)
	c.first.pools = c.first.observe()
	for round := range sharedRounds {
		for len(c.all) < 3 {
			p := c.start(true)
			p.pools = p.observe()
			c.all = append(c.all, p)
		}
		c.work(round)
		c.patrol()
		c.bury()
	}
	c.stop(c.all)
	c.expire()
	retryLetters(c.t, c.first.s)
	c.first.settle()
	c.first.stop()
	h := readHistory(c.t, c.first.s, "shared store")
	h.checkRecords(c.acked)
	h.checkObservers()
	for _, s := range c.stores {
		require.NoError(c.t, s.Close())
	}
}

// patrol lets some processes look for what others have left.
func (c *colony) patrol() {
	for _, p := range c.all {
		if c.rng.IntN(2) == 0 {
			for _, pool := range p.pools {
				pool.Patrol()
			}
		}
	}
}

// settle lets the pools of a process, which run already, do all that there is to do.
func (p *process) settle() {
	for again := true; again; {
		for _, pool := range p.pools {
			patrols(pool)
		}
		again = false
		for _, o := range []observer.Target{upper, lower} {
			now, err := p.now(ctx, o)
			require.NoError(p.t, err)
			for _, span := range now.Spans() {
				require.NoError(p.t, p.s.Notifications(ctx, span,
					func([]byte, *txn.Notification) error {
						again = true
						return nil
					}))
			}
		}
	}
	for _, pool := range p.pools { // what is left of rows that are gone
		patrols(pool)
	}
}

// work lets each process do some transactions, unless it dies.
func (c *colony) work(round int) {
	var writers sync.WaitGroup
	for _, p := range c.all {
		turns := make(chan struct{}, sharedTurns)
		for range sharedTurns {
			turns <- struct{}{}
		}
		close(turns)
		writers.Go(func() { p.write(round, turns) })
	}
	c.await(writers.Wait)
}

// await calls a function that waits for processes. The leases of those that die meanwhile end, for
// the living may wait for their row locks.
func (c *colony) await(wait func()) {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		case <-c.died:
			c.expire(c.living()...)
		}
	}
}

// living returns the processes of c.all that have not died.
func (c *colony) living() []*process {
	var living []*process
	for _, p := range c.all {
		if !p.engine.Dead() {
			living = append(living, p)
		}
	}
	return living
}

// bury lets the leases of the dead end, and takes them out of the colony.
func (c *colony) bury() {
	living := c.living()
	dead := slices.DeleteFunc(slices.Clone(c.all), func(p *process) bool {
		return slices.Contains(living, p)
	})
	c.all = living
	c.deaths += len(dead)
	if len(dead) > 0 {
		c.expire(living...)
	}
	c.stop(dead)
}

// stop ends the workers of some processes.
func (c *colony) stop(some []*process) {
	c.await(func() {
		for _, p := range some {
			p.stop()
		}
	})
	for _, p := range some {
		c.acked = append(c.acked, p.acked...)
	}
}

// expire lets the leases of all processes end but those of some and of the first.
func (c *colony) expire(but ...*process) {
	for range 4 {
		c.clock.Add((sharedLease / 2).Milliseconds())
		for _, p := range append(slices.Clone(but), c.first) {
			if err := p.s.RenewLease(ctx); !errors.Is(err, kvtest.ErrDead) {
				require.NoError(c.t, err)
			}
		}
	}
}

func (p *process) stop() {
	for _, pool := range p.pools {
		pool.Stop()
	}
}
