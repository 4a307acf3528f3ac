package exec

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// recursion computes a recursive WITH query that refers to an outer query, from the beginning each
// time it is opened.
type recursion struct {
	cteScan
	own *cte
}

func (r *run) buildRecursion(n *physical.Recursion) (operator, error) {
	return &recursion{cteScan: cteScan{run: r, id: n.CTE.ID}, own: r.newCTE(&n.CTE)}, nil
}

func (n *recursion) Open(context.Context) error {
	n.own.forget()
	n.c = n.own
	n.open(n.own.rows, 0)
	return nil
}

func (n *recursion) Next(ctx context.Context) (*types.Batch, error) {
	n.run.ctes[n.id] = n.own // the recursive term reads its work table by the ID
	return n.cteScan.Next(ctx)
}

// Close implements operator. The rows are given back when the statement ends.
func (n *recursion) Close() error {
	n.closeDisk()
	return n.own.closeOps()
}
