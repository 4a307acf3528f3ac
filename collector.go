package minidb

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
)

// collector keeps a statement's results in memory (sql.ResultWriter).
type collector struct {
	cols    []physical.Column
	hasRows bool
	rows    [][]types.Datum
	first   [1][]types.Datum // room for the rows of a point read
	tag     string
	marked  int
	format  types.Format // of the session, for text
}

func (c *collector) Describe(cols []physical.Column) error {
	c.cols, c.hasRows = cols, true
	c.rows = nil
	return nil
}

func (c *collector) Rows(b *types.Batch, from, to int) error {
	n := len(b.Cols)
	block := make([]types.Datum, (to-from)*n)
	c.rows = slices.Grow(c.rows, to-from)
	for i := from; i < to; i++ {
		row := block[:n:n]
		block = block[n:]
		r := b.Row(i)
		for ci, col := range b.Cols {
			row[ci] = col.Get(r)
		}
		c.rows = append(c.rows, row)
	}
	return nil
}

func (c *collector) Complete(tag string) error {
	c.tag = tag
	return nil
}

func (c *collector) Empty() error       { return nil }
func (c *collector) Notice(*sql.Notice) {}
func (c *collector) Mark()              { c.marked = len(c.rows) }

func (c *collector) Rewind() bool {
	c.rows = c.rows[:min(c.marked, len(c.rows))]
	return true
}

// Result is what a statement did.
type Result struct{ tag string }

// RowsAffected is the number of rows that the statement inserted, changed, deleted or returned; 0
// for statements that have none.
func (r Result) RowsAffected() int64 {
	n, _ := strconv.ParseInt(r.tag[strings.LastIndexByte(r.tag, ' ')+1:], 10, 64)
	return n
}

// Tag is PostgreSQL's command tag: "INSERT 0 1", "CREATE TABLE".
func (r Result) Tag() string { return r.tag }
