package follow_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/follow"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

const observed = 7

var (
	rows     = kv.Span{Start: []byte("a/"), End: []byte("a0")}
	copies   = kv.Span{Start: []byte("m/"), End: []byte("m0")}
	frontier = []byte("frontier")
)

// crash is a function that has a process die at a crash point.
type crash = atomic.Pointer[func(p txn.CrashPoint) bool]

// site is a store with a table, and a copy of it that advances by the changes of the table alone.
type site struct {
	t     *testing.T
	e     *engine
	s     *txn.Store
	table *follow.Table
	// dies is asked at each crash point, also by what a store does by itself; nil: never
	dies  *crash
	bytes int // from which on transactions are streamed out
	// oracle is that of the processes that share the store; nil: there is one.
	oracle tso.Source
}

func newSite(t *testing.T) *site { return newSiteOn(t, memkv.New(memkv.Options{}), 4<<10) }

func newSiteOn(t *testing.T, e kv.Engine, bytes int) *site {
	x := &site{t: t, e: &engine{Engine: e}, bytes: bytes, dies: new(crash)}
	x.open()
	return x
}

// open is a process that begins on the store.
func (x *site) open() {
	tracker := follow.NewTracker()
	s, err := txn.Open(ctx, x.e, txn.Options{StreamBytes: x.bytes, Oracle: x.oracle,
		CrashPoint: func(p txn.CrashPoint) bool {
			dies := x.dies.Load()
			return dies != nil && (*dies)(p)
		}})
	require.NoError(x.t, err)
	s.OnNotified(func(id uint32, keys [][]byte) {
		if id == observed || id == 0 {
			tracker.Note(keys)
		}
	})
	x.s, x.table = s, &follow.Table{Observer: observed, Rows: rows, Tracker: tracker}
}

// at has the process die where the function holds.
func (x *site) at(dies func(p txn.CrashPoint) bool) { x.dies.Store(&dies) }

// write sets rows, or removes them with an empty value, in one transaction that notifies of each.
func (x *site) write(p txn.Protocol, changes map[string]string) error {
	t, err := x.s.Begin(ctx, txn.BeginOptions{Protocol: p})
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback(ctx) }()
	for key, value := range changes {
		k := []byte("a/" + key)
		old, err := t.Get(ctx, k)
		if err != nil {
			return err
		}
		t.Notify(k, observed, old)
		if value == "" {
			err = t.Delete(k)
		} else {
			err = t.Set(k, []byte(value))
		}
		if err != nil {
			return err
		}
	}
	return t.Commit(ctx)
}

// advance brings the copy to the present, and returns the new frontier. Each change must begin with
// what the copy has: nothing was missed, and nothing taken twice.
func (x *site) advance() (tso.Timestamp, error) {
	t, err := x.s.Begin(ctx, txn.BeginOptions{Protocol: txn.Auto})
	if err != nil {
		return 0, err
	}
	defer func() { _ = t.Rollback(ctx) }()
	var since tso.Timestamp
	if b, err := t.Get(ctx, frontier); err != nil {
		return 0, err
	} else if b != nil {
		since = tso.Timestamp(binary.BigEndian.Uint64(b))
	}
	c, err := x.table.Look(ctx, x.s, t)
	if err != nil {
		return 0, err
	}
	err = c.Each(since, func(key, old, new []byte) error {
		to := append([]byte("m/"), key[2:]...)
		have, err := t.Get(ctx, to)
		if err == nil && string(have) != string(old) {
			err = fmt.Errorf("%s is %q at the frontier %d, and changes from %q", key, have, since,
				old)
		}
		switch {
		case err != nil:
		case new == nil:
			err = t.Delete(to)
		default:
			err = t.Set(to, new)
		}
		return err
	})
	if err == nil {
		err = t.Set(frontier, binary.BigEndian.AppendUint64(nil, uint64(c.At)))
	}
	if err == nil {
		err = t.Commit(ctx)
	}
	if err != nil {
		c.PutBack()
		return 0, err
	}
	return c.At, c.Clean(ctx, x.s)
}

// same verifies that the copy is the table as it is at a timestamp. Its error is that of a read: a
// read rolls locks forward, and its process may die there.
func (x *site) same(at tso.Timestamp) error {
	table, err := x.read(rows, txn.BeginOptions{ReadOnly: true, StartTS: at})
	if err != nil {
		return err
	}
	theCopy, err := x.read(copies, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	require.Equal(x.t, table, theCopy, "at %d", at)
	return nil
}

func (x *site) read(span kv.Span, o txn.BeginOptions) (map[string]string, error) {
	t, err := x.s.Begin(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Rollback(ctx) }()
	it, err := t.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for it.Next() {
		all[string(it.Key()[2:])] = string(it.Value())
	}
	return all, errors.Join(it.Err(), it.Close())
}

// left counts notifications.
func (x *site) left() (n int) {
	require.NoError(x.t, x.s.Notifications(ctx, rows,
		func([]byte, *txn.Notification) error {
			n++
			return nil
		}))
	return n
}

// step advances, and compares.
func (x *site) step() {
	x.t.Helper()
	at, err := x.advance()
	require.NoError(x.t, err)
	require.NoError(x.t, x.same(at))
}

// TestACopyFollowsItsTable is what an advance sees of a row: what it was at the frontier, and what
// it is.
func TestACopyFollowsItsTable(t *testing.T) {
	x := newSite(t)
	for _, changes := range []map[string]string{{"1": "a", "2": "b"}, {"1": "c"}, {"1": ""},
		{"1": "d", "2": ""}, {"2": "e"}} {
		require.NoError(t, x.write(txn.Auto, changes))
	}
	x.step()
	require.Zero(t, x.left())
	require.NoError(t, x.write(txn.Auto, map[string]string{"1": "f"}))
	require.NoError(t, x.write(txn.Auto, map[string]string{"1": "d"})) // as it was
	x.step()
	require.False(t, x.table.Tracker.Pending())
}

// TestACommitInFlightIsNotMissed stops a commit in one phase behind its timestamp: what looks for
// changes above it waits for it. It has more rows than are passed on one by one, and the store has
// none of its notifications yet (follow I1).
func TestACommitInFlightIsNotMissed(t *testing.T) {
	for _, n := range []int{1, 2000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			e, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
			require.NoError(t, err)
			x := newSiteOn(t, e, 0)
			x.step()
			other, err := x.s.Begin(ctx, txn.BeginOptions{}) // no snapshot from before is used
			require.NoError(t, err)
			require.NoError(t, other.Set([]byte("z"), nil))
			require.NoError(t, other.Commit(ctx))
			many, err := x.s.Begin(ctx, txn.BeginOptions{Protocol: txn.OnePhase})
			require.NoError(t, err)
			for i := range n { // without a read, which would take a snapshot
				k := fmt.Appendf(nil, "a/%04d", i)
				many.Notify(k, observed, nil)
				require.NoError(t, many.Set(k, []byte("x")))
			}
			drawn, land := x.e.hold()
			wrote := make(chan error, 1)
			go func() { wrote <- many.Commit(ctx) }()
			<-drawn
			tx, err := x.s.Begin(ctx, txn.BeginOptions{})
			require.NoError(t, err)
			x.e.onSnapshot(land) // what is read first is read before the commit is there
			c, err := x.table.Look(ctx, x.s, tx)
			land()
			require.NoError(t, err)
			seen := 0
			require.NoError(t, c.Each(0, func(_, old, new []byte) error {
				seen++
				return nil
			}))
			require.Equal(t, n, seen)
			require.NoError(t, <-wrote)
			require.NoError(t, tx.Rollback(ctx))
			c.PutBack()
			x.step()
			require.Zero(t, x.left())
		})
	}
}

// TestACommitterThatStops is a commit in two phases that has locked its rows, or drawn its
// timestamp, and goes no further until the copy has advanced.
func TestACommitterThatStops(t *testing.T) {
	for _, point := range []txn.CrashPoint{txn.AfterPrewrite, txn.AfterCommitPoint} {
		t.Run(fmt.Sprint(point), func(t *testing.T) {
			x := newSite(t)
			require.NoError(t, x.write(txn.Auto, map[string]string{"1": "a", "2": "b", "3": "c"}))
			x.step()
			x.at(func(p txn.CrashPoint) bool {
				if p == point {
					x.dies.Store(nil)
					x.step()
				}
				return false
			})
			require.NoError(t, x.write(txn.TwoPhase,
				map[string]string{"1": "d", "2": "", "4": "e"}))
			require.Nil(t, x.dies.Load())
			x.step()
			x.step()
			require.Zero(t, x.left())
		})
	}
}

// TestNotificationsOutliveAnAdvanceThatFails: they are removed when it has committed, and not
// before (follow I4).
func TestNotificationsOutliveAnAdvanceThatFails(t *testing.T) {
	x := newSite(t)
	require.NoError(t, x.write(txn.Auto, map[string]string{"1": "a"}))
	for _, point := range []txn.CrashPoint{txn.BeforeOnePhase, txn.AfterOnePhase} {
		x.at(func(p txn.CrashPoint) bool { return p == point })
		_, err := x.advance()
		require.ErrorIs(t, err, txn.ErrAbandoned)
		x.dies.Store(nil)
		x.open()
	}
	x.step()
	require.Zero(t, x.left())
}

// TestAFailedAdvanceIsMadeUpFor by the next one of the same process, which searches no store.
func TestAFailedAdvanceIsMadeUpFor(t *testing.T) {
	x := newSite(t)
	x.step()
	require.NoError(t, x.write(txn.Auto, map[string]string{"1": "a"}))
	tx, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	c, err := x.table.Look(ctx, x.s, tx)
	require.NoError(t, err)
	require.False(t, c.Empty())
	require.NoError(t, tx.Rollback(ctx))
	c.PutBack()
	x.step()
	require.Zero(t, x.left())
}

// TestMoreChangesThanFit are not in memory, and are cleaned up.
func TestMoreChangesThanFit(t *testing.T) {
	x := newSite(t)
	x.table = x.table.Bounded(10)
	many := map[string]string{}
	for i := range 1100 {
		many[fmt.Sprintf("%04d", i)] = "x"
	}
	require.NoError(t, x.write(txn.Auto, many))
	tx, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	c, err := x.table.Look(ctx, x.s, tx)
	require.NoError(t, err)
	require.True(t, c.TooMany)
	require.NoError(t, x.write(txn.Auto, map[string]string{"0001": "newer"}))
	require.NoError(t, tx.Rollback(ctx))
	require.NoError(t, c.Clean(ctx, x.s))
	require.Equal(t, 1, x.left(), "what is above the look")
	require.True(t, x.table.Tracker.Pending())
}

// TestHistories runs random writers beside a copy that advances, in processes that die at random
// steps: it is the table at each frontier, and nothing stays pending.
func TestHistories(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			x := newSite(t)
			for process := range uint64(4) {
				x.process(seed, process)
				x.dies.Store(nil)
				x.open()
			}
			x.step()
			x.step()
			require.Zero(t, x.left())
		})
	}
}

// process runs writers and a copy until one of them dies.
func (x *site) process(seed, number uint64) {
	r := rand.New(rand.NewPCG(seed, number))
	var mu sync.Mutex
	steps, dead := 60+r.IntN(200), false
	x.at(func(txn.CrashPoint) bool {
		mu.Lock()
		defer mu.Unlock()
		steps--
		dead = dead || steps < 0
		return dead
	})
	var writers sync.WaitGroup
	for w := range uint64(3) {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(seed, number<<8+w))
			for {
				if err := x.write(protocols[r.IntN(len(protocols))],
					someChanges(r)); errors.Is(err, txn.ErrAbandoned) {
					return
				}
			}
		})
	}
	for {
		at, err := x.advance()
		var conflict *txn.WriteConflictError
		var locked *txn.LockedError
		if err == nil {
			err = x.same(at)
		} else if errors.As(err, &conflict) || errors.As(err, &locked) {
			continue
		}
		if errors.Is(err, txn.ErrAbandoned) {
			break
		}
		require.NoError(x.t, err)
	}
	writers.Wait()
}

var protocols = []txn.Protocol{txn.Auto, txn.OnePhase, txn.TwoPhase, txn.Async}

func someChanges(r *rand.Rand) map[string]string {
	changes, n := map[string]string{}, 1+r.IntN(3)
	if r.IntN(10) == 0 {
		n = 60 // is streamed out
	}
	for range n {
		value := ""
		if r.IntN(4) > 0 {
			value = fmt.Sprintf("%080d", r.IntN(3))
		}
		changes[fmt.Sprintf("%02d", r.IntN(80))] = value
	}
	return changes
}

// What another process has committed is found on a store that several share.
func TestOtherProcessesCommits(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true})
	oracle, err := tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{})
	require.NoError(t, err)
	one := &site{t: t, e: &engine{Engine: e}, bytes: 4 << 10, oracle: oracle, dies: new(crash)}
	one.open()
	other := *one
	other.open()
	one.step()
	for _, changes := range []map[string]string{{"1": "a", "2": "b"}, {"2": "", "3": "c"}} {
		require.NoError(t, other.write(txn.Auto, changes))
		one.step()
	}
	require.NoError(t, other.s.Close())
	require.NoError(t, one.s.Close())
}

// TestNothingNewerIsTaken changes a row between the timestamp of an advance and its look: the
// change is for the next one, which finds it through memory alone (follow I3).
func TestNothingNewerIsTaken(t *testing.T) {
	x := newSite(t)
	x.step()
	tx, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, x.write(txn.OnePhase, map[string]string{"1": "a"}))
	c, err := x.table.Look(ctx, x.s, tx)
	require.NoError(t, err)
	require.True(t, c.Empty())
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, c.Clean(ctx, x.s))
	x.step()
	require.Zero(t, x.left())
}
