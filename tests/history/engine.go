package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// errLost is the result of an update whose reply was lost on the way.
var errLost = errors.New("the answer was lost")

// actorKey finds the number of the coordinator in a context.
type actorKey struct{}

func withActor(ctx context.Context, actor int) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// actorOf returns the coordinator's number; background work has the highest one.
func actorOf(ctx context.Context) int {
	if actor, ok := ctx.Value(actorKey{}).(int); ok {
		return actor
	}
	return 1 << 20
}

// watched is an engine that stops at the scheduler before and after each update, loses answers, and
// writes down the records that were applied.
type watched struct {
	kv.Engine
	t    *Scheduler
	lose func() (lose, applied bool)
	// whether to stop with the latches held, the step just run
	inStep  func() bool
	started func(actor int) tso.Timestamp // start_ts of a coordinator's transaction

	// oracle returns the time by which owners are judged: ahead of the clock, once an extension of
	// its range has lost its answer.
	oracle *tso.Oracle

	syncs     *syncs             // nil where nothing is synced
	untilSync func() (turns int) // how long a batch is visible before it is synced

	trace func(string)
	calm  atomic.Bool

	mu struct {
		sync.Mutex
		cells  map[string]mvcc.Cell   // applied cells of the data and write columns, by raw key
		rolled map[tso.Timestamp]bool // of which a rollback record was written
		found  []Violation
		// suspects are rollbacks by others before the time to live was over, on an exclusive
		// engine. There memory knows a transaction that has given up, or whose coordinator died,
		// before its rollback is written; the error that such a transaction received decides
		// (ended).
		suspects map[tso.Timestamp]Violation
	}
}

func newWatched(e kv.Engine, t *Scheduler) *watched {
	w := &watched{Engine: e, t: t}
	w.calm.Store(true)
	w.mu.cells, w.mu.rolled = map[string]mvcc.Cell{}, map[tso.Timestamp]bool{}
	w.mu.suspects = map[tso.Timestamp]Violation{}
	return w
}

// Update implements kv.Engine.
func (w *watched) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return w.update(ctx, step, func(s kv.Step) error { return w.Engine.Update(ctx, rows, s) })
}

// UpdateLazy implements kv.Lazy.
func (w *watched) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return w.update(ctx, step,
		func(s kv.Step) error { return kv.UpdateLazy(ctx, w.Engine, rows, s) })
}

// Group implements kv.Grouped.
func (w *watched) Group(row []byte) uint64 { return kv.GroupOf(w.Engine, row) }

// Exclusive implements kv.Exclusive.
func (w *watched) Exclusive() bool { return kv.IsExclusive(w.Engine) }

func (w *watched) update(ctx context.Context, step kv.Step, run func(kv.Step) error) error {
	actor := actorOf(ctx)
	w.t.Pass(actor)
	lose, applied := w.lose()
	lose = lose && !w.calm.Load()
	if lose && !applied {
		w.t.Pass(actor)
		return errLost
	}
	var cells []mvcc.Cell
	var raw []string
	var did []string
	var of judgement
	err := run(func(r kv.Reader, b *kv.Batch) error {
		if err := step(r, b); err != nil {
			return err
		}
		cells, raw = cells[:0], raw[:0]
		did, of = did[:0], judgement{}
		for i := range b.Len() {
			key, value, deleted := b.Op(i)
			if w.trace != nil {
				did = append(did, describe(key, value, deleted))
			}
			if deleted {
				if err := w.judgeEnd(ctx, r, actor, key, &of); err != nil {
					return err
				}
				continue
			}
			c, err := mvcc.Decode(key, value)
			if err != nil {
				return err
			}
			if c.Column == mvcc.ColumnWrite || c.Column == mvcc.ColumnData {
				cells, raw = append(cells, c), append(raw, string(key))
				if err := w.judge(ctx, r, actor, &c, &of); err != nil {
					return err
				}
			}
		}
		if w.inStep() {
			w.t.Pass(actor)
		}
		return nil
	})
	if w.trace != nil {
		w.trace(fmt.Sprintf("coordinator %d at %d: answer lost %v, error %v, %s", actor, w.t.Now(),
			lose, err, strings.Join(did, "; ")))
	}
	if err == nil {
		w.apply(raw, cells)
		w.takeIn(of)
	}
	w.t.Pass(actor)
	if err == nil && lose {
		return errLost
	}
	return err
}

func (w *watched) apply(raw []string, cells []mvcc.Cell) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range cells {
		old, again := w.mu.cells[raw[i]]
		if again && c.Column == mvcc.ColumnWrite && old.Write.StartTS != c.Write.StartTS {
			w.mu.found = append(w.mu.found, Violation{DuplicateCommit, fmt.Sprintf(
				"key %q at %s: the record of %s is overwritten by that of %s", c.Key, c.TS,
				old.Write.StartTS, c.Write.StartTS)})
		}
		w.mu.cells[raw[i]] = c
	}
}

// judgement is what is said of one run of a step. It counts if the run was applied: an engine may
// run a step on what it remembers, and drop a run that was shown what is no more.
type judgement struct {
	rolled   []tso.Timestamp
	found    []Violation
	suspects map[tso.Timestamp]Violation
}

func (w *watched) takeIn(of judgement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ts := range of.rolled {
		w.mu.rolled[ts] = true
	}
	w.mu.found = append(w.mu.found, of.found...)
	maps.Copy(w.mu.suspects, of.suspects)
}

// judge checks whether another transaction's rollback comes before the time to live is over. A
// transaction of which another key is rolled back already, as those of an async commit may be, is
// decided.
func (w *watched) judge(ctx context.Context, r kv.Reader, actor int, c *mvcc.Cell,
	of *judgement) error {
	if c.Column != mvcc.ColumnWrite || c.Write.Kind != mvcc.KindRollback {
		return nil
	}
	w.mu.Lock()
	decided := w.mu.rolled[c.Write.StartTS] || slices.Contains(of.rolled, c.Write.StartTS)
	w.mu.Unlock()
	of.rolled = append(of.rolled, c.Write.StartTS)
	if decided || !c.Write.Protected || actor == 1<<20 {
		return nil
	}
	if w.started(actor) == c.Write.StartTS {
		return nil
	}
	now := w.now()
	end := append(append([]byte(nil), c.Key...), 0)
	return mvcc.Locks(ctx, r, kv.Span{Start: c.Key, End: end}, func(_ []byte, l mvcc.Lock) error {
		lives, err := w.ownerLives(ctx, r, &l, now)
		if err != nil {
			return err
		}
		if l.StartTS == c.Write.StartTS && !l.Expired(now) && lives {
			v := Violation{Impatience, fmt.Sprintf(
				"transaction %s rolled back at %s, its lock lives %d ms", l.StartTS, now,
				l.TTLMillis)}
			if w.Exclusive() {
				if of.suspects == nil {
					of.suspects = map[tso.Timestamp]Violation{}
				}
				of.suspects[l.StartTS] = v
			} else {
				of.found = append(of.found, v)
			}
		}
		return nil
	})
}

// ended judges the suspected rollback of a transaction by the error that its coordinator received:
// only one that learned of the rollback had lived.
func (w *watched) ended(startTS tso.Timestamp, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, suspected := w.mu.suspects[startTS]
	var conflict *txn.WriteConflictError
	if suspected && errors.As(err, &conflict) && conflict.ConflictTS == startTS {
		w.mu.found = append(w.mu.found, v)
	}
}

func (w *watched) now() tso.Timestamp { return max(tso.New(w.t.Now(), 0), w.oracle.Now()) }

// truth returns what was applied.
func (w *watched) truth() Truth {
	w.mu.Lock()
	defer w.mu.Unlock()
	cells := make([]mvcc.Cell, 0, len(w.mu.cells))
	for _, c := range w.mu.cells {
		cells = append(cells, c)
	}
	return takeCells(cells)
}

// describe puts one operation of a batch into words.
func describe(key, value []byte, deleted bool) string {
	if deleted {
		return fmt.Sprintf("delete %q", key)
	}
	c, err := mvcc.Decode(key, value)
	switch {
	case err != nil:
		return err.Error()
	case c.Column == mvcc.ColumnLock:
		return fmt.Sprintf("lock %q: %s of %s, primary %q, %d ms", c.Key, c.Lock.Kind, c.TS,
			c.Lock.Primary, c.Lock.TTLMillis)
	case c.Column == mvcc.ColumnWrite:
		return fmt.Sprintf("record %q: %s of %s at %s", c.Key, c.Write.Kind, c.Write.StartTS, c.TS)
	}
	return fmt.Sprintf("%s %q at %s", c.Column, c.Key, c.TS)
}
