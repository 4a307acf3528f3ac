package exec

import (
	"errors"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/table/types"
)

// condition narrows the selection of batches to the rows for which an expression is TRUE.
//
// A batch is evaluated as a whole, whereas PostgreSQL evaluates row by row. Where LIMIT or EXISTS
// is satisfied by the first rows, an error in a later row must therefore not be raised. So narrow
// first returns the rows before the one that fails, and keeps that row's error in failed: the
// caller returns it when it is asked for more rows.
type condition struct {
	run    *run
	prog   *eval.Program
	sel    []int32
	out    types.Batch
	failed error
	stats  *NodeStats // nil: nothing is counted
}

// narrow returns the rows of b that pass; nil when none does. Requires: failed is nil.
func (c *condition) narrow(b *types.Batch) (*types.Batch, error) {
	passed, err := c.pass(b)
	if c.stats != nil {
		c.stats.Removed += int64(b.Rows())
		if passed != nil {
			c.stats.Removed -= int64(passed.Rows())
		}
	}
	return passed, err
}

func (c *condition) pass(b *types.Batch) (_ *types.Batch, err error) {
	if c.sel == nil {
		c.sel = make([]int32, 0, b.Len)
	}
	if c.sel, err = c.prog.EvalBool(&c.run.ev, b, b.Sel, c.sel[:0]); err != nil {
		sel, rowErr := c.run.rowsBeforeError(b, err, c.prog)
		if len(sel) == 0 {
			return nil, rowErr
		}
		if c.sel, err = c.prog.EvalBool(&c.run.ev, b, sel, c.sel[:0]); err != nil {
			return nil, err
		}
		if len(c.sel) == 0 {
			return nil, rowErr
		}
		c.failed = rowErr
	}
	if len(c.sel) == 0 {
		return nil, nil
	}
	c.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: c.sel}
	return &c.out, nil
}

// rowsBeforeError finds, after a batch has failed, the first row for which one of the programs
// fails. It returns the rows in front of that row, and the row's error. If the rows do not fail
// when they are evaluated one by one, it returns no rows and the error of the batch.
func (r *run) rowsBeforeError(b *types.Batch, failed error,
	programs ...*eval.Program) ([]int32, error) {
	var e *sqlerr.Error
	if !errors.As(failed, &e) || !strings.HasPrefix(e.Code, "22") {
		return nil, failed // not an error of a row's values
	}
	sel := selection(b)
	if len(sel) == 1 {
		return nil, failed
	}
	row := make([]types.Datum, len(b.Cols))
	for k, i := range sel {
		for j, v := range b.Cols {
			row[j] = v.Get(int(i))
		}
		for _, p := range programs {
			if _, err := p.EvalRow(&r.ev, row); err != nil {
				return sel[:k], err
			}
		}
	}
	return nil, failed
}
