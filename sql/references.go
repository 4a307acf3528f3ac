package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// riHost is the session as the checks of foreign keys use it.
type riHost struct{ s *planRunner }

// Tx is part of ri.Host.
func (h riHost) Tx() *txn.Txn { return h.s.tx.tx }

// Format is part of ri.Host.
func (h riHost) Format() *types.Format { return h.s.Format() }

// Relation is part of ri.Host.
func (h riHost) Relation(ctx context.Context, id table.ID) (*table.Desc, error) {
	return h.s.tx.view.RelationByID(ctx, id)
}

// Refresh is part of ri.Host.
func (h riHost) Refresh(ctx context.Context) (bool, error) {
	if !h.s.tx.perStatement() {
		return false, nil
	}
	return true, h.s.advance(ctx)
}

// maxInner bounds the statements of checks that a session keeps.
const maxInner = 256

// innerPlan plans a statement of a check.
func (s *planRunner) innerPlan(ctx context.Context, text string, ts []*types.Type) (*physical.Plan,
	ast.Statement, error) {
	ps := s.inner[text]
	if ps == nil || !sameTypes(ps.declared, ts) {
		parsed, err := parse.ParseOne(ctx, text)
		if err != nil {
			return nil, nil, err
		}
		if s.inner == nil || len(s.inner) >= maxInner {
			s.inner = map[string]*Prepared{}
		}
		ps = &Prepared{Text: parsed.Text, Stmt: parsed.Stmt, declared: ts, inner: true}
		s.inner[text] = ps
	}
	plan, err := s.planFor(ctx, ps, ps.Stmt)
	if err != nil {
		return nil, nil, err
	}
	_, err = s.lockTables(ctx, plan.Tables)
	return plan, ps.Stmt, err
}

// Run is part of ri.Host.
func (h riHost) Run(ctx context.Context, text string, ts []*types.Type,
	params []types.Datum) (int64, error) {
	if _, err := h.Refresh(ctx); err != nil {
		return 0, err
	}
	plan, stmt, err := h.s.innerPlan(ctx, text, ts)
	if err != nil {
		return 0, err
	}
	src, err := h.s.runPlan(ctx, plan, stmt, params, runOptions{unchecked: true})
	if err != nil {
		return 0, err
	}
	src.rerun.anew = func(ctx context.Context) (*physical.Plan, []types.Datum, error) {
		plan, _, err := h.s.innerPlan(ctx, text, ts)
		return plan, params, err
	}
	defer src.close()
	n := int64(0)
	for {
		b, err := src.next(ctx)
		if err != nil {
			return 0, err
		}
		if b == nil {
			return n + src.cursor.RowsAffected(), nil
		}
		n += int64(b.Rows())
	}
}

// Newer is part of ri.Host. Other transactions cannot remove rows that the transaction sees before
// it removes the key that they refer to. So if there are more rows now than in its snapshot, there
// are rows that it does not see.
func (h riHost) Newer(ctx context.Context, text string, ts []*types.Type,
	params []types.Datum) (bool, error) {
	if h.s.tx.perStatement() {
		return false, nil
	}
	plan, _, err := h.s.innerPlan(ctx, text, ts)
	if err != nil {
		return false, err
	}
	now, err := h.count(ctx, plan, params, txn.BeginOptions{ReadOnly: true})
	if err != nil || now == 0 {
		return false, err
	}
	then, err := h.count(ctx, plan, params, txn.BeginOptions{StartTS: h.s.tx.tx.ReadTS()})
	return now > then, err
}

// count runs a query in a transaction of its own and counts its rows.
func (h riHost) count(ctx context.Context, plan *physical.Plan, params []types.Datum,
	o txn.BeginOptions) (n int64, err error) {
	tx, err := h.s.engine.store.Begin(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	env := h.s.execEnv(ctx, false)
	env.Tx = tx
	cur, err := exec.Open(ctx, env, plan, params)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for {
		b, err := cur.Next(ctx)
		if err != nil || b == nil {
			return n, err
		}
		n += int64(b.Rows())
	}
}
