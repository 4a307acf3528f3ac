package ri

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Host is the session: what the checks need of it.
type Host interface {
	// Tx is the transaction.
	Tx() *txn.Txn
	// Format is how the session reads values: its time zone decides which moment a date means.
	Format() *types.Format
	// Relation finds a relation as the transaction sees it, nil when there is none.
	Relation(ctx context.Context, id table.ID) (*table.Desc, error)
	// Run runs a statement within the one under way, on a snapshot of its own in READ COMMITTED,
	// and returns how many rows it has found or changed. Parameters have the types given.
	Run(ctx context.Context, text string, ts []*types.Type, params []types.Datum) (int64, error)
	// Newer reports whether a query has found more rows if it sees all that is committed now than
	// it does on the transaction's snapshot. With a snapshot for each statement it is false: Run
	// has seen all.
	Newer(ctx context.Context, text string, ts []*types.Type, params []types.Datum) (bool, error)
	// Refresh gives the transaction a new snapshot and reports true, where its isolation level lets
	// a statement have one.
	Refresh(ctx context.Context) (bool, error)
}

// Check does the checks that the statement under way has left, those that they leave in turn, and
// so on. Within a check it does nothing, for the outer one is not done yet.
func (q *Queue) Check(ctx context.Context) error {
	if q.at == len(q.now) || q.busy || q.held > 0 {
		return nil
	}
	q.busy = true
	defer func() { q.busy = false }()
	if _, err := q.host.Refresh(ctx); err != nil {
		return err
	}
	for q.at < len(q.now) {
		e := q.now[q.at]
		q.at++
		delete(q.seen, e.image)
		if err := q.one(ctx, &e); err != nil {
			return err
		}
	}
	q.now, q.at, q.seen = q.now[:0], 0, nil
	return nil
}

// CheckDeferred does the checks that were put off to the end of the transaction.
func (q *Queue) CheckDeferred(ctx context.Context) error {
	if len(q.later) == 0 {
		return nil
	}
	return q.promote(ctx, func(Constraint) bool { return true })
}

// promote does the deferred checks of the constraints that are chosen.
func (q *Queue) promote(ctx context.Context, chosen func(Constraint) bool) error {
	keep := q.later[:0:0]
	for i := range q.later {
		if e := q.later[i]; !chosen(e.constraint) {
			keep = append(keep, e)
		} else if q.note(&e) {
			q.now = append(q.now, e)
		}
	}
	q.later = keep
	return q.Check(ctx)
}

// SetMode is SET CONSTRAINTS: of the constraints named, or with nil of all. Immediate does the
// checks that were put off.
func (q *Queue) SetMode(ctx context.Context, named []Constraint, deferred bool) error {
	if named == nil {
		q.modes = modes{all: &deferred}
	}
	// savepoints keep the map that was
	next := make(map[Constraint]bool, len(q.modes.named)+len(named))
	maps.Copy(next, q.modes.named)
	for _, c := range named {
		next[c] = deferred
	}
	q.modes.named = next
	if deferred {
		return nil
	}
	return q.promote(ctx, func(
		c Constraint) bool {
		return named == nil || slices.Contains(named, c)
	})
}

// one does a check, unless its constraint is gone.
func (q *Queue) one(ctx context.Context, e *event) error {
	child, err := q.host.Relation(ctx, e.constraint.Table)
	if err != nil || child == nil {
		return err
	}
	if e.key != nil {
		ix := child.IndexByOID(e.constraint.OID)
		if ix == nil {
			return nil
		}
		return table.CheckKey(ctx, q.host.Tx(), child, ix, e.key, e.rowKey)
	}
	fk := child.ForeignKeyByOID(e.constraint.OID)
	if fk == nil {
		return nil
	}
	parent, err := q.host.Relation(ctx, fk.RefTable)
	if err != nil || parent == nil {
		return err
	}
	c := &check{host: q.host, child: child, parent: parent, fk: fk}
	if e.attach {
		return c.attach(ctx, e.values)
	}
	return c.detach(ctx, e.values, e.next)
}

// check is one check being done.
type check struct {
	host          Host
	child, parent *table.Desc
	fk            *table.ForeignKey
}

// key encodes the referenced key with these values, which are of the types given; ok is false when
// a value does not fit the referenced column, so that no row can have it.
func (c *check) key(values []types.Datum, from []*types.Type) (key []byte, ok bool, err error) {
	ix := c.parent.ReferencedIndex(c.fk.RefColumns)
	if ix == nil {
		return nil, false, sqlerr.New(sqlerr.InternalError,
			"no unique index of \"%s\" serves foreign key \"%s\"", c.parent.Name, c.fk.Name)
	}
	cast := make([]types.Datum, len(values))
	for i, v := range values {
		to := c.parent.Columns[c.parent.ColumnByID(c.fk.RefColumns[i])].Type
		if cast[i], ok = table.ReferredValue(v, from[i], to, c.host.Format()); !ok {
			return nil, false, nil
		}
	}
	key, err = table.ReferencedKey(c.parent, ix, c.fk.RefColumns, cast)
	return key, err == nil, err
}

func columnTypes(d *table.Desc, cols []table.ColumnID) []*types.Type {
	out := make([]*types.Type, len(cols))
	for i, id := range cols {
		out[i] = d.Columns[d.ColumnByID(id)].Type
	}
	return out
}

// attach verifies that the key exists to which rows refer now, and holds it.
func (c *check) attach(ctx context.Context, values []types.Datum) error {
	table.HoldStorage(c.host.Tx(), c.parent)
	ts := columnTypes(c.child, c.fk.Columns)
	key, ok, err := c.key(values, ts)
	if err != nil {
		return err
	}
	for ok {
		found, err := table.HoldKey(ctx, c.host.Tx(), key)
		var stale *txn.StaleError
		switch {
		case found:
			return nil
		case errors.As(err, &stale): // the key was removed while this waited for its lock
			fresh, rerr := c.host.Refresh(ctx)
			if rerr != nil {
				return rerr
			}
			if !fresh {
				return err
			}
		case err != nil:
			return err
		default:
			ok = false
		}
	}
	n, err := c.host.Run(ctx, "SELECT 1 FROM "+name(c.child)+" WHERE "+
		where(c.child, c.fk.Columns, 1)+" LIMIT 1", ts, values)
	if err != nil || n == 0 {
		return err
	}
	return Absent(c.child, c.parent, c.fk, values, c.host.Format())
}

// Absent is 23503 for values of a foreign key's columns that no row of the other table has.
func Absent(child, parent *table.Desc, fk *table.ForeignKey, values []types.Datum,
	f *types.Format) error {
	if countNulls(values) > 0 {
		return mixed(child, fk)
	}
	e := violation(child, fk, "insert or update on table \"%s\" violates foreign key "+
		"constraint \"%s\"", child.Name, fk.Name)
	e.Cause = &table.Disclosure{Desc: child, Key: fk.Columns,
		Otherwise: fmt.Sprintf("Key is not present in table \"%s\".", parent.Name)}
	return e.WithDetail("Key %s is not present in table \"%s\".",
		show(child, fk.Columns, values, f), parent.Name)
}

// mixed is 23503 for a row that breaks MATCH FULL.
func mixed(child *table.Desc, fk *table.ForeignKey) error {
	return violation(child, fk, "insert or update on table \"%s\" violates foreign key "+
		"constraint \"%s\"", child.Name, fk.Name).
		WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
}

// actionText is the statement, without its WHERE, that does an action to the rows that refer to a
// key of n columns. The new values of an update follow the n parameters of the WHERE.
func (c *check) actionText(action string, update bool, n int) string {
	switch {
	case action != "cascade":
		word := strings.ToUpper(strings.TrimPrefix(action, "set "))
		return "UPDATE " + name(c.child) + " SET " +
			assignWord(c.child, c.assigned(update), word)
	case update:
		return "UPDATE " + name(c.child) + " SET " + assign(c.child, c.fk.Columns, n+1)
	}
	return "DELETE FROM " + name(c.child)
}

// assigned are the columns that SET NULL and SET DEFAULT set.
func (c *check) assigned(update bool) []table.ColumnID {
	if !update && c.fk.OnDeleteColumns != nil {
		return c.fk.OnDeleteColumns
	}
	return c.fk.Columns
}

// detach does to the rows that refer to a key that is gone what the constraint says.
func (c *check) detach(ctx context.Context, old, next []types.Datum) error {
	ts := columnTypes(c.parent, c.fk.RefColumns)
	action := c.fk.OnDelete
	if next != nil {
		action = c.fk.OnUpdate
	}
	key, ok, err := c.key(old, ts)
	if err != nil {
		return err
	}
	if ok && isNoAction(action) { // another row may have the key by now
		if found, err := table.HasKey(ctx, c.host.Tx(), key); found || err != nil {
			return err
		}
	}
	table.HoldStorage(c.host.Tx(), c.child)
	table.BarKey(c.host.Tx(), c.child, key)
	matches := " WHERE " + where(c.child, c.fk.Columns, 1)
	newer, err := c.host.Newer(ctx, "SELECT 1 FROM "+name(c.child)+matches, ts, old)
	if err != nil {
		return err
	}
	if isNoAction(action) || action == "restrict" {
		return c.unreferenced(ctx, newer, matches, ts, old)
	}
	if newer { // rows that are not to be seen cannot be changed
		return sqlerr.New(sqlerr.SerializationFailure,
			"could not serialize access due to concurrent update")
	}
	all, params := ts, old
	if action == "cascade" && next != nil {
		all, params = append(slices.Clone(ts), ts...), append(slices.Clone(old), next...)
	}
	if _, err = c.host.Run(ctx, c.actionText(action, next != nil, len(old))+matches, all,
		params); err != nil || action != "set default" {
		return err
	}
	// The default may be the very key that is gone: rows that had it already left no event.
	return c.unreferenced(ctx, false, matches, ts, old)
}

// unreferenced verifies that no row refers to a key that is gone.
func (c *check) unreferenced(ctx context.Context, newer bool, matches string, ts []*types.Type,
	old []types.Datum) error {
	if !newer {
		n, err := c.host.Run(ctx, "SELECT 1 FROM "+name(c.child)+matches+" LIMIT 1", ts, old)
		if err != nil || n == 0 {
			return err
		}
	}
	e := violation(c.child, c.fk, "update or delete on table \"%s\" violates foreign key "+
		"constraint \"%s\" on table \"%s\"",
		c.parent.Name, c.fk.Name, c.child.Name)
	e.Cause = &table.Disclosure{Desc: c.parent, Key: c.fk.RefColumns,
		Otherwise: fmt.Sprintf("Key is still referenced from table \"%s\".", c.child.Name)}
	return e.WithDetail("Key %s is still referenced from table \"%s\".",
		show(c.parent, c.fk.RefColumns, old, c.host.Format()), c.child.Name)
}

// show writes values as details do: (a, b)=(1, x).
func show(d *table.Desc, cols []table.ColumnID, values []types.Datum, f *types.Format) string {
	names, texts := make([]string, len(cols)), make([]string, len(cols))
	for i, id := range cols {
		col := &d.Columns[d.ColumnByID(id)]
		names[i], texts[i] = col.Name, types.Text(col.Type, values[i], f)
	}
	return "(" + strings.Join(names, ", ") + ")=(" + strings.Join(texts, ", ") + ")"
}
