package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// implyEqualities derives equalities by transitivity: from a = b and b = c follows a = c. Each lets
// the search join two tables that are only connected through a third one. A join tests no equality
// that follows from those which it and the joins below it test (tie), so nothing is tested twice.
//
// Without statistics, or with more tables than are searched, the order in which tables are joined
// rests on the equalities as they are written.
func (jg *joinGraph) implyEqualities() {
	if !jg.c.Estimator.Known() || len(jg.leaves) > maxSearched {
		return
	}
	classes, calls := newClasses(), map[logical.ColID]*expr.Call{}
	var written [][2]logical.ColID
	for k := range jg.conds {
		jc := &jg.conds[k]
		a, b, ok := equalColumns(jc.e)
		if !ok || !jc.equal || !passesOn(jg.c.Meta.Col(a).T) {
			continue
		}
		jc.columns = [2]logical.ColID{a, b}
		classes.join(a, b)
		calls[a] = jc.e.(*expr.Call)
		calls[b] = calls[a]
		written = append(written, [2]logical.ColID{min(a, b), max(a, b)})
	}
	for i, a := range classes.order {
		for _, b := range classes.order[i+1:] {
			if !jg.c.step() {
				return
			}
			if classes.find(a) != classes.find(b) || jg.leafOf(a) == jg.leafOf(b) ||
				slices.Contains(written, [2]logical.ColID{min(a, b), max(a, b)}) {
				continue
			}
			jg.c.fired("ImplyEqualities")
			call := *calls[a]
			call.Args = []expr.Expr{jg.c.Meta.Col(a), jg.c.Meta.Col(b)}
			jg.addCond(&call)
			jg.conds[len(jg.conds)-1].columns = [2]logical.ColID{a, b}
		}
	}
}

// leafOf returns the index of the leaf that makes a column.
func (jg *joinGraph) leafOf(id logical.ColID) int {
	return slices.IndexFunc(jg.leaves, func(l leaf) bool { return l.cols.Has(id) })
}

// passesOn reports whether equality of a type passes on from one pair of values to the next,
// whatever the columns' collations: it compares integers.
func passesOn(t *types.Type) bool { return t.Family.Order() == types.I64 }

// tie records that a join makes two columns equal. It returns false if they are already. No columns
// are never equal.
func (jg *joinGraph) tie(columns [2]logical.ColID) bool {
	if columns[0] == 0 {
		return true
	}
	if jg.tied == nil {
		jg.tied = newClasses()
	}
	if root := jg.tied.find(columns[0]); root != 0 && root == jg.tied.find(columns[1]) {
		return false
	}
	jg.tied.join(columns[0], columns[1])
	return true
}

// tiedColumns are columns of a leaf that equalities compare with joined leaves. Such a column is
// counted once: the columns of the joined leaves with which others compare it are equal.
type tiedColumns []logical.ColID

// follows reports whether an equality follows from those that were counted, and counts it if not.
func (t *tiedColumns) follows(columns [2]logical.ColID, leaf logical.ColSet) bool {
	if columns[0] == 0 {
		return false
	}
	own := columns[0]
	if !leaf.Has(own) {
		own = columns[1]
	}
	if slices.Contains(*t, own) {
		return true
	}
	*t = append(*t, own)
	return false
}
