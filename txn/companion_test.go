package txn_test

import (
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
)

// What a store and its companion promise together.
var companionClauses = []clause{
	{"I27", "a transaction that fails leaves nothing in the companion", failsInBoth},
	{"I27", "a transaction that streamed into the companion is all or none", streamedInBoth},
	{"I27", "a commit says when the companion's part of it is lost", companionIsLost},
	{"I27 I26", "the companion follows savepoints older than its transaction", companionFollows},
	{"I27", "a transaction that is read-only writes to the companion", readOnlyBeside},
}

// openBeside opens a store with a companion on an engine.
func (sc *scene) openBeside(beside kv.Engine, opts txn.Options) (s, companion *txn.Store) {
	companion = sc.open(beside, opts)
	s = sc.open(single(), txn.Options{
		Companion: func() (*txn.Store, error) { return companion, nil }})
	return s, companion
}

func failsInBoth(sc *scene) {
	s, _ := sc.openBeside(single(), txn.Options{})
	sc.commit(s, "a", "1", "Ta", "1")
	tx := sc.writer(s, "a", "2", "Ta", "2", "Tb", "2")
	sc.commit(s, "a", "3")
	wantError[*txn.WriteConflictError](sc, "commit", tx.Commit(sc.ctx))
	sc.want("after the conflict", sc.read(s, "a", "Ta", "Tb"), "a=3 Ta=1 Tb=- ")
	sc.commit(s, "a", "4", "Ta", "4")
	sc.want("after the commit", sc.read(s, "a", "Ta"), "a=4 Ta=4 ")
}

func streamedInBoth(sc *scene) {
	s, companion := sc.openBeside(single(), txn.Options{StreamBytes: 100})
	write := func() *txn.Txn {
		tx := sc.begin(s)
		for i := range 20 {
			sc.set(tx, "T"+string(rune('a'+i)), "1")
		}
		sc.set(tx, "a", "1")
		return tx
	}
	tx := write()
	sc.want("has streamed", tx.CompanionStreams(), true)
	sc.commit(s, "a", "2")
	wantError[*txn.WriteConflictError](sc, "commit", tx.Commit(sc.ctx))
	sc.want("after the conflict", sc.read(companion, "Ta", "Tt"), "Ta=- Tt=- ")
	sc.must(write().Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "a", "Ta", "Tt"), "a=1 Ta=1 Tt=1 ")
}

func companionIsLost(sc *scene) {
	beside := kvtest.NewFault(single())
	s, _ := sc.openBeside(beside, txn.Options{})
	tx := sc.writer(s, "a", "1", "Ta", "1")
	beside.Plan(kvtest.FaultPlan{At: 1, Times: 1000})
	wantError[*txn.CompanionError](sc, "commit", tx.Commit(sc.ctx))
	sc.want("the store's own part", sc.read(s, "a"), "a=1 ")
}

func companionFollows(sc *scene) {
	s, _ := sc.openBeside(single(), txn.Options{})
	tx := sc.writer(s, "a", "1")
	before := tx.Savepoint()
	sc.set(tx, "Ta", "1")
	inside := tx.Savepoint()
	sc.set(tx, "Ta", "2", "Tb", "2")
	tx.RollbackTo(inside)
	sc.want("at the later savepoint", sc.get(tx, "Ta")+sc.get(tx, "Tb"), "1-")
	tx.RollbackTo(before)
	sc.want("at the earlier savepoint", sc.get(tx, "Ta"), "-")
	sc.set(tx, "Tc", "3")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "a", "Ta", "Tb", "Tc"), "a=1 Ta=- Tb=- Tc=3 ")
}

func readOnlyBeside(sc *scene) {
	s, _ := sc.openBeside(single(), txn.Options{})
	tx := sc.beginIn(s, txn.BeginOptions{ReadOnly: true, Serializable: true})
	sc.set(tx, "Ta", "1")
	if err := tx.Set([]byte("a"), nil); !errors.Is(err, txn.ErrReadOnly) {
		sc.fail("a write of the store itself: %v", err)
	}
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "Ta"), "Ta=1 ")
}
