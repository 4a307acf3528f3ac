package exec

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// build makes the operator of a node and of its children.
func (r *run) build(n physical.Node) (operator, error) {
	before := r.partial
	r.noteDemand(n)
	op, err := r.buildNode(n)
	r.partial = before
	if err != nil || r.stats == nil {
		return op, err
	}
	return r.measure(n, op), nil
}

func (r *run) buildNode(n physical.Node) (operator, error) {
	switch n := n.(type) {
	case *physical.Scan:
		if err := r.readable(n.Table); err != nil {
			return nil, err
		}
		if op, err := r.steppedScan(n); op != nil || err != nil {
			return op, err
		}
		return r.buildScan(n)
	case *fixedRow:
		return r.buildFixedRow(n)
	case *physical.VirtualScan:
		return r.buildVirtualScan(n)
	case *physical.DeltaScan:
		return r.buildDeltaScan(n)
	case *physical.Values:
		return r.buildValues(n)
	case *physical.FuncScan:
		return r.buildFuncScan(n)
	case *physical.Recursion:
		return r.buildRecursion(n)
	case *physical.CTEScan:
		return r.buildCTEScan(n)
	case *physical.Filter:
		return r.buildFilter(n)
	case *physical.Project:
		return r.buildProject(n)
	case *physical.ProjectSet:
		return r.buildProjectSet(n)
	case *physical.HashJoin:
		return r.buildHashJoin(n)
	case *physical.NestLoop:
		return r.buildNestLoop(n)
	case *physical.IndexJoin:
		return r.buildIndexJoin(n)
	case *physical.Apply:
		return r.buildApply(n)
	case *physical.Sort:
		return r.buildSort(n)
	case *physical.Limit:
		return r.buildLimit(n)
	case *physical.Distinct:
		return r.buildDistinct(n)
	case *physical.Aggregate:
		return r.buildAggregate(n)
	case *physical.Append:
		return r.buildAppend(n)
	case *physical.SetOp:
		return r.buildSetOp(n)
	case *physical.Window:
		return r.buildWindow(n)
	case *physical.LockRows:
		return r.buildLockRows(n)
	case *physical.Insert:
		return r.buildInsert(n)
	case *physical.Update:
		return r.buildUpdate(n)
	case *physical.Delete:
		return r.buildDelete(n)
	case *physical.Merge:
		return r.buildMerge(n)
	case *physical.Refresh:
		return r.buildRefresh(n)
	}
	return nil, sqlerr.New(sqlerr.InternalError, "no operator for plan node %T", n)
}

// readable refuses to read a materialized view that has no rows yet, or does not follow its tables
// any more. It is asked when a plan is run: EXPLAIN prints the plan.
func (r *run) readable(d *table.Desc) error {
	if d.View == nil || !d.View.Unpopulated {
		return r.notBroken(d)
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
		"materialized view \"%s\" has not been populated", d.Name).
		WithHint("Use the REFRESH MATERIALIZED VIEW command.")
}

// buildAll builds several nodes.
func (r *run) buildAll(ns []physical.Node) ([]operator, error) {
	ops := make([]operator, len(ns))
	for i, n := range ns {
		op, err := r.build(n)
		if err != nil {
			return nil, err
		}
		ops[i] = op
	}
	return ops, nil
}

// buildBoth builds the two sides of a join or set operation.
func (r *run) buildBoth(left, right physical.Node) (l, rt operator, err error) {
	if l, err = r.build(left); err != nil {
		return nil, nil, err
	}
	rt, err = r.build(right)
	return l, rt, err
}
