package txn_test

import (
	"math/rand/v2"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// What the paper itself says: the protocol (§2.2), the oracle (§2.3), batching (§2.5).
var paperClauses = []clause{
	{"§2.2 I3", "a prewrite refuses a key that was written since it was read", updateIsNotLost},
	{"§2.2 I3", "a prewrite refuses a key that another transaction has locked",
		lockIsNotOverwritten},
	{"§2.2 I2", "a reader settles a lock below its timestamp before it returns", leftLockIsSettled},
	{"§2.2 I4", "a committed primary's secondaries roll forward", leftLockIsSettled},
	{"§2.2 I4", "locks survive the process that wrote them", lockIsFoundAtOpen},
	{"§2.2 I4", "an acknowledged commit survives a crash", commitSurvivesACrash},
	{"§2.3 I1", "after a restart the oracle's timestamps are above the earlier ones",
		oracleRemembers},
	{"§2.3 I1", "the oracle's timestamps rise when the clock steps back", oracleNeverStepsBack},
	{"§2.3 I1", "the oracle serves from memory", oracleServesFromMemory},
	{"§2.5 I7", "mutations of a group are prewritten in one update", prewritesTravelTogether},
	{"§2.5 I7", "reads of several keys use one snapshot", readsTravelTogether},
	{"I10", "of two transactions that read what the other writes, one fails", noWriteSkewAlone},
	{"I10", "on a shared engine, what was read is validated at commit", noWriteSkewShared},
}

func updateIsNotLost(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "n", "0")
	t1, t2 := sc.begin(s), sc.begin(s)
	for _, tx := range []*txn.Txn{t1, t2} {
		sc.want("n", sc.get(tx, "n"), "0")
		sc.set(tx, "n", "1")
	}
	sc.must(t1.Commit(sc.ctx), "first commit")
	wantError[*txn.WriteConflictError](sc, "second commit", t2.Commit(sc.ctx))
}

// lockIsNotOverwritten: the transaction that locked b is between prewrite and commit when another
// writes b.
func lockIsNotOverwritten(sc *scene) {
	s := sc.openWith(single(), txn.Options{Protocol: txn.TwoPhase}, txn.AfterPrewrite,
		func(s *txn.Store) bool {
			wantError[*txn.WriteConflictError](sc, "a second writer of b",
				sc.writer(s, "b", "2").Commit(sc.ctx))
			return false
		})
	tx := sc.commit(s, "a", "1", "b", "1")
	then := sc.beginAt(s, tx.CommitTS())
	sc.want("a and b at their commit", sc.get(then, "a")+sc.get(then, "b"), "11")
}

func leftLockIsSettled(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterCommitPoint,
		func(*txn.Store) bool { return true })
	_ = sc.writer(s, "a", "1", "z", "1").Commit(sc.ctx)
	sc.want("after the commit point", sc.read(s, "a", "z"), "a=1 z=1 ")
}

func lockIsFoundAtOpen(sc *scene) {
	e := single()
	s := sc.openWith(e, txn.Options{Protocol: txn.TwoPhase}, txn.AfterCommitPoint,
		func(*txn.Store) bool { return true })
	_ = sc.writer(s, "a", "1", "b", "1").Commit(sc.ctx)
	sc.must(s.Close(), "close")
	sc.want("after a restart", sc.read(sc.open(e, txn.Options{}), "a", "b"), "a=1 b=1 ")
}

func commitSurvivesACrash(sc *scene) {
	for _, opts := range []txn.Options{{}, {Protocol: txn.TwoPhase}, {Protocol: txn.Async}} {
		fs := testfs.NewCrashFS()
		open := func(fs *testfs.CrashFS) *txn.Store {
			e, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
			sc.must(err, "open pebble")
			sc.engines = append(sc.engines, e)
			return sc.open(e, opts)
		}
		sc.commit(open(fs), "a", "1", "b", "1")
		after := fs.Crash(0, rand.New(rand.NewPCG(1, 1)))
		sc.want("after a crash", sc.read(open(after), "a", "b"), "a=1 b=1 ")
	}
}

func (sc *scene) oracle(e kv.Engine) *tso.Oracle {
	o, err := tso.Open(sc.ctx, e, []byte("m oracle"),
		tso.Options{Clock: func() int64 { return sc.clock }})
	sc.must(err, "open oracle")
	return o
}

func (sc *scene) draw(o *tso.Oracle) tso.Timestamp {
	ts, err := o.Next(sc.ctx)
	sc.must(err, "draw")
	return ts
}

func oracleRemembers(sc *scene) {
	e := single()
	before := sc.draw(sc.oracle(e))
	sc.clock -= 500
	if after := sc.draw(sc.oracle(e)); after <= before {
		sc.fail("%s was drawn before the restart, %s after it", before, after)
	}
}

func oracleNeverStepsBack(sc *scene) {
	o := sc.oracle(single())
	last := sc.draw(o)
	for range 3 {
		sc.clock--
		ts := sc.draw(o)
		if ts <= last {
			sc.fail("%s was drawn after %s", ts, last)
		}
		last = ts
	}
}

func oracleServesFromMemory(sc *scene) {
	rec := record.New(single())
	o := sc.oracle(rec)
	for range 1000 {
		sc.draw(o)
	}
	sc.want("updates for 1,000 timestamps", rec.Counts().Updates+rec.Counts().Lazy, 1)
}

// prewritesTravelTogether counts updates: the prewrites, the commit point, the secondaries.
func prewritesTravelTogether(sc *scene) {
	rec := record.New(single())
	s := sc.openWith(rec, txn.Options{Protocol: txn.TwoPhase}, "", nil)
	sc.commit(s, "warm", "up")
	before := rec.Counts()
	sc.commit(s, "a", "1", "b", "1", "c", "1", "d", "1", "e", "1")
	d := rec.Since(before)
	sc.want("updates of a commit", d.Updates+d.Lazy, 3)
}

func readsTravelTogether(sc *scene) {
	rec := record.New(single())
	s := sc.open(rec, txn.Options{})
	sc.commit(s, "a", "1", "b", "1", "c", "1")
	tx := sc.begin(s)
	before := rec.Counts()
	_, err := tx.GetMany(sc.ctx, [][]byte{[]byte("a"), []byte("b"), []byte("c")})
	sc.must(err, "get many")
	sc.want("what was asked of the engine", rec.Since(before),
		record.Counts{Snapshots: 1, Iters: 1})
}

func noWriteSkewAlone(sc *scene)  { noWriteSkew(sc, single()) }
func noWriteSkewShared(sc *scene) { noWriteSkew(sc, shared()) }

// noWriteSkew: two doctors, one of which has to stay.
func noWriteSkew(sc *scene, e kv.Engine) {
	s := sc.open(e, txn.Options{})
	sc.commit(s, "x", "on", "y", "on")
	oneStays(sc, s)
}

// oneStays: x and y are on, and two transactions would each turn one of them off.
func oneStays(sc *scene, s *txn.Store) {
	t1, t2 := sc.beginIn(s, serializable), sc.beginIn(s, serializable)
	for _, tx := range []*txn.Txn{t1, t2} {
		sc.want("both", sc.get(tx, "x")+sc.get(tx, "y"), "onon")
	}
	sc.set(t1, "x", "off")
	sc.set(t2, "y", "off")
	if err1, err2 := t1.Commit(sc.ctx), t2.Commit(sc.ctx); err1 == nil && err2 == nil {
		sc.fail("both have left")
	}
}
