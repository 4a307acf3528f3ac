package txn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// The tests here try every order, within a bound, in which a coordinator and resolvers that take it
// for dead can reach the engine. Between two steps of one actor any other may run. The bound is the
// number of preemptions: how often an actor is stopped that could have gone on.

// schedule runs actors one at a time. Each stops before it touches the engine.
type schedule struct {
	prefix []int // actors chosen at the first decisions; then the last one goes on
	taken  []decision

	running int // -1: no actor is scheduled, and none stops
	grant   []chan struct{}
	arrived chan bool // from the running one: true when it stopped, false when it is done
}

// decision is one choice of the next actor.
type decision struct {
	chosen, last int
	enabled      []int
}

func (d decision) preempts() bool {
	return d.chosen != d.last && slices.Contains(d.enabled, d.last)
}

// run plays the actors to their end. step is called before each move.
func (s *schedule) run(step func(who int), actors ...func()) {
	s.arrived = make(chan bool)
	// whole before the first actor starts: all of them read it
	s.grant = make([]chan struct{}, len(actors))
	var enabled []int
	for i := range actors {
		s.grant[i] = make(chan struct{})
		enabled = append(enabled, i)
	}
	for i, act := range actors {
		go func() {
			<-s.grant[i]
			act()
			s.arrived <- false
		}()
	}
	for last := -1; len(enabled) > 0; {
		d := decision{last: last, enabled: slices.Clone(enabled), chosen: enabled[0]}
		if k := len(s.taken); k < len(s.prefix) {
			d.chosen = s.prefix[k]
		} else if slices.Contains(enabled, last) {
			d.chosen = last
		}
		s.taken = append(s.taken, d)
		last = d.chosen
		step(last)
		s.running = last
		s.grant[last] <- struct{}{}
		if !<-s.arrived {
			enabled = slices.DeleteFunc(enabled, func(i int) bool { return i == last })
		}
	}
	s.running = -1
}

// stop is called by the running actor.
func (s *schedule) stop() {
	if me := s.running; me >= 0 {
		s.arrived <- true
		<-s.grant[me]
	}
}

// others returns the schedules that differ from this one after its prefix, within so many
// preemptions.
func (s *schedule) others(preemptions int) (out [][]int) {
	var chosen []int
	spent := 0
	for k, d := range s.taken {
		for _, i := range d.enabled {
			other := decision{chosen: i, last: d.last, enabled: d.enabled}
			if k < len(s.prefix) || i == d.chosen || other.preempts() && spent == preemptions {
				continue
			}
			out = append(out, append(slices.Clone(chosen), i))
		}
		if d.preempts() {
			spent++
		}
		chosen = append(chosen, d.chosen)
	}
	return out
}

// stopping is an engine before which actors stop. The oracle's own updates do not count: its mutex
// is held.
type stopping struct {
	kv.Engine
	s *schedule
}

func (e *stopping) Exclusive() bool         { return kv.IsExclusive(e.Engine) }
func (e *stopping) Group(row []byte) uint64 { return kv.GroupOf(e.Engine, row) }

func (e *stopping) Snapshot() (kv.Snapshot, error) {
	e.s.stop()
	return e.Engine.Snapshot()
}

func (e *stopping) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if row := rows[0]; row[len(row)-1] == 0x01 {
		e.s.stop()
	}
	return e.Engine.Update(ctx, rows, step)
}

type interleaving struct {
	engine memkv.Options
	opts   txn.Options
}

// interleavings are the ways to commit a and z in which they matter. On an exclusive engine the
// commit point of two phases is left out: a reader waits for it in memory, where no actor can be
// stopped.
var interleavings = map[string]interleaving{
	"async":              {memkv.Options{}, async},
	"async in groups":    {memkv.Options{Splits: [][]byte{[]byte("m")}}, async},
	"two phases, shared": {memkv.Options{Shared: true}, txn.Options{BatchKeys: 1}},
	"streaming, shared":  {memkv.Options{Shared: true}, txn.Options{BatchKeys: 1, StreamBytes: 1}},
}

// TestEveryInterleavingOfACommitAndItsResolvers tries all orders with one preemption, or
// MINIDB_PREEMPTIONS.
func TestEveryInterleavingOfACommitAndItsResolvers(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	preemptions := 1
	if v := os.Getenv("MINIDB_PREEMPTIONS"); v != "" {
		var err error
		preemptions, err = strconv.Atoi(v)
		require.NoError(t, err, "MINIDB_PREEMPTIONS")
	}
	for name, c := range interleavings {
		for _, hasty := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, hasty %v", name, hasty), func(t *testing.T) {
				verdicts, err := c.explore(preemptions, hasty)
				require.NoError(t, err)
				require.Greater(t, len(verdicts), 1, "no order made a difference")
				t.Log(verdicts)
			})
		}
	}
}

// explore tries all orders until one is wrong, and counts the verdicts.
func (c interleaving) explore(preemptions int, hasty bool) (verdicts map[string]int, err error) {
	verdicts = map[string]int{}
	for todo := [][]int{nil}; len(todo) > 0; {
		s := &schedule{prefix: todo[len(todo)-1], running: -1}
		todo = todo[:len(todo)-1]
		err := prove(func(sc *scene) {
			verdicts[sc.interleave(s, memkv.New(c.engine), c.opts,
				hasty)]++
		})
		if err != nil {
			return verdicts, fmt.Errorf("schedule %v: %w", s.prefix, err)
		}
		todo = append(todo, s.others(preemptions)...)
	}
	return verdicts, nil
}

// interleave lets a coordinator commit a and z while two resolvers read both, each beginning at
// another one, and a third writes z. When hasty, time runs so fast for them that all locks which
// they meet have expired, and memory knows nothing. What the resolvers saw must be what is there in
// the end at their timestamps, and the result that the coordinator got must be true. It returns
// that result.
func (sc *scene) interleave(s *schedule, e kv.Engine, opts txn.Options,
	hasty bool) (verdict string) {
	opts.LockTTL = time.Hour
	opts.LockWait = time.Nanosecond
	// prewrites in order, secondaries at once
	opts.CrashPoint = func(txn.CrashPoint) bool { return false }
	store := sc.open(&stopping{e, s}, opts)
	tx := sc.begin(store)
	var told error
	actors := []func(){func() {
		if told = errors.Join(tx.Set([]byte("a"), []byte("1")),
			tx.Set([]byte("z"), []byte("1"))); told == nil {
			told = tx.Commit(sc.ctx)
		}
		_ = tx.Rollback(sc.ctx)
	}}
	rival, refused := sc.begin(store), error(nil)
	actors = append(actors, func() {
		if _, refused = rival.Get(sc.ctx, []byte("z")); refused == nil {
			refused = errors.Join(rival.Set([]byte("z"), []byte("2")), rival.Commit(sc.ctx))
		}
		_ = rival.Rollback(sc.ctx)
	})
	others := make([]other, 2)
	for i, keys := range [][]string{{"a", "z"}, {"z", "a"}} {
		actors = append(actors, func() { others[i].read(sc.ctx, store, keys) })
	}
	s.run(func(who int) {
		if hasty && who > 1 { // under a writer's feet it would use up the oracle's range for ever
			sc.clock += 2 * time.Hour.Milliseconds()
			store.TakeForDead()
		}
	}, actors...)
	sc.clock += 1000 * time.Hour.Milliseconds()
	if errors.Is(told, txn.ErrAmbiguous) || errors.Is(refused, txn.ErrAmbiguous) {
		sc.fail("no answer was lost, and yet: %v, %v", told, refused)
	}
	verdict = "rolled back"
	want := map[string]string{"a": "-", "z": "-"}
	if told == nil {
		verdict = "committed"
		want["a"], want["z"] = "1", "1"
	}
	if refused == nil {
		verdict += ", and its rival committed"
		want["z"] = "2"
	}
	if told == nil && refused == nil {
		first, second := tx, rival
		if first.CommitTS() > second.CommitTS() {
			first, second = rival, tx
			want["z"] = "1"
		}
		if second.StartTS() < first.CommitTS() {
			sc.fail("a lost update: both have written z, one from %s on, the other at %s",
				second.StartTS(), first.CommitTS())
		}
	}
	for key, value := range want {
		sc.want(fmt.Sprintf("%s, when the one was told %v and the other %v", key, told, refused),
			sc.read(store, key), key+"="+value+" ")
	}
	for _, st := range others {
		sc.must(st.failed, "other")
		past := sc.beginAt(store, st.startTS)
		for key, value := range st.values {
			sc.want(key+" at "+st.startTS.String(), value, sc.get(past, key))
		}
		_ = past.Rollback(sc.ctx)
	}
	_, err := store.SettleLocks(sc.ctx)
	sc.must(err, "settle")
	snap, err := e.Snapshot()
	sc.must(err, "snapshot")
	sc.must(mvcctest.Check(sc.ctx, snap, func(problem string) { sc.fail("%s", problem) }), "check")
	return verdict
}

// resolver is a reader and what it saw. A key that stayed locked it did not see.
type other struct {
	startTS tso.Timestamp
	values  map[string]string
	failed  error
}

func (st *other) read(ctx context.Context, store *txn.Store, keys []string) {
	tx, err := store.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		st.failed = err
		return
	}
	defer func() { _ = tx.Rollback(ctx) }()
	st.startTS, st.values = tx.StartTS(), map[string]string{}
	for _, k := range keys {
		v, err := tx.Get(ctx, []byte(k))
		var locked *txn.LockedError
		switch {
		case errors.As(err, &locked):
		case err != nil:
			st.failed = err
		case v == nil:
			st.values[k] = "-"
		default:
			st.values[k] = string(v)
		}
	}
}
