package ri

import (
	"bytes"
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// Constraint is a foreign key or a deferrable key, whatever its name is by now.
type Constraint struct {
	Table, OID table.ID
}

// event is one check that is left to do.
type event struct {
	constraint Constraint
	of         table.ID // the table whose row was written
	// attach: values of the constraint's columns; otherwise values of the referenced columns as
	// they were, and next as they become, nil when the row is gone.
	attach       bool
	values, next []types.Datum
	image        string // of an attach event
	// key and rowKey are set if a row waits for a key of the constraint's index.
	key, rowKey []byte
}

// Queue holds the checks that a session's transaction has left to do. The zero value is empty. It
// is the exec.Checks of the statements whose rows it follows.
type Queue struct {
	host Host
	// now are events of the statement under way, those before at are done.
	now []event
	at  int
	// seen are the attach events in now that have not been done.
	seen  map[string]struct{}
	later []event // until the transaction ends
	modes modes
	// referrers are the foreign keys to a table, by the version of its descriptor.
	referrers map[referred][]referrer
	// awaits are the constraints of which KeyAwaited was called, also for what was undone since.
	awaits map[Constraint]bool
	busy   bool // checks are being done
	held   int
}

// modes are what SET CONSTRAINTS has said in this transaction.
type modes struct {
	all   *bool
	named map[Constraint]bool
}

type referred struct {
	id      table.ID
	version uint64
}

// referrer is a foreign key to a table.
type referrer struct {
	child *table.Desc
	fk    *table.ForeignKey
}

// NewQueue returns the queue of a session.
func NewQueue(host Host) *Queue { return &Queue{host: host} }

// Mark is a place in the queue.
type Mark struct{ now, later int }

// Mark returns the present place.
func (q *Queue) Mark() Mark { return Mark{now: len(q.now), later: len(q.later)} }

// Savepoint is what a rollback to a savepoint brings back.
type Savepoint struct {
	later []event
	modes modes
}

// Savepoint returns the present state between two statements.
func (q *Queue) Savepoint() Savepoint { return Savepoint{later: q.later, modes: q.modes} }

// RollbackTo goes back to a state. Checks that SET CONSTRAINTS has done since are left to do again:
// what made them pass may be undone.
func (q *Queue) RollbackTo(sp Savepoint) {
	q.Clear()
	q.later, q.modes = sp.later[:len(sp.later):len(sp.later)], sp.modes
}

// ReleaseTo forgets the events left since the mark.
func (q *Queue) ReleaseTo(m Mark) {
	if len(q.now) > m.now {
		q.now = q.now[:m.now]
		q.at = min(q.at, m.now) // those that are left anew are to be checked anew
		q.seen = nil
		for i := q.at; i < len(q.now); i++ {
			q.note(&q.now[i])
		}
	}
	q.later = q.later[:min(len(q.later), m.later)]
}

// Clear forgets the events of a statement that is over.
func (q *Queue) Clear() {
	q.now, q.at, q.seen, q.busy, q.held = q.now[:0], 0, nil, false, 0
}

// End forgets everything: the transaction is over.
func (q *Queue) End() {
	if q.later == nil && q.referrers == nil && q.awaits == nil && q.modes.all == nil &&
		q.modes.named == nil && len(q.now) == 0 {
		return
	}
	*q = Queue{host: q.host}
}

// Pending reports whether rows of a table have left checks that wait for the transaction's end.
func (q *Queue) Pending(id table.ID) bool {
	return slices.ContainsFunc(q.later, func(e event) bool { return e.of == id })
}

// Hold puts Check off until the function that it returns was called: the rows of one statement come
// in pieces.
func (q *Queue) Hold() (release func()) {
	q.held++
	return func() { q.held-- }
}

// note records an attach event, and reports whether it is the first of its kind.
func (q *Queue) note(e *event) bool {
	if !e.attach {
		return true
	}
	if _, have := q.seen[e.image]; have {
		return false
	}
	if q.seen == nil {
		q.seen = map[string]struct{}{}
	}
	q.seen[e.image] = struct{}{}
	return true
}

// image encodes what an attach event will look for.
func image(d *table.Desc, fk *table.ForeignKey, values []types.Datum) (string, error) {
	b := table.AppendID(nil, fk.OID)
	for i, id := range fk.Columns {
		var err error
		if b, err = codec.AppendKey(b, d.Columns[d.ColumnByID(id)].Type, values[i], false,
			false); err != nil {
			return "", err
		}
	}
	return string(b), nil
}

func (q *Queue) add(e event, deferred bool) {
	if deferred {
		q.later = append(q.later, e)
	} else if q.note(&e) {
		q.now = append(q.now, e)
	}
}

// deferred reports whether the checks of a constraint wait for the end of the transaction.
func (q *Queue) deferred(c Constraint, deferrable, initially bool) bool {
	if !deferrable {
		return false
	}
	if d, ok := q.modes.named[c]; ok {
		return d
	}
	if q.modes.all != nil {
		return *q.modes.all
	}
	return initially
}

// KeyAwaited is part of table.KeyHook.
func (q *Queue) KeyAwaited(d *table.Desc, ix *table.Index, key, rowKey []byte) {
	c := Constraint{d.ID, ix.OID}
	if q.awaits == nil {
		q.awaits = map[Constraint]bool{}
	}
	q.awaits[c] = true
	q.add(event{constraint: c, of: d.ID, key: bytes.Clone(key), rowKey: bytes.Clone(rowKey)},
		q.deferred(c, ix.Deferrable, ix.InitiallyDeferred))
}

// RowChanged is part of table.RowHook.
func (q *Queue) RowChanged(ctx context.Context, d *table.Desc, old, new []types.Datum) error {
	if old != nil && len(d.ReferencedBy) > 0 {
		if err := q.detach(ctx, d, old, new); err != nil {
			return err
		}
	}
	if new == nil {
		return nil
	}
	for i := range d.ForeignKeys {
		fk := &d.ForeignKeys[i]
		values := pick(d, fk.Columns, new)
		if old != nil && same(d, fk.Columns, pick(d, fk.Columns, old), values) {
			continue
		}
		switch nulls := countNulls(values); {
		case nulls == 0:
			c := Constraint{d.ID, fk.OID}
			key, err := image(d, fk, values)
			if err != nil {
				return err
			}
			q.add(event{constraint: c, of: d.ID, attach: true, values: values, image: key},
				q.deferred(c, fk.Deferrable, fk.InitiallyDeferred))
		case fk.MatchFull && nulls < len(values):
			return mixed(d, fk)
		}
	}
	return nil
}

// detach leaves events for the keys of a row that are gone.
func (q *Queue) detach(ctx context.Context, d *table.Desc, old, new []types.Datum) error {
	refs, err := q.referrersOf(ctx, d)
	if err != nil {
		return err
	}
	for _, r := range refs {
		was := pick(d, r.fk.RefColumns, old)
		if countNulls(was) > 0 {
			continue
		}
		e := event{constraint: Constraint{r.child.ID, r.fk.OID}, of: d.ID, values: was}
		action := r.fk.OnDelete
		if new != nil {
			e.next, action = pick(d, r.fk.RefColumns, new), r.fk.OnUpdate
			if same(d, r.fk.RefColumns, was, e.next) &&
				(!byImage[action] || identical(d, r.fk.RefColumns, was, e.next)) {
				continue
			}
		}
		q.add(e, isNoAction(action) &&
			q.deferred(e.constraint, r.fk.Deferrable, r.fk.InitiallyDeferred))
	}
	return nil
}

// AwaitsKeys is part of table.KeyHook.
func (q *Queue) AwaitsKeys(d *table.Desc, ix *table.Index) bool {
	return q.awaits[Constraint{d.ID, ix.OID}]
}

// ForgetReferrers drops what the queue has cached of the schema. Call it after each change of the
// schema.
func (q *Queue) ForgetReferrers() { q.referrers = nil }

func (q *Queue) referrersOf(ctx context.Context, d *table.Desc) ([]referrer, error) {
	key := referred{d.ID, d.Version}
	if refs, ok := q.referrers[key]; ok {
		return refs, nil
	}
	var refs []referrer
	for _, id := range d.ReferencedBy {
		child, err := q.host.Relation(ctx, id)
		if err != nil {
			return nil, err
		}
		if child == nil {
			continue // it was dropped in this transaction
		}
		for i := range child.ForeignKeys {
			if child.ForeignKeys[i].RefTable == d.ID {
				refs = append(refs, referrer{child, &child.ForeignKeys[i]})
			}
		}
	}
	if q.referrers == nil {
		q.referrers = map[referred][]referrer{}
	}
	q.referrers[key] = refs
	return refs, nil
}

// byImage are the actions on update that follow a key which stays equal but looks different.
var byImage = map[string]bool{"cascade": true, "set null": true, "restrict": true}

func isNoAction(action string) bool { return action == "" || action == "no action" }

// pick returns the values of some columns of a row.
func pick(d *table.Desc, cols []table.ColumnID, row []types.Datum) []types.Datum {
	out := make([]types.Datum, len(cols))
	for i, id := range cols {
		out[i] = row[d.ColumnByID(id)]
	}
	return out
}

func countNulls(values []types.Datum) (n int) {
	for _, v := range values {
		if v.Null {
			n++
		}
	}
	return n
}

func same(d *table.Desc, cols []table.ColumnID, a, b []types.Datum) bool {
	for i, id := range cols {
		if a[i].Null != b[i].Null || !a[i].Null &&
			types.Compare(d.Columns[d.ColumnByID(id)].Type, a[i], b[i]) != 0 {
			return false
		}
	}
	return true
}

// identical reports whether keys that are the same look the same: a citext may change its case.
func identical(d *table.Desc, cols []table.ColumnID, a, b []types.Datum) bool {
	for i, id := range cols {
		if table.Differ(d.Columns[d.ColumnByID(id)].Type, a[i], b[i]) {
			return false
		}
	}
	return true
}

// violation is 23503 for a foreign key of a table.
func violation(child *table.Desc, fk *table.ForeignKey, format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(sqlerr.ForeignKeyViolation, format, args...)
	e.Schema, e.Table, e.Constraint = child.Schema, child.Name, fk.Name
	return e
}
