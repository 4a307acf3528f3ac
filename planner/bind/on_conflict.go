package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// onConflict binds ON CONFLICT: the arbiter indexes and the update.
func (b *binder) onConflict(in *inserting, oc *ast.OnConflict) *logical.OnConflict {
	out := &logical.OnConflict{Update: oc.Update}
	switch {
	case oc.Constraint != nil:
		out.Arbiters = constraintArbiter(in.d, *oc.Constraint)
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
	sc := in.rowScope(out.Existing)
	excluded := &fromTable{alias: "excluded", aliased: true, desc: nil, first: out.Excluded,
		cols: relationColumns(in.d, out.Excluded)}
	sc.tables = append(sc.tables, excluded)
	// A bare name would be ambiguous.
	sc.cols = append(sc.cols[:len(sc.cols):len(sc.cols)], excluded.cols...)
	sc.sel.clause = clauseSet
	up := &updating{b: b, sc: sc, d: in.d, old: out.Existing}
	up.set(oc.Set)
	out.Set = up.assigns
	if oc.Where != nil {
		sc.sel.clause = clauseWhere
		out.Where = b.condition(sc, oc.Where, "WHERE")
	}
	return out
}

func constraintArbiter(d *table.Desc, name ast.Ident) []table.IndexID {
	for i := range d.Indexes {
		if ix := &d.Indexes[i]; ix.Name == name.Name && ix.Constraint {
			return []table.IndexID{ix.ID}
		}
	}
	panic(failure.At(0, sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist",
		name.Name, d.Name))
}

// inferArbiters returns the unique indexes over exactly the named columns. A partial index is
// included only if the target's WHERE implies its predicate, which is decided by equality.
func (b *binder) inferArbiters(in *inserting, oc *ast.OnConflict) []table.IndexID {
	want := map[table.ColumnID]bool{}
	for _, el := range oc.Target {
		ref, ok := el.Expr.(*ast.ColumnRef)
		if !ok {
			panic(failure.Unsupported(el.Pos, "an expression as ON CONFLICT target"))
		}
		i := in.d.Column(ref.Name)
		if i < 0 || in.d.Columns[i].Hidden {
			panic(failure.At(ref.Pos, sqlerr.UndefinedColumn, "column \"%s\" does not exist",
				ref.Name))
		}
		want[in.d.Columns[i].ID] = true
	}
	first := b.newRow(in.d, in.sc.level())
	given := map[string]expr.Expr{}
	if oc.TargetWhere != nil {
		sc := in.rowScope(first)
		sc.sel.clause = clauseWhere
		given["where"] = b.condition(sc, oc.TargetWhere, "WHERE")
	}
	var out []table.IndexID
	for i := range in.d.Indexes {
		ix := &in.d.Indexes[i]
		if !ix.Unique && !ix.Primary || !sameColumns(ix, want) {
			continue
		}
		ok := b.implied(in.d, ix, first, given["where"])
		if ok {
			out = append(out, ix.ID)
		}
	}
	if out == nil {
		panic(failure.At(0, sqlerr.InvalidColumnReference,
			"there is no unique or exclusion constraint matching the ON CONFLICT specification"))
	}
	return out
}

func sameColumns(ix *table.Index, want map[table.ColumnID]bool) bool {
	have := map[table.ColumnID]bool{}
	for _, c := range ix.Columns {
		if !want[c.ColumnID] {
			return false
		}
		have[c.ColumnID] = true
	}
	return len(have) == len(want)
}

// implied reports whether the given condition implies a partial index's predicate.
func (b *binder) implied(d *table.Desc, ix *table.Index, first logical.ColID,
	given expr.Expr) bool {
	if ix.WhereText == "" {
		return true
	}
	if given == nil {
		return false
	}
	pred := failure.Must(b.indexCondition(d, first, ix.WhereText))
	have := conjuncts(nil, given)
	for _, p := range pred {
		found := false
		for _, h := range have {
			found = found || logical.Equal(p, h)
		}
		if !found {
			return false
		}
	}
	return true
}
