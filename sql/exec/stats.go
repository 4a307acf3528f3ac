package exec

import (
	"context"
	"time"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// NodeStats are what EXPLAIN ANALYZE shows of a node, summed over its loops. Times include those of
// the node's children.
type NodeStats struct {
	Rows, Loops      int64
	Startup, Elapsed time.Duration // until the first rows, and until the end
	// Removed are rows that the node's condition did not let pass, and Unmatched are pairs of a
	// join that its condition did not.
	Removed, Unmatched int64
}

// measured counts and times an operator.
type measured struct {
	op    operator
	s     *NodeStats
	fresh bool          // nothing was asked for since Open
	open  time.Duration // the time that Open of this loop took
}

func (r *run) measure(n physical.Node, op operator) operator {
	s := &NodeStats{}
	r.stats[n] = s
	if c, ok := op.(conditional); ok {
		c.countInto(s)
	}
	return &measured{op: op, s: s}
}

// conditional is an operator that counts the rows, or the pairs of rows, that do not meet its
// condition.
type conditional interface{ countInto(s *NodeStats) }

func (s *scan) countInto(to *NodeStats)        { s.filter.stats = to }
func (f *filter) countInto(to *NodeStats)      { f.cond.stats = to }
func (v *virtualScan) countInto(to *NodeStats) { v.filter.stats = to }
func (s *deltaScan) countInto(to *NodeStats)   { s.filter.stats = to }
func (j *hashJoin) countInto(to *NodeStats)    { j.match.stats = to }
func (j *nestLoop) countInto(to *NodeStats)    { j.match.stats = to }
func (j *indexJoin) countInto(to *NodeStats)   { j.match.stats = to }
func (a *apply) countInto(to *NodeStats)       { a.match.stats = to }

func (m *measured) Open(ctx context.Context) error {
	m.s.Loops++
	start := time.Now()
	err := m.op.Open(ctx)
	m.open, m.fresh = time.Since(start), true
	m.s.Elapsed += m.open
	return err
}

func (m *measured) Next(ctx context.Context) (*types.Batch, error) {
	start := time.Now()
	b, err := m.op.Next(ctx)
	took := time.Since(start)
	m.s.Elapsed += took
	if m.fresh {
		m.fresh = false
		m.s.Startup += m.open + took
	}
	if b != nil {
		m.s.Rows += int64(b.Rows())
	}
	return b, err
}

func (m *measured) Close() error { return m.op.Close() }
