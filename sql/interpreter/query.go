package interpreter

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

// query is a query of the program with what is kept of it between its runs.
type query struct {
	Statement
	of         *plpgsql.Query
	generation int // for which its plan was validated
	// records are the variables of changing type that it uses, with the types for which it was
	// planned.
	records []usedRecord
	// variables is set if it uses any variable.
	variables bool
}

type usedRecord struct {
	variable int
	t        *types.Type
}

// visible are the variables that a query may use: opt.Variables.
type visible struct {
	x *interpreter
	q *query
}

// Variable implements opt.Variables.
func (v visible) Variable(names []string) *opt.Variable {
	if len(names) > 3 {
		return nil
	}
	found, parts := v.q.of.Scope.Find(names...)
	if found == nil || len(names) > parts+1 || len(names) > parts && !found.IsRow() {
		return nil
	}
	n := found.Number
	t := v.x.types[n]
	v.q.variables = true
	if found.Varies() {
		v.q.records = append(v.q.records, usedRecord{n, t})
	}
	out := &opt.Variable{Name: found.Name, Param: n + 1, Type: t}
	if len(names) > parts {
		out.Field = names[parts]
	}
	return out
}

// Column implements opt.Variables.
func (v visible) Column() (column, ambiguous bool) {
	c := v.q.of.Scope.Conflict()
	return c == plpgsql.UseColumn, c == plpgsql.ConflictIsError
}

// Wanted implements opt.Variables.
func (v visible) Wanted() *types.Type { return v.q.of.Wanted }

// prepared returns a query with a plan that is valid now.
func (x *interpreter) prepared(ctx context.Context, of *plpgsql.Query) (*query, error) {
	q := x.queries[of.Number]
	if q == nil {
		q = &query{of: of, generation: -1,
			Statement: Statement{Text: of.Text, Stmt: of.Statement}}
		q.Variables = visible{x, q}
		x.queries[of.Number] = q
	}
	anew := false
	for _, r := range q.records {
		anew = anew || x.types[r.variable] != r.t
	}
	if q.generation == x.generation && !anew {
		return q, nil
	}
	if anew {
		q.records = q.records[:0]
	}
	if err := x.host.Plan(ctx, &q.Statement, anew || q.generation < 0); err != nil {
		x.queries[of.Number] = nil
		return nil, x.queryFault(ctx, q.of, err, true)
	}
	q.generation = x.generation
	x.eval.Runtime = x.currentRuntime(ctx)
	return q, nil
}

// queryFault adds the query to an error: a position in the query becomes internal; without one the
// context names the query, if it ran as a statement.
func (x *interpreter) queryFault(ctx context.Context, of *plpgsql.Query, err error,
	ran bool) error {
	e := *x.host.Fault(ctx, err)
	var refused *Refused
	switch {
	case errors.As(err, &refused):
	case e.InternalQuery != "" || e.InternalPosition != 0:
	case e.Position > 0:
		e.InternalQuery, e.InternalPosition = of.Text, max(e.Position-of.Shift, 1)
		e.Position = 0
	case ran:
		addContext(&e, "%s \"%s\"", modes[of.Mode], of.Text)
	}
	return &e
}

var modes = map[plpgsql.Mode]string{plpgsql.Expression: "SQL expression",
	plpgsql.Assignment: "PL/pgSQL assignment", plpgsql.SQL: "SQL statement"}

// value evaluates an expression, and returns its type.
func (x *interpreter) value(ctx context.Context, of *plpgsql.Query) (types.Datum, *types.Type,
	error) {
	q, err := x.prepared(ctx, of)
	if err != nil {
		return types.Null, nil, err
	}
	if q.Program == nil {
		return x.rowValue(ctx, q)
	}
	x.eval.Params = x.values
	d, err := q.Program.EvalRow(&x.eval, nil)
	if err != nil {
		// PostgreSQL evaluates an expression without variables when it plans it.
		return types.Null, nil, x.queryFault(ctx, of, err, !q.variables)
	}
	return d, q.Result, nil
}

// rowValue evaluates an expression that reads tables.
func (x *interpreter) rowValue(ctx context.Context, q *query) (types.Datum, *types.Type, error) {
	rows, err := x.open1(ctx, q, false)
	if err != nil {
		return types.Null, nil, err
	}
	defer rows.Close()
	cols := rows.Columns()
	if len(cols) != 1 {
		return types.Null, nil, columnCount(q.of, len(cols))
	}
	var d types.Datum
	n := 0
	for n < 2 {
		b, err := rows.Next(ctx)
		if err != nil {
			return types.Null, nil, x.queryFault(ctx, q.of, err, true)
		}
		if b == nil {
			break
		}
		if b.Rows() > 0 && n == 0 {
			d = b.Cols[0].Get(b.Row(0))
		}
		n += b.Rows()
	}
	switch n {
	case 0:
		return types.Null, cols[0].Type, nil
	case 1:
		return d, cols[0].Type, nil
	}
	e := sqlerr.New(sqlerr.CardinalityViolation, "query returned more than one row")
	addContext(e, "query: %s", q.of.Text)
	return types.Null, nil, e
}

// columnCount is the error of an expression that has not one column.
func columnCount(of *plpgsql.Query, n int) error {
	plural := "s"
	if n == 1 {
		plural = ""
	}
	if of.Mode == plpgsql.Assignment {
		e := sqlerr.New(sqlerr.SyntaxError, "assignment source returned %d column%s", n, plural)
		addContext(e, "PL/pgSQL assignment \"%s\"", of.Text)
		return e
	}
	e := sqlerr.New(sqlerr.SyntaxError, "query returned %d column%s", n, plural)
	addContext(e, "query: %s", of.Text)
	return e
}

// open1 runs a query of the program with the present values of the variables.
func (x *interpreter) open1(ctx context.Context, q *query, inPieces bool) (Rows, error) {
	values := make([]types.Datum, len(x.values))
	copy(values, x.values)
	x.generation++
	rows, err := x.host.Run(ctx, &q.Statement, values, inPieces)
	if err != nil {
		return nil, x.queryFault(ctx, q.of, err, true)
	}
	return rows, nil
}

// boolean evaluates a condition; NULL is false.
func (x *interpreter) boolean(ctx context.Context, of *plpgsql.Query) (holds bool, err error) {
	d, t, err := x.value(ctx, of)
	if err != nil {
		return false, err
	}
	if t != types.TBool {
		if d, err = x.convert(ctx, d, t, types.TBool); err != nil {
			return false, err
		}
	}
	return d.Bool(), nil
}

// text evaluates an expression as text; null reports that it is NULL.
func (x *interpreter) text(ctx context.Context, of *plpgsql.Query) (s string, null bool,
	err error) {
	d, t, err := x.value(ctx, of)
	if err != nil || d.Null {
		return "", true, err
	}
	return types.Text(t, d, x.format(ctx)), false, nil
}

// integer evaluates an expression as an integer; null reports that it is NULL.
func (x *interpreter) integer(ctx context.Context, of *plpgsql.Query) (n int64, null bool,
	err error) {
	d, t, err := x.value(ctx, of)
	if err == nil {
		d, err = x.convert(ctx, d, t, types.TInt4)
	}
	return d.I, d.Null, err
}
