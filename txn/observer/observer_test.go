package observer_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

var target = observer.Target{ID: 7, Rows: kv.Span{Start: []byte("a/"), End: []byte("a0")},
	State: []byte("o7")}

// site is a store with an observer that writes down each of its runs: the changes in
// (previous, at] of a row, and the values before and after them.
type site struct {
	t     *testing.T
	s     *txn.Store
	o     observer.Target
	fail  func(ctx context.Context, key string) error // what the function does
	again func(c observer.Change)                     // after a run has committed

	starting sync.Mutex // a commit waits for a pool that starts
	wake     func(keys [][]byte)

	mu       sync.Mutex
	failures []string
}

func open(t *testing.T, e kv.Engine, opts txn.Options) *site {
	x := &site{t: t, o: target, fail: func(context.Context, string) error { return nil }}
	x.reopen(e, opts)
	return x
}

// reopen opens a store whose commits wake the pool that runs then.
func (x *site) reopen(e kv.Engine, opts txn.Options) {
	s, err := txn.Open(ctx, e, opts)
	require.NoError(x.t, err)
	s.OnNotified(func(id uint32, keys [][]byte) {
		x.starting.Lock()
		defer x.starting.Unlock()
		if x.wake != nil && (id == target.ID || id == 0) {
			x.wake(keys)
		}
	})
	x.s = s
}

func (x *site) options() observer.Options {
	return observer.Options{Target: x.o, Workers: 3, Attempts: 3, Run: x.run,
		Failed: func(key []byte, err error, attempts int, givenUp bool) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.failures = append(x.failures,
				fmt.Sprintf("%s %v %d %t", key, err, attempts, givenUp))
		}}
}

func (x *site) start() *observer.Pool { return x.startWith(x.options()) }

func (x *site) startWith(opts observer.Options) *observer.Pool {
	x.starting.Lock()
	defer x.starting.Unlock()
	p := observer.Start(x.s, opts)
	x.wake = p.Wake
	return p
}

func (x *site) run(ctx context.Context, key []byte) (res observer.Result) {
	t, err := x.s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return observer.Result{Err: err}
	}
	defer func() { _ = t.Rollback(ctx) }()
	c, found, err := x.o.Claim(ctx, t, key)
	res = observer.Result{Found: found, At: c.At, Err: err}
	if err != nil || found != observer.Pending {
		if err == nil && c.Stale {
			res.Err = x.o.CleanStale(ctx, x.s, &c)
		}
		return res
	}
	if res.Err = x.fail(ctx, string(key)); res.Err != nil {
		return res
	}
	record := fmt.Sprintf("%d %d %s>%s", c.Previous, c.At, text(c.Old), text(c.Value))
	logKey := binary.BigEndian.AppendUint64(fmt.Appendf(nil, "log/%s/", key), uint64(c.At))
	res.Err = errors.Join(t.Insert(logKey, []byte(record)), x.o.Acknowledge(t, &c))
	if res.Err == nil {
		res.Err = t.Commit(ctx)
	}
	var conflict *txn.WriteConflictError
	res.Conflict = errors.As(res.Err, &conflict)
	if res.Err == nil {
		if x.again != nil {
			x.again(c)
		}
		res.Err = x.o.Clean(ctx, x.s, &c)
	}
	return res
}

func text(v []byte) string {
	if v == nil {
		return "none"
	}
	return string(v)
}

// change sets a row, or removes it with an empty value, and returns commit_ts.
func (x *site) change(key, value string) tso.Timestamp {
	t, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(x.t, err)
	old, err := t.Get(ctx, []byte(key))
	require.NoError(x.t, err)
	t.Notify([]byte(key), target.ID, slices.Clone(old))
	if value == "" {
		require.NoError(x.t, t.Delete([]byte(key)))
	} else {
		require.NoError(x.t, t.Set([]byte(key), []byte(value)))
	}
	require.NoError(x.t, t.Commit(ctx))
	return t.CommitTS()
}

// settle waits until the pool has nothing left to do. Then no row of the observer has a
// notification but those of dead letters.
func (x *site) settle(p *observer.Pool, left int) {
	idle(p)
	require.Equal(x.t, left, x.notified(), "rows with notifications")
}

// idle waits until a pool has nothing left to do.
func idle(p *observer.Pool) {
	for ch := p.Settled(); !p.Idle(); ch = p.Settled() {
		<-ch
	}
}

// notified counts the rows with notifications.
func (x *site) notified() int {
	rows := map[string]bool{}
	require.NoError(x.t, x.s.Notifications(ctx, target.Rows,
		func(key []byte, _ *txn.Notification) error {
			rows[string(key)] = true
			return nil
		}))
	return len(rows)
}

// log returns what the observer wrote down, without timestamps.
func (x *site) log() (runs []string) {
	t, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(x.t, err)
	defer func() { require.NoError(x.t, t.Rollback(ctx)) }()
	it, err := t.Scan(ctx, kv.Span{Start: []byte("log/"), End: []byte("log0")}, txn.ScanOptions{})
	require.NoError(x.t, err)
	for it.Next() {
		var previous, at uint64
		var values string
		_, err := fmt.Sscan(string(it.Value()), &previous, &at, &values)
		require.NoError(x.t, err)
		key := it.Key()[len("log/") : len(it.Key())-9]
		runs = append(runs, string(key)+" "+values)
	}
	require.NoError(x.t, errors.Join(it.Err(), it.Close()))
	return runs
}

// state counts the keys of the observer's own state.
func (x *site) state() (n int) {
	t, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(x.t, err)
	defer func() { require.NoError(x.t, t.Rollback(ctx)) }()
	it, err := t.Scan(ctx, kv.Span{Start: target.State, End: kv.PrefixEnd(target.State)},
		txn.ScanOptions{})
	require.NoError(x.t, err)
	for it.Next() {
		n++
	}
	require.NoError(x.t, errors.Join(it.Err(), it.Close()))
	return n
}

func TestAnObserverRunsOncePerChange(t *testing.T) {
	for name, opts := range map[string]txn.Options{"one phase": {},
		"two phases": {Protocol: txn.TwoPhase}, "async": {Protocol: txn.Async},
		"streamed": {StreamBytes: 1}} {
		t.Run(name, func(t *testing.T) {
			x := open(t, memkv.New(memkv.Options{}), opts)
			p := x.start()
			x.change("a/1", "one")
			x.settle(p, 0)
			x.change("a/1", "two")
			x.settle(p, 0)
			x.change("a/1", "")
			x.settle(p, 0)
			require.Equal(t, []string{"a/1 none>one", "a/1 one>two", "a/1 two>none"}, x.log())
			require.Zero(t, x.state(), "nothing is kept of a row that is gone")
			x.change("a/1", "new")
			x.settle(p, 0)
			require.Equal(t, "a/1 none>new", x.log()[3])
			p.Stop()
			require.Empty(t, x.failures)
			require.NoError(t, x.s.Close())
		})
	}
}

func TestChangesCollapseIntoOneRun(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	x.change("a/1", "one")
	x.change("a/1", "two")
	x.change("a/1", "three")
	x.change("a/2", "one")
	x.change("a/2", "")
	p := x.start()
	x.settle(p, 0)
	p.Stop()
	require.Equal(t, []string{"a/1 none>three", "a/2 none>none"}, x.log())
	require.EqualValues(t, 2, p.Stats().Runs)
	x.change("a/1", "four") // no pool serves it
	p = x.start()
	x.settle(p, 0)
	p.Stop()
	require.Equal(t, "a/1 three>four", x.log()[1])
}

func TestARowThatFailsIsGivenUp(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	poison := true
	x.fail = func(_ context.Context, key string) error {
		x.mu.Lock()
		defer x.mu.Unlock()
		if poison && key == "a/bad" {
			return errors.New("poison")
		}
		return nil
	}
	p := x.start()
	x.change("a/bad", "one")
	x.change("a/good", "one")
	x.settle(p, 1)
	require.Equal(t, []string{"a/good none>one"}, x.log(), "others go on")
	require.Equal(t, []string{"a/bad poison 1 false", "a/bad poison 2 false",
		"a/bad poison 3 true"}, x.failures)
	letters := x.letters()
	require.Len(t, letters, 1)
	require.Equal(t, "a/bad", string(letters[0].Key))
	require.Equal(t, "poison", letters[0].Err)
	require.Equal(t, 3, letters[0].Attempts)
	x.mu.Lock()
	poison = false
	x.mu.Unlock()
	x.change("a/bad", "two")
	x.settle(p, 0)
	require.Equal(t, "a/bad none>two", x.log()[0], "a newer change supersedes it, with all before")
	require.Empty(t, x.letters())
	p.Stop()
}

func (x *site) letters() (all []*observer.DeadLetter) {
	t, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(x.t, err)
	defer func() { require.NoError(x.t, t.Rollback(ctx)) }()
	require.NoError(x.t, target.Letters(ctx, t, func(l *observer.DeadLetter) error {
		all = append(all, l)
		return nil
	}))
	return all
}

func TestADeadLetterIsRetriedOrDropped(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	x.fail = func(_ context.Context, key string) error { return errors.New("poison") }
	p := x.start()
	x.change("a/1", "one")
	x.change("a/2", "one")
	x.settle(p, 2)
	p.Stop()
	x.fail = func(_ context.Context, key string) error { return nil }
	tx, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for key, do := range map[string]func(context.Context, *txn.Txn, []byte) (bool, error){
		"a/1": target.Retry, "a/2": target.Drop} {
		found, err := do(ctx, tx, []byte(key))
		require.NoError(t, err)
		require.True(t, found)
		found, err = do(ctx, tx, []byte("a/3"))
		require.NoError(t, err)
		require.False(t, found)
	}
	require.NoError(t, tx.Commit(ctx))
	p = x.start()
	x.settle(p, 0)
	p.Stop()
	require.Equal(t, []string{"a/1 none>one"}, x.log())
	x.change("a/2", "two")
	p = x.start()
	x.settle(p, 0)
	p.Stop()
	require.Equal(t, "a/2 one>two", x.log()[1])
}

func TestABackfillRunsOnRowsThatWereThere(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	const rows = 1203
	tx, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for i := range rows {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "a/%04d", i), []byte("old")))
	}
	require.NoError(t, tx.Commit(ctx))
	tx, err = x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, target.Backfill(tx))
	require.NoError(t, tx.Commit(ctx))
	x.change("a/0007", "new")
	x.change("a/0900x", "inserted")
	p := x.start()
	x.settle(p, 0)
	p.Stop()
	runs := x.log()
	require.Len(t, runs, rows+1)
	require.Equal(t, "a/0007 none>new", runs[7], "it is new to the observer")
	require.Contains(t, runs, "a/0900x none>inserted")
	require.EqualValues(t, rows+1, p.Stats().Runs, "each row once")
	require.Equal(t, rows+1+1, x.state(), "an acknowledgement for each, and that of the backfill")
}

// TestALockIsWaitedFor is observer I4: the writer has prewritten, and what becomes of it is open.
func TestALockIsWaitedFor(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{StreamBytes: 1})
	x.change("a/1", "one")
	writer, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	writer.Notify([]byte("a/1"), target.ID, []byte("one"))
	require.NoError(t, writer.Set([]byte("a/1"), []byte("two")))
	res := x.run(ctx, []byte("a/1"))
	require.NoError(t, res.Err)
	require.Equal(t, observer.Later, res.Found)
	require.NoError(t, writer.Commit(ctx))
	res = x.run(ctx, []byte("a/1"))
	require.NoError(t, res.Err)
	require.Equal(t, observer.Pending, res.Found)
	require.Equal(t, []string{"a/1 none>two"}, x.log())
}

// TestARunThatLosesItsCleanUp is observer I3 and I5: the process ends between commit and clean-up.
func TestARunThatLosesItsCleanUp(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	x.change("a/1", "one")
	x.change("a/2", "one")
	x.change("a/2", "")
	for _, key := range []string{"a/1", "a/2"} {
		tx, err := x.s.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		c, found, err := target.Look(ctx, tx, []byte(key))
		require.NoError(t, err)
		require.Equal(t, observer.Pending, found)
		require.NoError(t, target.Acknowledge(tx, &c))
		require.NoError(t, tx.Commit(ctx))
	}
	p := x.start()
	x.settle(p, 0)
	p.Stop()
	require.Empty(t, x.log(), "what is acknowledged is not run again")
	require.Equal(t, 1, x.state(), "the acknowledgement of a/1")
}

// TestTwoRunsOfOneChange is observer I2: another process was at it.
func TestTwoRunsOfOneChange(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	x.change("a/1", "one")
	first, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	c, _, err := target.Look(ctx, first, []byte("a/1"))
	require.NoError(t, err)
	require.Equal(t, observer.Pending, x.run(ctx, []byte("a/1")).Found)
	require.NoError(t, target.Acknowledge(first, &c))
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, first.Commit(ctx), &conflict)
	require.Equal(t, []string{"a/1 none>one"}, x.log())
}
