package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// A cursor's query returns the keys of its tables' rows behind its own columns, so that UPDATE and
// DELETE … WHERE CURRENT OF find the row that was fetched last. For
//
//	DECLARE c CURSOR FOR SELECT upper(name) FROM t     (t has the primary key id)
//
// the plan returns upper(name), id, and DELETE FROM t WHERE CURRENT OF c is bound as
//
//	DELETE FROM t WHERE id = current_of('c')
//
// where current_of asks the session's cursor. Which cursors have such keys is PostgreSQL's rule:
// those that lock rows have the keys of the rows that they lock, and others that of their only
// table, if each row of the cursor is one of that table.

// buildPositions finds the tables whose row keys the query of a cursor returns.
func (s *selecting) buildPositions() {
	switch {
	case !s.positioned:
	case len(s.locks) > 0:
		s.positions = s.locks
	case s.core.Distinct, len(s.core.DistinctOn) > 0, s.group.given, s.having != nil,
		len(s.sc.sel.aggs) > 0, len(s.sc.sel.wins) > 0, len(s.sc.sel.sets) > 0,
		len(s.sc.tables) != 1:
	default:
		s.positions = s.onlyTable(s.sc.tables[0])
	}
}

// onlyTable returns the table of an entry of FROM, or of the subquery or view that the entry is.
func (s *selecting) onlyTable(t *fromTable) []logical.LockTarget {
	if !t.nested {
		if t.desc == nil || !t.desc.HasRows() {
			return nil
		}
		return []logical.LockTarget{{Desc: t.desc, First: t.first}}
	}
	scans, simple := s.lockable(t.source)
	if !simple || len(scans) != 1 {
		return nil
	}
	return []logical.LockTarget{{Desc: scans[0].Desc, First: scans[0].First}}
}

// outputPositions adds the keys to the result.
func (s *selecting) outputPositions(q *logical.Query) {
	for _, t := range s.positions {
		at := opt.Position{Table: t.Desc.ID, First: len(q.Cols), Columns: len(t.Desc.RowKey),
			Locked: len(s.locks) > 0}
		for _, kc := range t.Desc.RowKey {
			id := t.First + t.Desc.ColumnByID(kc.ColumnID)
			q.Cols = append(q.Cols, logical.Output{ID: id})
		}
		s.b.meta.Positions = append(s.b.meta.Positions, at)
	}
}

// currentRow returns the condition that a row, whose first column is old, is the one at which a
// cursor is.
func (b *binder) currentRow(t *destination, old logical.ColID, cursor string) []expr.Expr {
	if len(t.layers) > 0 {
		panic(failure.At(0, sqlerr.FeatureNotSupported,
			"WHERE CURRENT OF on a view is not implemented"))
	}
	name := &expr.Const{T: types.TText, Value: types.NewString(cursor)}
	var conds []expr.Expr
	for i, kc := range t.d.RowKey {
		o := t.d.ColumnByID(kc.ColumnID)
		fn := builtin.CurrentOf(t.d, i, t.d.Columns[o].Type)
		key := &expr.Call{T: fn.Returns, Func: fn, Args: []expr.Expr{name}}
		conds = append(conds, b.binary("=", b.ref(old+o, 0), key, 0))
	}
	return conds
}
