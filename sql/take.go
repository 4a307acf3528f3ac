package sql

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// minidb_take hands changes of an observer to a client: the client's transaction is the run. It has
// one snapshot, up to which the changes are acknowledged when it commits, and holds the row locks
// of the acknowledgements until it ends, so that others take other rows (package observer).

// Take is part of expr.Takes.
func (f *accessor) Take(name string, n int64, wait *time.Duration,
	visit func(*expr.TakenChange) error) error {
	s := f.s
	switch {
	case n < 1:
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"the number of changes to take must be positive")
	case wait != nil && *wait < 0:
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"the time to wait for changes must not be negative")
	}
	if err := s.writable("minidb_take()"); err != nil {
		return err
	}
	if err := s.fixSnapshot(f.ctx, wait != nil); err != nil {
		return err
	}
	o, ok, err := s.tx.view.Observer(f.ctx, s.databaseID, name)
	if err != nil {
		return err
	}
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "observer \"%s\" does not exist", name)
	}
	if err := s.mayTake(f.ctx, o.Table); err != nil {
		return err
	}
	t := s.newTaking(o)
	defer func() { s.memory.Shrink(t.bytes) }()
	all, err := t.take(f.ctx, int(min(n, takeMax)))
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return s.takenNothing(f.ctx, t, wait)
	}
	for i := range all {
		if err := visit(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// takeMax bounds the changes of one call: each has a row lock until the transaction ends.
const takeMax = 100_000

// fixSnapshot makes the transaction keep the snapshot of the running statement. One of READ
// COMMITTED becomes one of REPEATABLE READ, which it can only before it has read anything else: as
// SET TRANSACTION ISOLATION LEVEL. first requires that whatever the level is.
func (s *transactor) fixSnapshot(ctx context.Context, first bool) error {
	if err := s.ensure(ctx); err != nil {
		return err
	}
	if !first && !s.tx.perStatement() {
		return nil
	}
	if s.tx.statements > 1 || first && len(s.tx.savepoints) > 0 {
		err := sqlerr.New(sqlerr.ActiveSQLTransaction,
			"minidb_take() must be in the first query of a transaction at READ COMMITTED")
		if first {
			err = sqlerr.New(sqlerr.ActiveSQLTransaction,
				"minidb_take() can wait only in the first query of a transaction")
		}
		return err.WithHint("Take first, or begin with BEGIN ISOLATION LEVEL REPEATABLE READ.")
	}
	if s.tx.perStatement() {
		s.tx.isolation = repeatableRead
	}
	return nil
}

// takenRows are what a transaction has acknowledged of one observer.
type takenRows struct {
	target observer.Target
	rows   map[string]observer.Change // by key, without values
}

// rowOverhead is about what a taken row takes in memory besides its values.
const rowOverhead = 512

// taking is one call of minidb_take.
type taking struct {
	s      *planRunner
	tx     *txn.Txn
	o      catalog.Observed
	target observer.Target
	taken  *takenRows
	woken  <-chan struct{} // when there may be something that this call has missed
	places [][]byte        // the notifications of table-level changes
	all    []expr.TakenChange
	bytes  int64 // that it holds, about
}

func (s *planRunner) newTaking(o catalog.Observed) *taking {
	t := &taking{s: s, tx: s.tx.tx, o: o, target: o.Target()}
	t.woken = s.engine.takers.woken(t.target.ID)
	s.tx.view.HoldObserver(o)
	if t.taken = s.tx.taken[t.target.ID]; t.taken == nil {
		t.taken = &takenRows{target: t.target, rows: map[string]observer.Change{}}
		if s.tx.taken == nil {
			s.tx.taken = map[uint32]*takenRows{}
		}
		s.tx.taken[t.target.ID] = t.taken
	}
	return t
}

// take takes up to n changes. It begins after the row that was taken last, whichever session took
// it: so a row that changes all the time, or that fails in each client, does not keep others from
// their turn, and clients that take at once meet less.
func (t *taking) take(ctx context.Context, n int) ([]expr.TakenChange, error) {
	for _, span := range t.spans() {
		for span.Start != nil && bytes.Compare(span.Start, span.End) < 0 && len(t.all) < n {
			keys, next, err := t.page(ctx, span, 2*(n-len(t.all)))
			if err != nil {
				return nil, err
			}
			for _, key := range keys {
				if t.target.IsPlace(key) {
					t.places = append(t.places, key)
					continue
				}
				if err := t.takeRow(ctx, key); err != nil {
					return nil, err
				}
				if len(t.all) == n {
					t.s.engine.takers.moveOn(t.target.ID, append(key, 0))
					return t.all, nil
				}
			}
			span.Start = next
		}
	}
	return t.all, nil
}

// spans are where the notifications are, in the order in which they are looked at.
func (t *taking) spans() (out []kv.Span) {
	from := t.s.engine.takers.position(t.target.ID)
	for _, span := range t.target.Spans() {
		if span.Contains(from) {
			out = append(out, kv.Span{Start: from, End: span.End})
			span.End = from
		}
		out = append(out, span)
	}
	return out
}

// errPageFull ends a scan.
var errPageFull = errors.New("the page is full")

// page returns the next keys that have, or may have, notifications which the snapshot shows, and
// where the following ones begin: nil for none.
func (t *taking) page(ctx context.Context, span kv.Span, most int) (keys [][]byte, next []byte,
	err error) {
	at := t.tx.ReadTS()
	err = t.s.engine.store.Notifications(ctx, span,
		func(key []byte, n *txn.Notification) error {
			key = t.target.RunKey(key)
			switch {
			case n.Observer != t.target.ID || n.Stamped() && n.CommitTS > at:
			case len(keys) > 0 && bytes.Equal(keys[len(keys)-1], key):
			case len(keys) == most:
				next = bytes.Clone(key)
				return errPageFull
			default:
				keys = append(keys, bytes.Clone(key))
			}
			return nil
		})
	if errors.Is(err, errPageFull) {
		err = nil
	}
	return keys, next, err
}

// takeRow takes a row's change, if there is one and no other transaction has taken it.
func (t *taking) takeRow(ctx context.Context, key []byte) error {
	key = t.target.RowKey(key)
	// A row that the transaction has written itself is left for another one: the row as this one
	// sees it is not as its snapshot shows it.
	if own, err := t.tx.Wrote(ctx, key); err != nil || own {
		return err
	}
	if c, before := t.taken.rows[string(key)]; before {
		if own, err := t.target.Acknowledged(ctx, t.tx, &c); err != nil || own {
			return err
		}
	}
	c, found, err := t.target.Take(ctx, t.tx, key)
	switch {
	case err != nil:
		return err
	case found != observer.Pending:
		if c.Stale {
			err = t.target.CleanStale(ctx, t.s.engine.store, &c)
		}
		return err
	}
	if c.Generation >= catalog.GenerationsMax {
		all, err := t.s.tx.view.Observers(ctx, t.s.databaseID)
		if err != nil {
			return err
		}
		return t.target.Refuse(t.tx, &c, t.o.Endless(&c, all))
	}
	size := int64(rowOverhead + 2*(len(c.Value)+len(c.Old)))
	t.bytes += size
	if err := t.s.memory.Grow(size); err != nil {
		return err
	}
	change, err := t.o.Change(&c)
	if err != nil {
		return err
	}
	if err := t.target.Acknowledge(t.tx, &c); err != nil {
		return err
	}
	note := c
	note.Old = nil
	if note.Value != nil {
		note.Value = []byte{} // only whether the row is gone matters later
	}
	t.taken.rows[string(key)] = note
	if change.Same && !c.Weak {
		return nil
	}
	t.tx.AlsoRunFor(c.Origin, c.Generation, c.Path.Then(t.target.ID))
	t.all = append(t.all, expr.TakenChange{Key: valuesOf(change.KeyColumns, change.Key),
		Row: imageOf(change.Row), Before: imageOf(change.Before), Origin: int64(c.Origin),
		Generation: int64(c.Generation)})
	return nil
}

func imageOf(m *catalog.RowImage) *expr.NamedValues {
	if m == nil {
		return nil
	}
	return valuesOf(m.Columns, m.Values)
}

func valuesOf(of []table.Column, values []types.Datum) *expr.NamedValues {
	if values == nil {
		return nil
	}
	out := &expr.NamedValues{Columns: make([]expr.SetColumn, len(of)), Values: values}
	for i := range of {
		out.Columns[i] = expr.SetColumn{Name: of[i].Name, Type: of[i].Type}
	}
	return out
}

// acknowledgements are what a commit acknowledges.
type acknowledgements struct {
	of        []*takenRows
	committed bool
}

// end notes how the commit ended. After one of which the result is unknown nothing is removed.
func (a *acknowledgements) end(err error) {
	if a != nil {
		a.committed = err == nil
	}
}

// acknowledged returns what the transaction that is about to commit has acknowledged, without what
// a savepoint has taken back, or an attempt at a statement that was run again.
func (s *transactor) acknowledged(ctx context.Context) (*acknowledgements, error) {
	if s.tx.tx == nil || len(s.tx.taken) == 0 {
		return nil, nil
	}
	out := &acknowledgements{}
	for _, taken := range s.tx.taken {
		for key, c := range taken.rows {
			own, err := taken.target.Acknowledged(ctx, s.tx.tx, &c)
			if err != nil {
				return nil, err
			}
			if !own {
				delete(taken.rows, key)
			}
		}
		out.of = append(out.of, taken)
	}
	return out, nil
}

// freed wakes those that wait for what a transaction had taken that has failed.
func (s *transactor) freed(taken map[uint32]*takenRows) {
	for id := range taken {
		s.engine.takers.wake(id)
	}
}

// cleaningMax is how long the client of a commit waits for the removal of what it acknowledged: on
// a store on the network others may write the same rows all the time.
const cleaningMax = time.Second

// endTaking follows the end of a transaction that has taken changes, when its row locks are
// released. What was acknowledged by its commit is removed. A failure is made up for by the next
// look at the row.
func (s *transactor) endTaking(ctx context.Context, all *acknowledgements) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaningMax)
	defer cancel()
	for _, taken := range all.of {
		if all.committed {
			rows := make([]observer.Change, 0, len(taken.rows))
			for _, c := range taken.rows {
				rows = append(rows, c)
			}
			if err := taken.target.CleanTaken(ctx, s.engine.store, rows); err != nil {
				s.engine.log.Warn("acknowledged changes are not removed yet", "error", err)
			}
		}
		s.engine.takers.wake(taken.target.ID)
	}
}
