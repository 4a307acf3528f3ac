package ssi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// op is one step of a transaction's program: it reads or writes key, reads all keys, or drops all
// but the last.
type op struct {
	kind byte // 'r', 'w', 's', 'd'
	key  byte
}

// actor is a transaction of a history: a node under test, and what it really did.
type actor struct {
	program  []op
	readOnly bool
	waits    bool // it takes its first preparation back
	late     bool // conflicts of writers show at its commit, not when it writes

	node            *Node
	pc, phase       int
	startTS, commit tso.Timestamp
	drawn           bool // commit_ts is
	over            bool
	refused         error  // by the graph
	reads, writes   keySet // writes has what it dropped, too
	drops           keySet
}

// world is a store of a few keys under snapshot isolation.
type world struct {
	g      Graph
	clock  tso.Timestamp
	actors []*actor
	// control decides which transactions are refused: by the graph, by validation of reads at
	// commit, or none.
	control string
	coarse  bool // beginnings and commits are single steps
}

const allKeys = "abc"

// keySet is a set of the keys.
type keySet uint8

const everyKey keySet = 1<<len(allKeys) - 1

func keyOf(k byte) keySet { return 1 << (k - 'a') }

func (w *world) tick() tso.Timestamp {
	w.clock++
	return w.clock
}

// step moves an actor and reports whether it is over.
func (w *world) step(a *actor) bool {
	switch {
	case a.over:
	case a.phase == 0:
		a.node = w.g.Begin(Options{ReadOnly: a.readOnly})
		a.phase = 1
		if w.coarse {
			w.step(a)
			w.step(a)
			w.step(a)
		}
	case a.phase == 1:
		a.startTS, a.phase = w.tick(), 2
	case a.phase == 2:
		a.node.Started(a.startTS)
		a.phase = 3
	case a.phase == 3 && a.pc < len(a.program):
		w.do(a, a.program[a.pc])
		a.pc++
	default:
		w.commit(a)
	}
	return a.over
}

func (w *world) do(a *actor, o op) {
	var err error
	switch o.kind {
	case 'r':
		err = a.node.ReadKey([]byte{o.key})
		a.reads |= keyOf(o.key) &^ a.writes
	case 's':
		err = a.node.Read(kv.Span{Start: []byte("a"), End: []byte("d")})
		a.reads |= everyKey &^ a.writes
	case 'w':
		if !a.late && w.lost(a, keyOf(o.key)) {
			w.end(a)
			return
		}
		err = a.node.Write([]byte{o.key})
		a.writes |= keyOf(o.key)
	case 'd':
		span := keyOf('a') | keyOf('b')
		if w.locked(a, span) || w.dropped(a, span) {
			w.end(a)
			return
		}
		err = a.node.WriteSpan(kv.Span{Start: []byte("a"), End: []byte("c")})
		a.drops |= span
		a.writes |= span
	}
	if err != nil && w.control == "graph" {
		a.refused = err
		w.end(a)
	}
}

// locked reports whether another owner that has not ended has written one of the keys: a drop locks
// the whole table.
func (w *world) locked(a *actor, keys keySet) bool {
	return slices.ContainsFunc(w.actors,
		func(b *actor) bool { return b != a && b.writes&keys != 0 && !b.over })
}

// dropped reports whether another owner has dropped one of the keys since the snapshot: both change
// the schema.
func (w *world) dropped(a *actor, keys keySet) bool {
	return slices.ContainsFunc(w.actors, func(b *actor) bool {
		return b != a && b.drops&keys != 0 && b.drawn && b.commit > a.startTS
	})
}

// lost reports whether another writer of one of the keys is in the way, or one that drops it and
// has not ended. A transaction that drops keys conflicts with no commit before its own, whichever
// has written them.
func (w *world) lost(a *actor, keys keySet) bool {
	return slices.ContainsFunc(w.actors, func(b *actor) bool {
		return b != a && b.writes&keys != 0 &&
			(!b.over && b.phase >= 3 && (!b.late || b.drops&keys != 0) || b.drawn &&
				b.commit > a.startTS)
	})
}

func (w *world) end(a *actor) {
	a.node.Aborted()
	a.over = true
}

func (w *world) commit(a *actor) {
	switch a.phase {
	case 3:
		err := a.node.Prepare()
		if err != nil && w.control == "graph" {
			a.refused = err
			w.end(a)
			return
		}
		a.phase = 4
		if w.coarse {
			w.commit(a)
		}
	case 4:
		if a.waits {
			a.node.Unprepare()
			a.waits, a.phase = false, 3
			return
		}
		if w.lost(a, a.writes&^a.drops) || w.dropped(a, a.drops) {
			w.end(a)
			return
		}
		if w.control == "validation" && a.writes != 0 && w.changed(a) {
			a.refused = &Error{Reason: "validation"}
			w.end(a)
			return
		}
		a.commit, a.drawn, a.phase = w.tick(), true, 5
		if w.coarse {
			w.commit(a)
		}
	default:
		if a.writes == 0 {
			a.node.Committed(0)
		} else {
			a.node.Committed(a.commit)
		}
		a.over = true
	}
}

// changed reports whether something that the actor read was written since.
func (w *world) changed(a *actor) bool {
	return slices.ContainsFunc(w.actors, func(b *actor) bool {
		return b != a && b.drawn && b.commit > a.startTS && b.writes&a.reads != 0
	})
}

// cyclic reports whether no serial order explains what was committed.
func (w *world) cyclic() bool {
	var after [8]uint8 // by actor, those that must come after it
	for i, a := range w.actors {
		for j, b := range w.actors {
			if a != b && a.drawn && b.drawn && dependsOn(b, a) {
				after[i] |= 1 << j
			}
		}
	}
	for k := range w.actors {
		for i := range w.actors {
			if after[i]&(1<<k) != 0 {
				after[i] |= after[k]
			}
		}
	}
	for i := range w.actors {
		if after[i]&(1<<i) != 0 {
			return true
		}
	}
	return false
}

// dependsOn reports whether b must come after a: it overwrote or read what a wrote, or overwrote
// what a read.
func dependsOn(b, a *actor) bool {
	return b.writes&a.writes != 0 && a.commit < b.commit ||
		b.writes&a.reads != 0 && a.startTS < b.commit ||
		b.reads&a.writes != 0 && a.commit < b.startTS
}

func (w *world) refusals() (n int) {
	for _, a := range w.actors {
		if a.refused != nil {
			n++
		}
	}
	return n
}

func (w *world) String() string {
	s := ""
	for i, a := range w.actors {
		s += fmt.Sprintf("\n%d: %c [%d, %d] reads %03b writes %03b refused %v", i, a.program,
			a.startTS, a.commit, a.reads, a.writes, a.refused)
	}
	return s
}

// TestEveryOrderOfThreeSmallTransactions takes all programs of two steps over two keys, three of
// them at once, in every interleaving: no cycle is committed, and far fewer are refused than
// validation of reads would refuse.
func TestEveryOrderOfThreeSmallTransactions(t *testing.T) {
	var programs [][]op
	steps := []op{{'r', 'a'}, {'r', 'b'}, {'w', 'a'}, {'w', 'b'}}
	for _, x := range steps {
		for _, y := range steps {
			programs = append(programs, []op{x, y})
		}
	}
	orders := interleavings([]int{3, 3, 3}, nil)
	if testing.Short() {
		programs = programs[len(programs)/2:]
	}
	histories, wrong := 0, 0
	refusing, needless := map[string]int{}, map[string]int{}
	for i := range programs {
		for j := i; j < len(programs); j++ {
			for k := j; k < len(programs); k++ {
				for _, order := range orders {
					run := func(control string) *world {
						w := &world{control: control, coarse: true}
						for _, p := range [][]op{programs[i], programs[j], programs[k]} {
							w.actors = append(w.actors, &actor{program: p})
						}
						for _, who := range order {
							w.step(w.actors[who])
						}
						return w
					}
					free := run("").cyclic()
					histories++
					if free {
						wrong++
					}
					for _, control := range []string{"graph", "validation"} {
						w := run(control)
						if w.cyclic() {
							t.Fatalf("%s: a cycle was committed: order %v%s", control, order, w)
						}
						if w.refusals() > 0 {
							refusing[control]++
							if !free {
								needless[control]++
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d histories, %d cyclic without control; with refusals %v, needlessly %v", histories,
		wrong, refusing, needless)
	require.Positive(t, wrong)
	require.Less(t, 4*needless["graph"], needless["validation"])
}

// interleavings lists the orders in which actors with so many steps each can move.
func interleavings(left []int, before []int) (out [][]int) {
	done := true
	for i := range left {
		if left[i] == 0 {
			continue
		}
		done = false
		left[i]--
		out = append(out, interleavings(left, append(before[:len(before):len(before)], i))...)
		left[i]++
	}
	if done {
		out = append(out, before)
	}
	return out
}

// TestRandomHistories lets more transactions run at once, with ranges, readers declared READ ONLY,
// conflicts that show late, and everything that lies between the steps of a beginning and of a
// commit.
func TestRandomHistories(t *testing.T) {
	n := 60_000
	if testing.Short() {
		n = 6_000
	}
	seed := rand.Uint64()
	histories(t, seed, n, func(*world) {})
}

// TestRandomHistoriesWithASummary does so while the committed are folded at once.
func TestRandomHistoriesWithASummary(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	histories(t, rand.Uint64(), n, func(w *world) {
		for len(w.g.committed) > 1 {
			w.g.fold(w.g.committed[0])
			w.g.committed = w.g.committed[1:]
		}
	})
}

func histories(t *testing.T, seed uint64, n int, after func(*world)) {
	refusing, cyclic, wrong := 0, 0, 0
	for i := range uint64(n) {
		run := func(control string) *world {
			dice := rand.New(rand.NewPCG(seed, i))
			w := &world{control: control, coarse: dice.IntN(4) == 0}
			for range 2 + dice.IntN(5) {
				w.actors = append(w.actors, randomActor(dice))
			}
			for open := slices.Clone(w.actors); len(open) > 0; {
				k := dice.IntN(len(open))
				if w.step(open[k]) {
					open = slices.Delete(open, k, k+1)
				}
				if control == "graph" {
					after(w)
				}
			}
			return w
		}
		w := run("graph")
		if w.cyclic() {
			t.Fatalf("seed %d, history %d: a cycle was committed%s", seed, i, w)
		}
		free := run("").cyclic()
		if free {
			cyclic++
		}
		if w.refusals() > 0 {
			refusing++
			if !free {
				wrong++
			}
		}
		require.Empty(t, w.g.active, "seed %d, history %d", seed, i)
		require.Empty(t, w.g.committed, "seed %d, history %d", seed, i)
		require.Zero(t, w.g.bytes, "seed %d, history %d", seed, i)
		require.Zero(t, w.g.old.committed, "seed %d, history %d", seed, i)
	}
	t.Logf("seed %d: %d histories, %d cyclic without control, %d with refusals, %d of them "+
		"needlessly", seed, n, cyclic, refusing, wrong)
	require.Positive(t, cyclic)
}

func randomActor(dice *rand.Rand) *actor {
	a := &actor{readOnly: dice.IntN(4) == 0, late: dice.IntN(3) == 0, waits: dice.IntN(4) == 0}
	for range 1 + dice.IntN(4) {
		o := op{"rrwwsrrwwsd"[dice.IntN(11)], allKeys[dice.IntN(len(allKeys))]}
		if a.readOnly && (o.kind == 'w' || o.kind == 'd') {
			o.kind = 'r'
		}
		a.program = append(a.program, o)
	}
	return a
}
