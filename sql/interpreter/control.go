package interpreter

import (
	"context"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

func (x *interpreter) ifStatement(ctx context.Context, s *plpgsql.If) (flow, error) {
	for i := range s.Branches {
		b := &s.Branches[i]
		holds, err := x.boolean(ctx, b.Cond)
		if err != nil {
			return flow{}, err
		}
		if holds {
			return x.statements(ctx, b.Body)
		}
	}
	return x.statements(ctx, s.Else)
}

func (x *interpreter) caseStatement(ctx context.Context, s *plpgsql.Case) (flow, error) {
	if s.Operand != nil {
		d, t, err := x.value(ctx, s.Operand)
		if err != nil {
			return flow{}, err
		}
		n := s.Variable.Number
		x.types[n], x.values[n] = t, d
		defer func() { x.values[n] = types.Null }()
	}
	for i := range s.Branches {
		b := &s.Branches[i]
		holds, err := x.boolean(ctx, b.Cond)
		if err != nil {
			return flow{}, err
		}
		if holds {
			return x.statements(ctx, b.Body)
		}
	}
	if !s.HasElse {
		return flow{}, sqlerr.New(sqlerr.CaseNotFound, "case not found").
			WithHint("CASE statement is missing ELSE part.")
	}
	return x.statements(ctx, s.Else)
}

func (x *interpreter) exit(ctx context.Context, s *plpgsql.Exit) (flow, error) {
	if s.Cond != nil {
		if holds, err := x.boolean(ctx, s.Cond); err != nil || !holds {
			return flow{}, err
		}
	}
	if s.Continue {
		return flow{continuing, s.Label}, nil
	}
	return flow{exiting, s.Label}, nil
}

// body runs the body of a loop once. done reports that the loop ends, with out.
func (x *interpreter) body(ctx context.Context, label string,
	list []plpgsql.Statement) (out flow, done bool, err error) {
	if err := x.step(ctx); err != nil {
		return flow{}, true, err
	}
	out, err = x.statements(ctx, list)
	if err != nil || out.kind == onward {
		return out, err != nil, err
	}
	mine := out.label == "" || out.label == label
	switch {
	case out.kind == exiting && mine:
		return flow{}, true, nil
	case out.kind == continuing && mine:
		return flow{}, false, nil
	}
	return out, true, nil
}

func (x *interpreter) loop(ctx context.Context, s *plpgsql.Loop) (flow, error) {
	for {
		if s.Cond != nil {
			if holds, err := x.boolean(ctx, s.Cond); err != nil || !holds {
				return flow{}, err
			}
		}
		if out, done, err := x.body(ctx, s.Label, s.Body); done {
			return out, err
		}
	}
}

func (x *interpreter) forInteger(ctx context.Context, s *plpgsql.ForInteger) (flow, error) {
	bound := func(q *plpgsql.Query, what string) (int64, error) {
		n, null, err := x.integer(ctx, q)
		if err == nil && null {
			err = sqlerr.New(sqlerr.NullValueNotAllowed, "%s of FOR loop cannot be null", what)
		}
		return n, err
	}
	low, err := bound(s.Low, "lower bound")
	if err != nil {
		return flow{}, err
	}
	high, err := bound(s.High, "upper bound")
	if err != nil {
		return flow{}, err
	}
	step := int64(1)
	if s.Step != nil {
		if step, err = bound(s.Step, "BY value"); err != nil {
			return flow{}, err
		}
		if step <= 0 {
			return flow{}, sqlerr.New(sqlerr.InvalidParameterValue,
				"BY value of FOR loop must be greater than zero")
		}
	}
	if s.Reverse {
		step = -step
	}
	ran := false
	defer func() { x.setFound(ran) }()
	for i := low; i >= math.MinInt32 && i <= math.MaxInt32; i += step {
		if s.Reverse && i < high || !s.Reverse && i > high {
			break
		}
		ran = true
		x.values[s.Variable.Number] = types.NewInt(i)
		if out, done, err := x.body(ctx, s.Label, s.Body); done {
			return out, err
		}
	}
	return flow{}, nil
}

func (x *interpreter) forQuery(ctx context.Context, s *plpgsql.ForQuery) (out flow, err error) {
	rows, of, err := x.loopRows(ctx, s)
	if err != nil {
		return flow{}, err
	}
	defer rows.Close()
	ran := false
	defer func() {
		if err == nil {
			x.setFound(ran)
		}
	}()
	r := rowOf(rows.Columns())
	for {
		b, err := rows.Next(ctx)
		if err != nil {
			return flow{}, x.queryFault(ctx, of, err, true)
		}
		if b == nil {
			break
		}
		for _, values := range copied(b) {
			ran = true
			r.values = values
			if err := x.into(ctx, s.Into, r); err != nil {
				return flow{}, err
			}
			if out, done, err := x.body(ctx, s.Label, s.Body); done {
				return out, err
			}
		}
	}
	if !ran {
		r.values = nil
		return flow{}, x.into(ctx, s.Into, r)
	}
	return flow{}, nil
}

// copied returns the rows of a batch, which is valid for a short time only.
func copied(b *types.Batch) [][]types.Datum {
	out := make([][]types.Datum, b.Rows())
	for i := range out {
		out[i] = make([]types.Datum, len(b.Cols))
		for c, col := range b.Cols {
			out[i][c] = col.Get(b.Row(i))
		}
	}
	return out
}

// loopRows opens the query of a loop, and returns it for the context of errors.
func (x *interpreter) loopRows(ctx context.Context, s *plpgsql.ForQuery) (Rows, *plpgsql.Query,
	error) {
	if s.Dynamic != nil {
		return x.dynamicRows(ctx, s.Dynamic, s.Using, true)
	}
	of := s.Query
	if s.Cursor != nil {
		rows, err := x.cursorRows(ctx, s)
		return rows, s.Cursor.Cursor.Query, err
	}
	q, err := x.prepared(ctx, of)
	if err != nil {
		return nil, of, err
	}
	rows, err := x.open1(ctx, q, true)
	if err == nil && rows.Columns() == nil {
		rows.Close()
		err = x.queryFault(ctx, of, sqlerr.New(sqlerr.InvalidCursorDefinition,
			"cannot open %s query as cursor", commandName(of.Statement)), false)
	}
	return rows, of, err
}

func (x *interpreter) forEach(ctx context.Context, s *plpgsql.ForEach) (flow, error) {
	d, t, err := x.value(ctx, s.Array)
	if err != nil {
		return flow{}, err
	}
	if d.Null {
		return flow{}, sqlerr.New(sqlerr.NullValueNotAllowed,
			"FOREACH expression must not be null")
	}
	base := t.Base()
	if base.Elem == nil {
		return flow{}, sqlerr.New(sqlerr.DatatypeMismatch,
			"FOREACH expression must yield an array, not type %s", t.SQLName())
	}
	if err := checkSlice(s, d); err != nil {
		return flow{}, err
	}
	ran := false
	defer func() { x.setFound(ran) }()
	item, size := base.Elem, 1
	if s.Slice > 0 {
		item = base
		for _, n := range d.Arr.Dims[len(d.Arr.Dims)-s.Slice:] {
			size *= n
		}
	}
	for at := 0; at+size <= len(d.Arr.Elems); at += size {
		ran = true
		value := d.Arr.Elems[at]
		if s.Slice > 0 {
			from := len(d.Arr.Dims) - s.Slice
			value = types.Datum{Arr: &types.ArrayValue{Elems: d.Arr.Elems[at : at+size],
				Dims: d.Arr.Dims[from:], Lower: d.Arr.Lower[from:]}}
		}
		if err := x.element(ctx, s.Into, value, item); err != nil {
			return flow{}, err
		}
		if out, done, err := x.body(ctx, s.Label, s.Body); done {
			return out, err
		}
	}
	return flow{}, nil
}

// checkSlice checks the number of dimensions and the loop variable.
func checkSlice(s *plpgsql.ForEach, d types.Datum) error {
	if n := len(d.Arr.Dims); s.Slice < 0 || s.Slice > n {
		return sqlerr.New(sqlerr.ArraySubscriptError,
			"slice dimension (%d) is out of the valid range 0..%d", s.Slice, n)
	}
	if s.Into.Row != nil || s.Into.Targets[0].Field != "" {
		return nil
	}
	array := s.Into.Targets[0].Variable.Type.Base().Elem != nil
	switch {
	case s.Slice > 0 && !array:
		return sqlerr.New(sqlerr.DatatypeMismatch,
			"FOREACH ... SLICE loop variable must be of an array type")
	case s.Slice == 0 && array:
		return sqlerr.New(sqlerr.DatatypeMismatch,
			"FOREACH loop variable must not be of an array type")
	}
	return nil
}

// element stores an element of an array in the variables of a loop: a composite one field by field.
func (x *interpreter) element(ctx context.Context, to *plpgsql.Into, d types.Datum,
	t *types.Type) error {
	switch {
	case to.Row != nil:
		return x.assignRow(ctx, to.Row, d, t)
	case len(to.Targets) == 1:
		return x.assign(ctx, to.Targets[0], d, t)
	case t.Base().Family != types.Record:
		return sqlerr.New(sqlerr.DatatypeMismatch,
			"cannot assign non-composite value to a record variable")
	}
	r := &row{}
	if !d.Null {
		r.values, r.types = d.Arr.Elems, d.Arr.Types
	}
	return x.into(ctx, to, r)
}
