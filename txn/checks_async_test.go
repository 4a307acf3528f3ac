package txn_test

import (
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// P8: a commit with a calculated timestamp. T5 is its condition, max(start_ts, max_read_ts) <
// commit_ts ≤ now.
var asyncClauses = []clause{
	{"P8 T5 I12", "an async commit's timestamp is above every earlier read", asyncIsAboveReads},
	{"P8 I12", "an async commit's timestamp is drawn under locks that readers see",
		asyncLockIsSeen},
	{"P8 I12", "an async commit's timestamp is the highest of its locks'", asyncIsAtItsHighest},
	{"P8 I12", "a resolver asks the secondaries of an async commit too", halfAsyncIsNothing},
	{"P8 I12", "a transaction with a missing async lock is not committed", halfAsyncIsNothing},
	{"P8 I12", "a missing async lock is prevented before any other lock is rolled back",
		missingLockIsBarred},
	{"T5 I12", "an async commit's timestamp is not above the present", asyncIsSeenAtOnce},
}

var async = txn.Options{Protocol: txn.Async, BatchKeys: 1}

func asyncIsAboveReads(sc *scene) {
	s := sc.openWith(single(), async, "", nil)
	tx, reader := sc.begin(s), sc.begin(s)
	sc.want("before the commit", sc.get(reader, "a"), "-")
	sc.set(tx, "a", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
	reader.Idle()
	sc.want("later", sc.read(s, "a"), "a=1 ")
	sc.want("read again", sc.get(reader, "a"), "-")
}

func asyncLockIsSeen(sc *scene) { sc.inFlight(async, mvcc.ColumnLock) }

// inFlight stops a commit between its timestamp and the update that shows it. A reader that begins
// there is above it, and may not miss it.
func (sc *scene) inFlight(opts txn.Options, column mvcc.Column) {
	p := &pausing{Engine: sc.pebble(), onKey: "none", column: column, reached: make(chan struct{}),
		resume: make(chan struct{})}
	s := sc.open(p, opts)
	sc.commit(s, "a", "1")
	p.onKey = "a"
	tx := sc.writer(s, "a", "2")
	done, answer := make(chan error, 1), make(chan string, 1)
	go func() { done <- tx.Commit(sc.ctx) }()
	<-p.reached
	reader, watch := sc.begin(s), newWatched()
	go func() {
		v, err := reader.Get(watch, []byte("a"))
		if err != nil {
			v = []byte(err.Error())
		}
		answer <- string(v)
	}()
	first := ""
	select {
	case <-watch.waiting:
	case first = <-answer:
	}
	p.resume <- struct{}{}
	err := <-done
	if first == "" {
		first = <-answer
	}
	sc.must(err, "commit")
	sc.want("a, above its commit", first, "2")
}

// asyncIsAtItsHighest: a reader comes between two locks, so it is above the first one's timestamp.
func asyncIsAtItsHighest(sc *scene) {
	var s *txn.Store
	var reader *txn.Txn
	opts := async
	opts.CrashPoint = func(p txn.CrashPoint) bool {
		if p == txn.AfterPrewritePrimary {
			reader = sc.begin(s)
			sc.want("before its lock", sc.get(reader, "z"), "-")
		}
		return p == txn.AfterPrewrite
	}
	s = sc.open(split(), opts)
	_ = sc.writer(s, "a", "1", "z", "1").Commit(sc.ctx)
	reader.Idle()
	sc.want("read again", sc.get(reader, "a")+sc.get(reader, "z"), "--")
	sc.want("later", sc.read(s, "a", "z"), "a=1 z=1 ")
}

// halfAsyncIsNothing: the coordinator dies when the primary's lock is down and the other is not.
func halfAsyncIsNothing(sc *scene) {
	s := sc.openWith(single(), async, txn.AfterPrewritePrimary,
		func(*txn.Store) bool { return true })
	_ = sc.writer(s, "a", "1", "z", "1").Commit(sc.ctx)
	sc.clock += 60_000
	sc.want("all or none", sc.read(s, "a", "z"), "a=- z=- ")
}

// missingLockIsBarred: it does not die, but is taken for dead.
func missingLockIsBarred(sc *scene) {
	s := sc.openWith(single(), async, txn.AfterPrewritePrimary, func(s *txn.Store) bool {
		sc.clock += 60_000
		s.TakeForDead()
		sc.want("after the time to live", sc.read(s, "a"), "a=- ")
		return false
	})
	wantError[*txn.WriteConflictError](sc, "commit",
		sc.writer(s, "a", "1", "z", "1").Commit(sc.ctx))
	sc.want("all or none", sc.read(s, "a", "z"), "a=- z=- ")
}

// asyncIsSeenAtOnce: a transaction that begins after the commit has returned is above it.
func asyncIsSeenAtOnce(sc *scene) {
	s := sc.openWith(single(), async, "", nil)
	sc.commit(s, "a", "1", "z", "1")
	sc.want("after the commit", sc.read(s, "a", "z"), "a=1 z=1 ")
}
