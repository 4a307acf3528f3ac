package txn_test

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// I2: what is answered rests on durable commits, and a commit whose result is unknown is waited
// for.
var doubtClauses = []clause{
	{"I2", "a reader of a secondary waits until the commit point is durable",
		secondaryAwaitsTheSync},
	{"I2", "a write conflict is reported once the other write is durable", conflictAwaitsTheSync},
	{"I2", "readers wait for a commit whose result was lost", lateCommitIsAwaited},
	{"I2 I12", "a prewrite whose result was lost waits for no row lock", doubtWaitsForNoRowLock},
}

// held is an engine on which durable updates are visible, and return when they are let go.
type held struct {
	kv.Engine
	hold    atomic.Bool
	release chan struct{}
	once    sync.Once
	waiting atomic.Int64

	before func(rows [][]byte) // comes once before a lazy update while hold is set
}

func newHeld(e kv.Engine) *held { return &held{Engine: e, release: make(chan struct{})} }

func (e *held) Exclusive() bool { return kv.IsExclusive(e.Engine) }

func (e *held) Group(row []byte) uint64 { return kv.GroupOf(e.Engine, row) }

func (e *held) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	err := e.Engine.Update(ctx, rows, step)
	if err == nil && e.hold.Load() {
		e.waiting.Add(1)
		<-e.release
	}
	return err
}

func (e *held) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	if before := e.before; e.hold.Load() && before != nil {
		e.before = nil
		before(rows)
	}
	return kv.UpdateLazy(ctx, e.Engine, rows, step)
}

func (e *held) letGo() { e.once.Do(func() { close(e.release) }) }

// awaitHeld waits until so many updates are held, or what should be one of them is over.
func (sc *scene) awaitHeld(e *held, n int64, over <-chan string) {
	for e.waiting.Load() < n {
		select {
		case what := <-over:
			sc.fail("before the commit point was durable: %s", what)
		default:
			runtime.Gosched()
		}
	}
}

// secondaryAwaitsTheSync: the commit point is visible, and its sync takes a while. The secondary is
// in another group, or the commit point would take it along.
func secondaryAwaitsTheSync(sc *scene) {
	e := newHeld(sharedSplit())
	defer e.letGo()
	s := sc.open(e, txn.Options{})
	tx, reader := sc.writer(s, "a", "1", "z", "1"), sc.begin(s)
	sc.must(reader.Rollback(sc.ctx), "rollback")
	e.hold.Store(true)
	committed, read := make(chan string, 1), make(chan string, 1)
	go func() {
		if err := tx.Commit(sc.ctx); err != nil {
			committed <- err.Error()
		}
		close(committed)
	}()
	sc.awaitHeld(e, 1, committed)
	reader = sc.begin(s)
	go func() {
		v, err := reader.Get(sc.ctx, []byte("z"))
		if err != nil {
			read <- err.Error()
		}
		read <- "z=" + string(v)
	}()
	sc.awaitHeld(e, 2, read)
	e.letGo()
	sc.want("commit", <-committed, "")
	sc.want("the reader", <-read, "z=1")
}

// looking is a context that notices when a goroutine is about to wait for its end.
type looking struct {
	context.Context
	done func()
}

func (c looking) Done() <-chan struct{} {
	c.done()
	return c.Context.Done()
}

// conflictAwaitsTheSync: the holder of a row's lock commits, in one phase, while another
// transaction checks whether waiting for the lock is of any use.
func conflictAwaitsTheSync(sc *scene) {
	base := single()
	dead := sc.open(base, txn.Options{Protocol: txn.TwoPhase,
		CrashPoint: func(p txn.CrashPoint) bool { return p == txn.AfterPrewrite }})
	_ = sc.writer(dead, "other", "1").Commit(sc.ctx)
	e := newHeld(base)
	defer e.letGo()
	// while there is a lock, readers look in the store
	s := sc.open(e, txn.Options{LeaveFoundLocks: true})
	late, holder := sc.lockHolder(s, false), sc.lockHolder(s, false)
	sc.must(sc.nowait(holder, "k", rowlock.Update), "lock")
	sc.set(holder, "k", "1")
	e.hold.Store(true)
	committed := make(chan string, 1)
	e.before = func([][]byte) {
		go func() {
			if err := holder.Commit(sc.ctx); err != nil {
				committed <- err.Error()
			}
			close(committed)
		}()
		sc.awaitHeld(e, 1, committed)
	}
	var awaited atomic.Bool
	ctx := looking{sc.ctx, func() {
		if e.waiting.Load() > 0 {
			awaited.Store(true)
			e.letGo()
		}
	}}
	wantError[*txn.WriteConflictError](sc, "lock",
		late.LockCurrent(ctx, []byte("k"), rowlock.Update, false))
	sc.want("waited for the sync", awaited.Load(), true)
	sc.want("commit", <-committed, "")
}

// lateCommitIsAwaited: the answer of a commit in one phase is lost, and its batch lands when the
// coordinator asks for it. A reader comes in between, above its commit_ts.
func lateCommitIsAwaited(sc *scene) {
	f := kvtest.NewFault(single())
	e := &asked{Engine: f}
	s := sc.open(e, txn.Options{})
	sc.commit(s, "k", "0")
	tx := sc.writer(s, "k", "1")
	f.Plan(kvtest.FaultPlan{At: 1, Late: true})
	read, answered := make(chan string, 2), make(chan struct{})
	e.at = func() { // the coordinator asks
		reader := sc.begin(s)
		waits := make(chan struct{})
		var once sync.Once
		ctx := looking{sc.ctx, func() { once.Do(func() { close(waits) }) }}
		go func() {
			defer close(answered)
			for range 2 {
				v, err := reader.Get(ctx, []byte("k"))
				read <- string(v)
				if err != nil {
					return
				}
				reader.Idle()
			}
		}()
		select {
		case <-waits:
		case <-answered:
		}
	}
	sc.must(tx.Commit(sc.ctx), "commit")
	<-answered // and no other goroutine uses the reader any more
	sc.want("the reader", <-read, "1")
	sc.want("the reader, again", <-read, "1")
}

// asked calls a function before the second update of a key.
type asked struct {
	kv.Engine
	n  int
	at func()
}

func (e *asked) Exclusive() bool { return true }

func (e *asked) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if e.at != nil && bytes.Equal(rows[0], mvcc.Row([]byte("k"))) {
		if e.n++; e.n == 2 {
			at := e.at
			e.at = nil
			at()
		}
	}
	return e.Engine.Update(ctx, rows, step)
}

// repeated is an engine that calls a function before an update of the row "a" that repeats one.
type repeated struct {
	*kvtest.Fault
	n      int
	before func()
}

func (e *repeated) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	e.count(rows)
	return e.Fault.Update(ctx, rows, step)
}

func (e *repeated) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	e.count(rows)
	return e.Fault.UpdateLazy(ctx, rows, step)
}

func (e *repeated) count(rows [][]byte) {
	if e.before != nil && bytes.Equal(rows[0], mvcc.Row([]byte("a"))) {
		if e.n++; e.n == 2 {
			e.before()
		}
	}
}

// inTurn has the batches of a commit prewritten one after the other.
func inTurn(p txn.Protocol) txn.Options {
	return txn.Options{Protocol: p, CrashPoint: func(txn.CrashPoint) bool { return false }}
}

// doubtWaitsForNoRowLock: the answer to a prewrite is lost, and before it is repeated another
// transaction locks the row. It may wait for the prewrite when it reads, so that the prewrite must
// not wait for it.
func doubtWaitsForNoRowLock(sc *scene) {
	for _, p := range []txn.Protocol{txn.Async, txn.TwoPhase} {
		e := &repeated{Fault: kvtest.NewFault(split())}
		s := sc.open(e, inTurn(p))
		sc.commit(s, "a", "0", "z", "0")
		tx, owner := sc.writer(s, "a", "1", "z", "1"), sc.begin(s)
		e.Plan(kvtest.FaultPlan{At: 1})
		e.before = func() {
			sc.must(owner.Advance(sc.ctx), "advance")
			sc.must(sc.nowait(owner, "a", rowlock.Update), "lock")
		}
		committed := make(chan error, 1)
		go func() { committed <- tx.Commit(sc.ctx) }()
		var err error
		for waits := true; waits; {
			select {
			case err = <-committed:
				waits = false
			default:
				if len(s.RowLocks().Waits()) > 0 {
					sc.must(owner.Rollback(sc.ctx), "rollback of the owner")
					sc.fail("waited for a row lock, then: %v", <-committed)
				}
				runtime.Gosched()
			}
		}
		wantError[*txn.WriteConflictError](sc, "commit", err)
		sc.want("the owner", sc.get(owner, "a")+sc.get(owner, "z"), "00")
		sc.must(owner.Commit(sc.ctx), "commit of the owner")
	}
}

// TestARepeatedPrewriteIsNotAwaited: the answer to a prewrite is lost, and it is repeated. Then the
// commit waits for a row lock, and the owner of that reads what was prewritten.
func TestARepeatedPrewriteIsNotAwaited(t *testing.T) { require.NoError(t, prove(repeatedPrewrite)) }

func repeatedPrewrite(sc *scene) {
	e := &repeated{Fault: kvtest.NewFault(split())}
	s := sc.open(e, inTurn(txn.Async))
	sc.commit(s, "a", "0", "z", "0")
	tx, owner := sc.writer(s, "a", "1", "z", "1"), sc.begin(s)
	e.Plan(kvtest.FaultPlan{At: 1, Applied: true})
	e.before = func() { sc.must(sc.nowait(owner, "z", rowlock.Update), "lock") }
	committed := make(chan error, 1)
	go func() { committed <- tx.Commit(sc.ctx) }()
	for len(s.RowLocks().Waits()) == 0 {
		runtime.Gosched()
	}
	sc.must(owner.Advance(sc.ctx), "advance")
	v, err := owner.Get(sc.ctx, []byte("a"))
	if err == nil {
		sc.want("the owner", string(v), "0")
	}
	sc.must(owner.Rollback(sc.ctx), "rollback of the owner")
	sc.must(<-committed, "commit")
}
