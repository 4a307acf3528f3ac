package sql

import (
	"cmp"
	"context"
	"errors"
	"sort"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
)

// COPY into a table that the same transaction has created or truncated loads its rows as sorted
// files. A duplicate key is found late then, and its error names the line all the same.

// loadedLines are the numbers of the lines from which rows were loaded: as a rule a row's line is
// one behind that of the row before.
type loadedLines struct {
	n    uint32
	last int
	jump []lineJump // in the order of rows
}

// lineJump is a row whose line is not the next one.
type lineJump struct {
	row  uint32
	line int
}

// jumpBytes is the size of a lineJump.
const jumpBytes = 16

// add notes the line of the next row, and returns the bytes that it takes.
func (l *loadedLines) add(line int) (bytes int64) {
	if l.n == 0 || line != l.last+1 {
		l.jump = append(l.jump, lineJump{l.n, line})
		bytes = jumpBytes
	}
	l.n, l.last = l.n+1, line
	return bytes
}

// line returns the line of a row.
func (l *loadedLines) line(row uint32) int {
	i := sort.Search(len(l.jump), func(i int) bool { return l.jump[i].row > row })
	if i == 0 {
		return 0
	}
	return l.jump[i-1].line + int(row-l.jump[i-1].row)
}

// finish writes what was loaded.
func (c *copyIn) finish(ctx context.Context) error {
	if c.load == nil {
		return nil
	}
	err := c.load.Finish(ctx)
	return cmp.Or(c.takenError(ctx, err), err)
}

// takenError is the error of a loaded row whose key an earlier one has, with its line; nil for
// other errors.
func (c *copyIn) takenError(ctx context.Context, err error) error {
	var taken *table.TakenError
	if !errors.As(err, &taken) {
		return nil
	}
	err = c.s.conceal(ctx, c.inserts.Needs, c.s.printed(ctx, taken.Err))
	return sqlerr.Within(err, "COPY %s, line %d", c.table.Name, c.loaded.line(taken.Row))
}

// endLoad forgets what was not written.
func (c *copyIn) endLoad() {
	if c.load != nil {
		c.load.Abandon()
	}
	c.s.memory.Shrink(c.loaded.held())
}

func (l *loadedLines) held() int64 { return jumpBytes * int64(len(l.jump)) }
