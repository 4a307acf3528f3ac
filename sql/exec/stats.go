package exec

import (
	"context"
	"time"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// nodeStats is what EXPLAIN ANALYZE shows of a node. The time includes the node's children.
type nodeStats struct {
	rows, loops int64
	elapsed     time.Duration
}

// measured counts and times an operator.
type measured struct {
	op operator
	s  *nodeStats
}

func (r *run) measure(n physical.Node, op operator) operator {
	s := &nodeStats{}
	r.stats[n] = s
	return &measured{op: op, s: s}
}

func (m *measured) Open(ctx context.Context) error {
	m.s.loops++
	start := time.Now()
	err := m.op.Open(ctx)
	m.s.elapsed += time.Since(start)
	return err
}

func (m *measured) Next(ctx context.Context) (*types.Batch, error) {
	start := time.Now()
	b, err := m.op.Next(ctx)
	m.s.elapsed += time.Since(start)
	if b != nil {
		m.s.rows += int64(b.Rows())
	}
	return b, err
}

func (m *measured) Close() error { return m.op.Close() }
