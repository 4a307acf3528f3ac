package interpreter

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

// noRows is a statement that does nothing.
type noRows struct{}

func (noRows) Columns() []physical.Column                 { return nil }
func (noRows) Next(context.Context) (*types.Batch, error) { return nil, nil }
func (noRows) Processed() int64                           { return 0 }
func (noRows) Close()                                     {}

// commandName is the name of a statement in messages.
func commandName(s ast.Statement) string {
	switch s.(type) {
	case *ast.Insert:
		return "INSERT"
	case *ast.Update:
		return "UPDATE"
	case *ast.Delete:
		return "DELETE"
	case *ast.Merge:
		return "MERGE"
	}
	return "non-SELECT"
}

// open runs OPEN.
func (x *interpreter) open(ctx context.Context, s *plpgsql.Open) error {
	name := x.values[s.Cursor.Number]
	if s.Dynamic != nil {
		return x.openDynamic(ctx, s, name.S)
	}
	of := s.Query
	if s.Cursor.Cursor != nil {
		of = s.Cursor.Cursor.Query
		if err := x.bindArguments(ctx, s.Cursor, s.Arguments); err != nil {
			return err
		}
	}
	return x.openCursor(ctx, s.Cursor, of, s.Scroll)
}

// openCursor opens the cursor of a variable for a query of the program.
func (x *interpreter) openCursor(ctx context.Context, v *plpgsql.Variable, of *plpgsql.Query,
	scroll *bool) error {
	q, err := x.prepared(ctx, of)
	if err != nil {
		return err
	}
	values := make([]types.Datum, len(x.values))
	copy(values, x.values)
	x.generation++
	name, err := x.host.OpenCursor(ctx, x.values[v.Number].S, &q.Statement, values, scroll)
	if err != nil {
		return x.queryFault(ctx, of, err, false)
	}
	return x.store(ctx, v, types.NewString(name))
}

func (x *interpreter) openDynamic(ctx context.Context, s *plpgsql.Open, name string) error {
	text, null, err := x.text(ctx, s.Dynamic)
	if err != nil {
		return err
	}
	if null {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "query string argument of EXECUTE is null")
	}
	values, ts, err := x.arguments(ctx, s.Using)
	if err != nil {
		return err
	}
	of := &plpgsql.Query{Text: text, Mode: plpgsql.SQL}
	parsed, err := parseQuery(ctx, text)
	if err == nil {
		st := &Statement{Text: text, Stmt: parsed, Types: ts}
		x.generation++
		if err = x.host.Plan(ctx, st, true); err == nil {
			name, err = x.host.OpenCursor(ctx, name, st, values, s.Scroll)
		}
	}
	if err != nil {
		return x.queryFault(ctx, of, err, true)
	}
	return x.store(ctx, s.Cursor, types.NewString(name))
}

// bindArguments gives the arguments of a bound cursor their values.
func (x *interpreter) bindArguments(ctx context.Context, v *plpgsql.Variable,
	arguments []*plpgsql.Query) error {
	for i, q := range arguments {
		d, t, err := x.value(ctx, q)
		if err == nil {
			err = x.assign(ctx, &plpgsql.Target{Variable: v.Cursor.Arguments[i]}, d, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cursorRows opens a bound cursor for a loop, which closes it at its end.
func (x *interpreter) cursorRows(ctx context.Context, s *plpgsql.ForQuery) (Rows, error) {
	v := s.Cursor
	if err := x.bindArguments(ctx, v, s.Arguments); err != nil {
		return nil, err
	}
	unnamed := x.values[v.Number].Null
	if err := x.openCursor(ctx, v, v.Cursor.Query, v.Cursor.Scroll); err != nil {
		return nil, err
	}
	name := x.values[v.Number].S
	first, err := x.host.FetchCursor(ctx, &ast.Fetch{Cursor: name,
		Direction: ast.FetchForward, Count: 0})
	if err != nil {
		return nil, err
	}
	cols := first.Columns()
	first.Close()
	return &cursorLoop{x: x, variable: v.Number, name: name, cols: cols, unnamed: unnamed}, nil
}

// cursorLoop is the rows of a cursor.
type cursorLoop struct {
	x        *interpreter
	variable int
	name     string
	cols     []physical.Column
	unnamed  bool
	rows     Rows
	closed   bool
}

// loopRowsAtOnce is how many rows of a cursor a loop takes at once, as PostgreSQL does.
const loopRowsAtOnce = 50

// Columns implements Rows.
func (c *cursorLoop) Columns() []physical.Column { return c.cols }

// Processed implements Rows.
func (c *cursorLoop) Processed() int64 { return 0 }

// Next implements Rows.
func (c *cursorLoop) Next(ctx context.Context) (*types.Batch, error) {
	for attempt := 0; ; attempt++ {
		if c.rows == nil {
			rows, err := c.x.host.FetchCursor(ctx, &ast.Fetch{Cursor: c.name,
				Direction: ast.FetchForward, Count: loopRowsAtOnce})
			if err != nil {
				return nil, err
			}
			c.rows = rows
		}
		b, err := c.rows.Next(ctx)
		if b != nil || err != nil {
			return b, err
		}
		c.rows.Close()
		if c.rows = nil; attempt > 0 {
			return nil, nil
		}
	}
}

// Close implements Rows. The cursor may be gone, with its subtransaction.
func (c *cursorLoop) Close() {
	if c.closed {
		return
	}
	c.closed = true
	if c.rows != nil {
		c.rows.Close()
	}
	_ = c.x.host.CloseCursor(c.name)
	if c.unnamed {
		c.x.values[c.variable] = types.Null
	}
}

// fetch runs FETCH and MOVE.
func (x *interpreter) fetch(ctx context.Context, s *plpgsql.Fetch) error {
	name, err := x.cursorName(s.Cursor)
	if err != nil {
		return err
	}
	f := &ast.Fetch{Move: s.Move, Direction: s.Direction, Count: s.Count, All: s.All, Cursor: name}
	if s.CountOf != nil {
		n, null, err := x.integer(ctx, s.CountOf)
		if err != nil {
			return err
		}
		if null {
			return sqlerr.New(sqlerr.NullValueNotAllowed, "relative or absolute cursor position "+
				"is null")
		}
		f.Count = n
	}
	x.generation++
	rows, err := x.host.FetchCursor(ctx, f)
	if err != nil {
		return err
	}
	defer rows.Close()
	n, r, err := x.drain(ctx, rows, &plpgsql.Query{}, s.Into, true)
	if err != nil {
		return err
	}
	if s.Move {
		n = rows.Processed()
	}
	x.processed = n
	x.setFound(n != 0)
	if s.Into == nil {
		return nil
	}
	return x.into(ctx, s.Into, r)
}

// cursorName returns the name of the cursor that a variable refers to.
func (x *interpreter) cursorName(v *plpgsql.Variable) (string, error) {
	d := x.values[v.Number]
	if d.Null {
		return "", sqlerr.New(sqlerr.NullValueNotAllowed, "cursor variable \"%s\" is null", v.Name)
	}
	return d.S, nil
}

func (x *interpreter) close(s *plpgsql.Close) error {
	name, err := x.cursorName(s.Cursor)
	if err != nil {
		return err
	}
	return x.host.CloseCursor(name)
}
