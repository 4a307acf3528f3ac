package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// source is a running statement.
type source interface {
	// columns are those of its rows; nil for a statement without rows.
	columns() []physical.Column
	// next returns the next rows, nil at the end. The batch is valid until the next call.
	next(ctx context.Context) (*types.Batch, error)
	// tag is the command tag after n rows were taken.
	tag(n int64) string
	close()
}

// tagSource is a statement that has run and returned no rows.
type tagSource string

func (t tagSource) columns() []physical.Column                 { return nil }
func (t tagSource) next(context.Context) (*types.Batch, error) { return nil, nil }
func (t tagSource) tag(int64) string                           { return string(t) }
func (t tagSource) close()                                     {}

// rowsSource is a result that is in memory: of SHOW, EXPLAIN, or FETCH from a materialised cursor.
type rowsSource struct {
	cols    []physical.Column
	rows    *types.Batch
	name    string // the command tag
	counted bool   // the tag ends in the number of rows
}

// newRows returns a rowsSource. cols must not be nil.
func newRows(name string, cols []physical.Column, rows [][]types.Datum) *rowsSource {
	ts := make([]*types.Type, len(cols))
	for i := range cols {
		ts[i] = cols[i].Type
	}
	b := types.NewBatch(ts)
	for _, r := range rows {
		b.AppendRow(r)
	}
	return &rowsSource{cols: cols, rows: b, name: name}
}

func (r *rowsSource) columns() []physical.Column { return r.cols }
func (r *rowsSource) close()                     {}

func (r *rowsSource) tag(n int64) string {
	if r.counted {
		return r.name + " " + strconv.FormatInt(n, 10)
	}
	return r.name
}

func (r *rowsSource) next(context.Context) (*types.Batch, error) {
	b := r.rows
	r.rows = nil
	if b == nil || b.Rows() == 0 {
		return nil, nil
	}
	return b, nil
}
