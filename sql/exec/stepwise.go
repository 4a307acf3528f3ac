package exec

import (
	"context"
	"slices"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// single passes on the rows of its child one by one. Where a LIMIT, a cursor or EXISTS may be
// satisfied before the end, a function with a side effect must not be called for rows that are
// never asked for: taking one row WHERE pg_try_advisory_lock(id) must take one lock.
type single struct {
	child operator
	rows  []int32 // of the child's batch; those from at on are not yet returned
	at    int
	out   types.Batch
	one   [1]int32
}

func (s *single) Open(ctx context.Context) error {
	s.rows, s.at = nil, 0
	return s.child.Open(ctx)
}

func (s *single) Close() error { return s.child.Close() }

func (s *single) Next(ctx context.Context) (*types.Batch, error) {
	for s.at == len(s.rows) {
		b, err := s.child.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		s.rows, s.at = selection(b), 0
		s.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: s.one[:]}
	}
	s.one[0] = s.rows[s.at]
	s.at++
	return &s.out, nil
}

// noteDemand records, before a node is built, whether all rows of the nodes below it will be asked
// for.
func (r *run) noteDemand(n physical.Node) {
	switch n.(type) {
	case *physical.Limit:
		r.partial = true
	case *physical.Sort, *physical.Aggregate, *physical.Window, *physical.Insert, *physical.Update,
		*physical.Delete, *physical.Merge, *physical.Refresh:
		r.partial = false
	}
}

// stepwise returns the input over which expressions are evaluated: child itself, or its rows one by
// one if the expressions have side effects and not all rows may be asked for.
func (r *run) stepwise(child operator, es ...expr.Expr) operator {
	if r.partial {
		if slices.ContainsFunc(es, volatile) {
			return &single{child: child}
		}
	}
	return child
}

// steppedScan returns a scan whose filter has side effects as a filter over a scan without one; nil
// for any other scan.
func (r *run) steppedScan(n *physical.Scan) (operator, error) {
	if !r.partial || n.Filter == nil || !volatile(n.Filter) {
		return nil, nil
	}
	bare := *n
	bare.Filter, bare.Limit = nil, 0
	child, err := r.buildScan(&bare)
	if err != nil {
		return nil, err
	}
	prog, err := eval.Compile(n.Filter)
	return &filter{run: r, child: &single{child: child}, cond: condition{run: r, prog: prog}}, err
}

// unobservable are volatile functions whose number of calls has no effect that can be seen.
var unobservable = map[string]bool{"random": true, "gen_random_uuid": true, "clock_timestamp": true,
	"timeofday": true}

// volatile reports whether an expression calls a volatile function whose number of calls matters.
func volatile(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		if call, ok := e.(*expr.Call); ok {
			found = found || call.Func.Volatility == expr.Volatile && !unobservable[call.Func.Name]
		}
		return !found
	})
	return found
}
