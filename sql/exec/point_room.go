package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// PointRoom is the memory of a statement whose plan [IsPointRead]. Such statements use it one after
// the other, and one with the plan of the last finds its operators ready. The zero value is empty.
type PointRoom struct {
	cursor Cursor
	run    run
	scan   pointScan
	plan   *physical.Plan // that root is for; nil: there is none
	root   operator
}

// IsPointRead reports whether a plan does nothing but read one row by constants and parameters. Its
// operators hold nothing between two calls of Next.
func IsPointRead(plan *physical.Plan) bool {
	n := plan.Root
	if p, ok := n.(*physical.Project); ok {
		if !onlyColumns(p.Exprs) {
			return false
		}
		n = p.Child
	}
	s, ok := n.(*physical.Scan)
	if !ok || !isPointScan(s) || s.Filter != nil || len(plan.CTEs) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.Ranges[0].Eq, expr.HasSubquery)
}

// Open is the function Open for a plan that IsPointRead, without Env.Stats. Requires: the cursor
// opened before is closed, and Clear was called since.
func (m *PointRoom) Open(ctx context.Context, env *Env, plan *physical.Plan,
	params []types.Datum) (*Cursor, error) {
	if err := checkParams(env, plan, params); err != nil {
		return nil, err
	}
	r := &m.run
	r.init(ctx, env, plan, params)
	if m.plan != plan {
		m.plan, m.scan, r.point = nil, pointScan{}, &m.scan
		root, err := r.build(plan.Root)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		m.root = root
		if m.scan.node.Table.View == nil { // whether a view can be read is known for one run only
			m.plan = plan
		}
	}
	m.cursor = Cursor{run: r, plan: plan, root: m.root}
	return &m.cursor, m.root.Open(ctx)
}

// Clear drops all that belongs to the statement that used the memory, the row it read included.
func (m *PointRoom) Clear() {
	m.run = run{}
	clear(m.scan.row)
	for _, col := range m.scan.out.Cols {
		clear(col.S[:cap(col.S)])
		clear(col.Dec[:cap(col.Dec)])
		clear(col.Arr[:cap(col.Arr)])
	}
}
