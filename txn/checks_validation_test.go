package txn_test

import (
	"context"
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// I10: what a serializable transaction has read is validated, on a store that several processes
// share.
var validationClauses = []clause{
	{"I5", "a commit that validates many spans does not expire", validatorLives},
	{"I5", "a commit that validates one long span does not expire", validatorOfOneSpanLives},
	{"I10", "readers do not push a commit for ever", readersDoNotStarveACommit},
}

// probed is a shared engine that calls functions while a commit validates.
type probed struct {
	kv.Engine
	snapshot, iterator, step func() // before each of those; nil: nothing
}

func call(f func()) {
	if f != nil {
		f()
	}
}

func (e *probed) Limits() kv.Limits { return kv.LimitsOf(e.Engine) }

func (e *probed) Snapshot() (kv.Snapshot, error) {
	call(e.snapshot)
	s, err := e.Engine.Snapshot()
	return probedSnapshot{s, e}, err
}

type probedSnapshot struct {
	kv.Snapshot
	e *probed
}

func (s probedSnapshot) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	call(s.e.iterator)
	it, err := s.Snapshot.NewIter(ctx, span)
	return probedIterator{it, s.e}, err
}

type probedIterator struct {
	kv.Iterator
	e *probed
}

func (i probedIterator) Next() bool {
	call(i.e.step)
	return i.Iterator.Next()
}

func (i probedIterator) NextPrefix() bool {
	call(i.e.step)
	return i.Iterator.NextPrefix()
}

// twoProcesses opens a store on a probed engine, and another one beside it.
func (sc *scene) twoProcesses(e *probed) (watchful, other *txn.Store) {
	e.Engine = memkv.New(memkv.Options{Shared: true})
	oracle, err := tso.Open(sc.ctx, e.Engine, mvcc.MetaKey("oracle"), tso.Options{
		Clock: func() int64 { return sc.clock }})
	sc.must(err, "open the oracle")
	opts := txn.Options{Oracle: oracle, Lease: time.Hour}
	return sc.open(e, opts), sc.open(e.Engine, opts)
}

// validatorLives: validation takes sixteen seconds under a lock of three, and now and then another
// transaction reads what is to be committed.
func validatorLives(sc *scene) {
	e := &probed{}
	s, other := sc.twoProcesses(e)
	tx := sc.beginIn(s, txn.BeginOptions{Serializable: true})
	for i := range 80 {
		sc.get(tx, fmt.Sprintf("x%02d", i))
	}
	sc.set(tx, "a", "1")
	n := 0
	e.iterator = func() {
		sc.clock += 100
		if n++; n == 120 {
			sc.want("before the commit", sc.read(other, "a"), "a=- ")
		}
	}
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(other, "a"), "a=1 ")
}

func validatorOfOneSpanLives(sc *scene) {
	e := &probed{}
	s, other := sc.twoProcesses(e)
	const rows = 8000
	tx := sc.begin(s)
	for i := range rows {
		sc.set(tx, fmt.Sprintf("x%04d", i), "v")
	}
	sc.must(tx.Commit(sc.ctx), "commit")
	s.AwaitSecondaries()
	tx = sc.beginIn(s, txn.BeginOptions{Serializable: true})
	it, err := tx.Scan(sc.ctx, kv.Span{Start: []byte("x"), End: []byte("y")}, txn.ScanOptions{})
	sc.must(err, "scan")
	for it.Next() {
		continue
	}
	sc.must(it.Err(), "scan")
	sc.must(it.Close(), "scan")
	sc.set(tx, "a", "1")
	n := 0
	e.step = func() {
		sc.clock++
		if n++; n == rows*3/4 {
			sc.want("before the commit", sc.read(other, "a"), "a=- ")
		}
	}
	sc.must(tx.Commit(sc.ctx), "commit")
}

// readersDoNotStarveACommit: one comes each time when the commit has drawn its timestamp. The first
// one pushes it, and the next ones wait.
func readersDoNotStarveACommit(sc *scene) {
	e := &probed{}
	s, other := sc.twoProcesses(e)
	tx := sc.beginIn(s, txn.BeginOptions{Serializable: true})
	sc.get(tx, "x")
	sc.set(tx, "a", "1")
	readers := 0
	ctx, cancel := context.WithCancel(sc.ctx)
	defer cancel()
	e.snapshot = func() {
		if readers++; readers > 10 {
			cancel()
		}
		reader := sc.begin(other)
		_, err := reader.Get(sc.ctx, []byte("a"))
		if readers > 1 {
			wantError[*txn.LockedError](sc, "a reader above commit_ts", err)
		}
		_ = reader.Rollback(sc.ctx)
	}
	sc.must(tx.Commit(ctx), "commit")
	e.snapshot = nil
	sc.want("readers", readers, 2)
	sc.want("after the commit", sc.read(other, "a"), "a=1 ")
}
