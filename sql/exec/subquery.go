package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// subquery is the state of one expr.Subquery within a statement. Without Args its result is kept:
// for Scalar, Exists and ArrayOf the datum, for Any and All the rows, as a table of keys where
// these are looked up (expr.Subquery.Hashed).
type subquery struct {
	sq    *expr.Subquery
	op    operator
	kept  bool
	datum types.Datum

	rows  *rowStore // all, or beside keys those with a NULL
	keys  *keyTable // of a hashed one, the rows without a NULL
	probe *types.Batch
	found []int32
	buf   [2]types.Datum
	pair  [2]*types.Type // of buf, for comparisons of arrays and records
}

// RunSubquery implements eval.SubqueryRunner.
func (r *run) RunSubquery(_ *eval.Context, sq *expr.Subquery, args,
	left []types.Datum) (types.Datum, error) {
	ctx := r.context()
	s := r.subs[sq]
	if s == nil {
		node, ok := sq.Plan.(physical.Node)
		if !ok {
			return types.Null, sqlerr.New(sqlerr.InternalError, "subquery without a plan")
		}
		before := r.partial
		r.partial = sq.Kind == expr.Exists
		op, err := r.build(node)
		r.partial = before
		if err != nil {
			return types.Null, err
		}
		s = &subquery{sq: sq, op: op}
		if r.subs == nil {
			r.subs = map[*expr.Subquery]*subquery{}
		}
		r.subs[sq] = s
		if len(sq.Args) == 0 && len(r.ev.Vars) > 0 {
			free := slotSet{}
			r.freeSlots(node, free)
			r.watch(free, func() { s.kept = false })
		}
	}
	for i, slot := range sq.Slots {
		r.setVar(slot, args[i])
	}
	if !s.kept {
		if err := s.start(ctx, r); err != nil {
			return types.Null, err
		}
	}
	var d types.Datum
	var err error
	if sq.Kind == expr.Any || sq.Kind == expr.All {
		d, err = s.quantified(r, left)
	} else {
		d = s.datum
	}
	s.kept = len(sq.Args) == 0
	r.ctx = ctx
	return d, err
}

// start runs the plan.
func (s *subquery) start(ctx context.Context, r *run) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.op.Open(ctx); err != nil {
		return err
	}
	var err error
	switch s.sq.Kind {
	case expr.Scalar:
		s.datum, err = s.scalar(ctx)
	case expr.Exists:
		s.datum, err = s.exists(ctx)
	case expr.ArrayOf:
		s.datum, err = s.array(ctx)
	default:
		err = s.collect(ctx, r)
	}
	if len(s.sq.Args) > 0 { // reopened soon: memory is kept
		return err
	}
	if cerr := s.op.Close(); err == nil {
		err = cerr
	}
	return err
}

func (s *subquery) scalar(ctx context.Context) (types.Datum, error) {
	out, seen := types.Null, false
	for {
		b, err := s.op.Next(ctx)
		if err != nil {
			return types.Null, err
		}
		if b == nil {
			return out, nil
		}
		n := b.Rows()
		if n == 0 {
			continue
		}
		if seen || n > 1 {
			return types.Null, sqlerr.New(sqlerr.CardinalityViolation,
				"more than one row returned by a subquery used as an expression")
		}
		out, seen = b.Cols[0].Get(b.Row(0)), true
	}
}

func (s *subquery) exists(ctx context.Context) (types.Datum, error) {
	for {
		b, err := s.op.Next(ctx)
		if err != nil || b == nil {
			return types.NewBool(false), err
		}
		if b.Rows() > 0 {
			return types.NewBool(true), nil
		}
	}
}

func (s *subquery) array(ctx context.Context) (types.Datum, error) {
	node, _ := s.sq.Plan.(physical.Node)
	elems := builtin.NewArrayAgg(node.Columns()[0].Type)
	err := eachBatch(ctx, s.op, func(_ context.Context, b *types.Batch) error {
		for _, i := range selection(b) {
			if err := elems.Add(nil, []types.Datum{b.Cols[0].Get(int(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return types.Null, err
	}
	d, err := elems.Result(nil)
	if d.Null {
		d = types.NewArray(nil)
	}
	return d, err
}

func (s *subquery) collect(ctx context.Context, r *run) error {
	node, _ := s.sq.Plan.(physical.Node)
	if s.rows == nil {
		s.rows = newRowStore(&r.mem, columnTypes(node))
	}
	s.rows.reset()
	if s.sq.Hashed() {
		return s.collectKeys(ctx, r, columnTypes(node))
	}
	return eachBatch(ctx, s.op,
		func(_ context.Context, b *types.Batch) error { return s.rows.addBatch(b) })
}

// quantified compares left with the rows: ANY is TRUE if it is for some row, else NULL if it is for
// some row, else FALSE; ALL the other way round.
func (s *subquery) quantified(r *run, left []types.Datum) (types.Datum, error) {
	if s.keys != nil {
		return s.member(left), nil
	}
	all := s.sq.Kind == expr.All
	null := false
	for i := 0; i < s.rows.len; i++ {
		d, err := s.compareRow(r, left, i)
		switch {
		case err != nil:
			return types.Null, err
		case d.Null:
			null = true
		case d.Bool() != all:
			return types.NewBool(!all), nil
		}
	}
	if null {
		return types.Null, nil
	}
	return types.NewBool(all), nil
}

// compareRow compares the row as a whole. Equality of rows is TRUE if it is for all columns, FALSE
// if it is FALSE for one, and inequality is its negation; the planner binds nothing else.
func (s *subquery) compareRow(r *run, left []types.Datum, row int) (types.Datum, error) {
	negated := s.sq.Ops[0].Name == "<>" && len(left) > 1
	null := false
	for i, op := range s.sq.Ops {
		d := s.rows.cols[i].Get(row)
		if !op.NotStrict && (d.Null || left[i].Null) {
			null = true
			continue
		}
		s.buf = [2]types.Datum{left[i], d}
		t := s.sq.Left[i].Type()
		s.pair = [2]*types.Type{t, t}
		r.ev.Runtime.ArgTypes = s.pair[:]
		res, err := op.Scalar(r.ev.Runtime, s.buf[:])
		switch {
		case err != nil:
			return types.Null, err
		case len(left) == 1:
			return res, nil
		case res.Null:
			null = true
		case res.Bool() == negated:
			return types.NewBool(negated), nil
		}
	}
	if null {
		return types.Null, nil
	}
	return types.NewBool(!negated), nil
}

func (s *subquery) close() {
	s.op.Close()
	if s.rows != nil {
		s.rows.free()
	}
	if s.keys != nil {
		s.keys.free()
	}
}
