package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// onConflict binds ON CONFLICT: the arbiter indexes and the update.
func (b *binder) onConflict(in *inserting, oc *ast.OnConflict) *logical.OnConflict {
	out := &logical.OnConflict{Update: oc.Update}
	switch {
	case oc.Constraint != nil:
		out.Arbiters = constraintArbiter(in.t.named, *oc.Constraint, oc.Update)
		for _, c := range in.d.Index(out.Arbiters[0]).Columns {
			if c.ColumnID != 0 {
				in.t.right.Select(c.ColumnID)
			}
		}
	case len(oc.Target) > 0:
		out.Arbiters = b.inferArbiters(in, oc)
	case oc.Update:
		panic(failure.Of(sqlerr.New(sqlerr.SyntaxError,
			"ON CONFLICT DO UPDATE requires inference specification or constraint name").At(
			int(oc.Pos)).WithHint("For example, ON CONFLICT (column_name).")))
	}
	if !oc.Update {
		return out
	}
	out.Existing = b.newRow(in.d, in.sc.level())
	out.Excluded = b.newRow(in.d, in.sc.level())
	out.Row = b.newRow(in.d, in.sc.level())
	sc := in.rowScope(out.Existing)
	excluded, _ := in.t.over(b, in.sc, "excluded", out.Excluded)
	excluded.desc, excluded.right = nil, nil
	// The privilege is that on the table, but the row is none that the table has: what is read of
	// it brings no policy for SELECT into play.
	noteReads(excluded.cols, in.t.named, b.need(in.t.named, 0))
	sc.tables = append(sc.tables, excluded)
	// A bare name would be ambiguous.
	sc.cols = append(sc.cols[:len(sc.cols):len(sc.cols)], excluded.cols...)
	sc.sel.clause = clauseSet
	up := &updating{b: b, sc: sc, t: in.t, old: out.Existing}
	up.assignAll(oc.Set)
	out.Set, out.Generated = up.assigns, b.recomputed(in.d, out.Row)
	if oc.Where != nil {
		sc.sel.clause = clauseWhere
		out.Where = b.condition(sc, oc.Where, "WHERE")
	}
	return out
}

func constraintArbiter(d *table.Desc, name ast.Ident, update bool) []table.IndexID {
	for i := range d.Indexes {
		if ix := &d.Indexes[i]; ix.Name == name.Name && ix.Constraint {
			if update && ix.Exclusion() {
				panic(failure.At(0, sqlerr.WrongObjectType,
					"ON CONFLICT DO UPDATE not supported with exclusion constraints"))
			}
			return []table.IndexID{ix.ID}
		}
	}
	panic(failure.At(0, sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist",
		name.Name, d.Name))
}

// inferArbiters returns the unique indexes over exactly the named columns and expressions, as
// PostgreSQL's infer_arbiter_indexes does. A partial index is included only if the target's WHERE
// implies its predicate.
func (b *binder) inferArbiters(in *inserting, oc *ast.OnConflict) []table.IndexID {
	first := b.newRow(in.d, in.sc.level())
	want := map[table.ColumnID]bool{}
	var exprs []expr.Expr
	for _, el := range oc.Target {
		ref, ok := el.Expr.(*ast.ColumnRef)
		if !ok {
			exprs = append(exprs, b.arbiterExpr(in, first, el.Expr))
			continue
		}
		k := in.t.named.Column(ref.Name)
		if k < 0 || in.t.named.Columns[k].Hidden {
			panic(failure.At(ref.Pos, sqlerr.UndefinedColumn, "column \"%s\" does not exist",
				ref.Name))
		}
		want[in.d.Columns[in.t.stored(k)].ID] = true
		in.t.note(k, (*opt.Need).Select)
	}
	var given []expr.Expr
	if oc.TargetWhere != nil {
		sc := in.rowScope(first)
		sc.sel.clause = clauseIndexWhere
		refuseSubquery(oc.TargetWhere, clauseIndexWhere)
		given = conjuncts(nil, b.condition(sc, oc.TargetWhere, "WHERE"))
	}
	var out []table.IndexID
	for i := range in.d.Indexes {
		ix := &in.d.Indexes[i]
		if (ix.Unique || ix.Primary) && b.sameKey(in.d, ix, first, want, exprs) &&
			b.implied(in.d, ix, first, given) {
			out = append(out, ix.ID)
		}
	}
	if out == nil {
		panic(failure.At(0, sqlerr.InvalidColumnReference,
			"there is no unique or exclusion constraint matching the ON CONFLICT specification"))
	}
	return out
}

// arbiterExpr binds an expression of the target.
func (b *binder) arbiterExpr(in *inserting, first logical.ColID, e ast.Expr) expr.Expr {
	sc := in.rowScope(first)
	sc.sel.clause = clauseIndexExpr
	refuseSubquery(e, clauseIndexExpr)
	return b.expr(sc, e)
}

// sameKey reports whether the key of an index consists of just these columns and expressions.
func (b *binder) sameKey(d *table.Desc, ix *table.Index, first logical.ColID,
	want map[table.ColumnID]bool, exprs []expr.Expr) bool {
	have := map[table.ColumnID]bool{}
	var computed []expr.Expr
	for _, c := range ix.Columns {
		if x := d.Expr(d.Part(c.ColumnID)); x != nil {
			computed = append(computed, b.indexExpr(d, first, x.Text))
			continue
		}
		if !want[c.ColumnID] {
			return false
		}
		have[c.ColumnID] = true
	}
	return len(have) == len(want) && containsAll(computed, exprs) && containsAll(exprs, computed)
}

// containsAll reports whether each of some expressions is in a list.
func containsAll(list, some []expr.Expr) bool {
	return !slices.ContainsFunc(some, func(s expr.Expr) bool {
		return !slices.ContainsFunc(list, func(l expr.Expr) bool { return logical.Equal(l, s) })
	})
}

// implied reports whether the given conditions imply a partial index's predicate.
func (b *binder) implied(d *table.Desc, ix *table.Index, first logical.ColID,
	given []expr.Expr) bool {
	if ix.WhereText == "" {
		return true
	}
	pred := failure.Must(b.indexCondition(d, first, ix.WhereText))
	return !slices.ContainsFunc(pred, func(p expr.Expr) bool { return !logical.Implies(given, p) })
}
