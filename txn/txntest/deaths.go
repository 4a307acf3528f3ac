package txntest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

const (
	processes   = 3
	workers     = 2  // of each process
	turnsEach   = 16 // transfers of a process in a round, at most
	deathLease  = time.Hour
	updatesMost = 120 // a process dies at one of so many updates, or at a crash point
)

// Deaths runs banks in several processes on one engine, each with a store and an engine's value of
// its own, and lets some of them die: at a crash point of a commit or a clean-up, or at any update,
// before it is sent or before its answer is back. Another process then finds what they have left,
// checks it, settles it, and collects garbage, and dies now and then while it does. open returns
// another value for the same engine, which starts empty; it must not be exclusive.
//
// There is a death at each kind of place at least once; rounds go on until there were so many.
func Deaths(t *testing.T, seed uint64, deaths int, open func() kv.Engine) {
	d := &dying{t: t, rng: rand.New(rand.NewPCG(seed, 8)), open: open, at: map[string]int{},
		fresh: make(chan struct{}, 1)}
	d.clock.Store(1_000_000)
	for d.died < deaths || d.missing() != "" {
		d.round()
		if t.Failed() {
			t.FailNow()
		}
		require.Less(t, d.n, 3*deaths+200, "no process died at %s, but at %v", d.missing(),
			d.at)
	}
	t.Logf("seed %d: %d rounds, %d processes died, at %v; %d transfers acknowledged", seed, d.n,
		d.died, d.at, len(d.acked))
}

// dying is the processes on one engine.
type dying struct {
	t     *testing.T
	rng   *rand.Rand
	open  func() kv.Engine
	clock atomic.Int64
	n     int // rounds
	acked []string
	died  int

	mu    sync.Mutex
	at    map[string]int // deaths by place
	fresh chan struct{}  // has a value when a process has died since the leases ended last
}

// reachable are the crash points at which a process must have died. On an engine that others share
// no commit is in one phase, and none is async.
var reachable = []txn.CrashPoint{
	txn.BeforePrewrite, txn.AfterPrewritePrimary, txn.AfterStreamed, txn.AfterPrewrite,
	txn.AfterCommitTS, txn.AfterCommitPoint, txn.AfterSecondaryBatch, txn.BeforeRollback,
	txn.AfterRollbackPrimary, txn.AfterStatus, txn.AfterResolve,
}

// places are all places of death, by their names.
func places() []string {
	all := []string{"an update", "an update that was applied", "recovery"}
	for _, p := range reachable {
		all = append(all, string(p))
	}
	return all
}

// missing returns a place at which no process has died, or "".
func (d *dying) missing() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range places() {
		if d.at[p] == 0 {
			return p
		}
	}
	return ""
}

// note counts a death.
func (d *dying) note(place string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at[place]++
	d.died++
	select {
	case d.fresh <- struct{}{}:
	default:
	}
}

// process is one that runs a bank, or recovers.
type process struct {
	engine *kvtest.Mortal
	bank   *Bank
	opts   txn.Options
}

// round lets processes work until they die or have nothing more to do, and another one recover.
func (d *dying) round() {
	d.n++
	ctx := context.Background()
	immortal := d.open()
	oracle, err := OpenOracle(ctx, immortal, txn.Options{Clock: d.tick})
	require.NoError(d.t, err)
	var all []*process
	var work sync.WaitGroup
	for i := range processes {
		p := &process{engine: kvtest.NewMortal(d.open()), opts: BankOptions(d.rng)}
		if p.opts.Protocol != txn.Auto {
			p.opts.Protocol = txn.TwoPhase // the others need an engine of one process
		}
		p.opts.Oracle, p.opts.Lease, p.opts.LeaseRenewal = oracle, deathLease, -1
		p.opts.CrashPoint, p.opts.Logger = nil, slog.New(slog.DiscardHandler)
		d.doom(p)
		s, err := txn.Open(ctx, p.engine, p.opts)
		if p.engine.Dead() {
			continue
		}
		require.NoError(d.t, err)
		p.bank = &Bank{T: d.t, Store: s, Name: fmt.Sprintf("%04d.%d", d.n, i),
			Locks: d.rng.IntN(3) > 0, Dead: p.engine.Dead}
		all = append(all, p)
		turns := make(chan struct{}, turnsEach)
		for range 1 + d.rng.IntN(turnsEach) {
			turns <- struct{}{}
		}
		close(turns)
		for w := range workers {
			dice := rand.New(rand.NewPCG(d.rng.Uint64(), uint64(w)))
			work.Go(func() { p.bank.Work(w, dice, turns) })
		}
	}
	d.await(work.Wait, all)
	for _, p := range all {
		d.acked = append(d.acked, p.bank.Acknowledged()...)
		p.close(d.t)
	}
	for d.rng.IntN(2) == 0 {
		d.recoverAndDie(oracle)
	}
	d.recover(immortal, oracle)
}

// close ends a process; of a dead one only this program's memory is left.
func (p *process) close(t *testing.T) {
	if err := p.bank.Store.Close(); !errors.Is(err, kvtest.ErrDead) {
		require.NoError(t, err)
	}
}

// tick is the clock: each look at it takes a millisecond, so locks expire under their owners too.
func (d *dying) tick() int64 { return d.clock.Add(1) }

// doom decides where a process dies: at a crash point, preferably one at which none has died yet,
// or at an update.
func (d *dying) doom(p *process) {
	if d.rng.IntN(3) == 0 {
		applied := d.rng.IntN(2) == 0
		p.engine.OnDeath(func() {
			if applied {
				d.note("an update that was applied")
			} else {
				d.note("an update")
			}
		})
		p.engine.KillAt(1+d.rng.IntN(updatesMost), applied)
		return
	}
	at := reachable[d.rng.IntN(len(reachable))]
	if missing := txn.CrashPoint(d.missing()); slices.Contains(reachable, missing) {
		at = missing
	}
	if at == txn.AfterStreamed {
		p.opts.StreamBytes = 1 + d.rng.IntN(400)
	}
	var passes atomic.Int64
	passes.Store(int64(1 + d.rng.IntN(4)))
	p.opts.CrashPoint = func(point txn.CrashPoint) bool {
		if point == at && passes.Add(-1) == 0 && p.engine.Kill() {
			d.note(string(at))
		}
		return p.engine.Dead()
	}
}

// await calls a function that waits for processes. The leases of those that die meanwhile end, for
// the living wait for their row locks.
func (d *dying) await(wait func(), all []*process) {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		case <-d.fresh:
			d.expire(all...)
		}
	}
}

// expire lets the leases of all processes end but those of some, unless these have died.
func (d *dying) expire(but ...*process) {
	for range 4 {
		d.clock.Add((deathLease / 2).Milliseconds())
		for _, p := range but {
			if p.engine.Dead() {
				continue
			}
			err := p.bank.Store.RenewLease(context.Background())
			if !errors.Is(err, kvtest.ErrDead) {
				require.NoError(d.t, err)
			}
		}
	}
}

// recoverAndDie lets a process begin to recover, and die at an update.
func (d *dying) recoverAndDie(oracle tso.Source) {
	d.expire()
	ctx := context.Background()
	engine := kvtest.NewMortal(d.open())
	engine.KillAt(1+d.rng.IntN(20), d.rng.IntN(2) == 0)
	s, err := txn.Open(ctx, engine, txn.Options{Oracle: oracle, Lease: deathLease,
		LeaseRenewal: -1})
	if err == nil {
		_, err = s.SettleLocks(ctx)
		if err == nil {
			_, err = s.CollectGarbage(ctx)
		}
		_ = s.Close()
	}
	if engine.Dead() {
		d.note("recovery")
		return
	}
	require.NoError(d.t, err)
}

// recover checks what the dead have left: as it is, settled, and collected.
func (d *dying) recover(engine kv.Engine, oracle tso.Source) {
	d.expire()
	ctx := context.Background()
	what := fmt.Sprintf("round %d, %d died at %v", d.n, d.died,
		slices.Sorted(maps.Keys(d.at)))
	s, err := txn.Open(ctx, engine, txn.Options{Oracle: oracle, Lease: deathLease,
		LeaseRenewal: -1})
	require.NoError(d.t, err)
	CheckBank(d.t, s, d.acked, what)
	_, err = s.SettleLocks(ctx)
	require.NoError(d.t, err, what)
	CheckStore(d.t, engine, what)
	_, err = s.CollectGarbage(ctx)
	require.NoError(d.t, err, what)
	CheckBank(d.t, s, d.acked, what)
	CheckStore(d.t, engine, what)
	require.NoError(d.t, s.Close())
}
