package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// lockWrites makes the transaction lock what it writes from now on, whatever its settings: foreign keys
// rest on it (package ri, I1), and a statement with a lasting effect needs it, for a conflict at commit
// could only be mended by running it all again, where PostgreSQL looks again at the one row.
func (s *transactor) lockWrites() {
	if !s.tx.cautious {
		s.tx.cautious = true
		s.setLocking(false)
	}
}

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
func (s *planRunner) innerPlan(ctx context.Context, text string, ts []*types.Type) (*physical.Plan, ast.Statement, error) {
	ps := s.inner[text]
	if ps == nil || !sameTypes(ps.declared, ts) {
		parsed, err := parse.ParseOne(ctx, text)
		if err != nil {
			return nil, nil, err
		}
		if s.inner == nil || len(s.inner) >= maxInner {
			s.inner = map[string]*Prepared{}
		}
		ps = &Prepared{Text: parsed.Text, Stmt: parsed.Stmt, declared: ts}
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
func (h riHost) Run(ctx context.Context, text string, ts []*types.Type, params []types.Datum) (int64, error) {
	if _, err := h.Refresh(ctx); err != nil {
		return 0, err
	}
	plan, stmt, err := h.s.innerPlan(ctx, text, ts)
	if err != nil {
		return 0, err
	}
	src, err := h.s.runPlan(ctx, plan, stmt, params, runOptions{})
	if err != nil {
		return 0, err
	}
	src.again.anew = func(ctx context.Context) (*physical.Plan, []types.Datum, error) {
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

// Newer is part of ri.Host. Rows that the transaction sees cannot be removed by others before it
// removes the key to which they refer, so more rows now than then are rows that it does not see.
func (h riHost) Newer(ctx context.Context, text string, ts []*types.Type, params []types.Datum) (bool, error) {
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
func (h riHost) count(ctx context.Context, plan *physical.Plan, params []types.Datum, o txn.BeginOptions) (n int64, err error) {
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

// firstRow is what DDL asks of a table: the first row of a query, nil when there is none.
func (s *planRunner) firstRow(ctx context.Context, text string) ([]types.Datum, error) {
	plan, stmt, err := s.innerPlan(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	src, err := s.runPlan(ctx, plan, stmt, nil, runOptions{})
	if err != nil {
		return nil, err
	}
	defer src.close()
	for {
		b, err := src.next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if b.Rows() == 0 {
			continue
		}
		row := make([]types.Datum, len(b.Cols))
		for i, c := range b.Cols {
			row[i] = c.Get(b.Row(0))
		}
		return row, nil
	}
}

// execSetConstraints is SET CONSTRAINTS.
func (s utility) execSetConstraints(ctx context.Context, st *ast.SetConstraints) (string, error) {
	const tag = "SET CONSTRAINTS"
	if s.tx.state != inBlock {
		s.notice("WARNING", sqlerr.NoActiveSQLTransaction, "SET CONSTRAINTS can only be used in transaction blocks")
		return tag, nil
	}
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	if err := s.newestSchema(ctx); err != nil {
		return "", err
	}
	named, err := s.foreignKeys(ctx, st.Names)
	if err != nil {
		return "", err
	}
	return tag, s.references.SetMode(ctx, named, st.Deferred)
}

// foreignKeys finds the constraints that are named: all of a name in the first schema of the search
// path that has one.
func (s *planRunner) foreignKeys(ctx context.Context, names []ast.Name) (found []ri.Constraint, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	rels, err := s.tx.view.Relations(ctx, s.databaseID)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		path, err := s.path(ctx)
		if err != nil {
			return nil, err
		}
		if n.Schema != "" {
			path = []string{n.Schema}
		}
		before := len(found)
		for _, schema := range path {
			for _, d := range rels {
				if d.Schema != schema {
					continue
				}
				if fk := d.ForeignKey(n.Name); fk != nil {
					if !fk.Deferrable {
						return nil, sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" is not deferrable", n.Name)
					}
					found = append(found, ri.Constraint{Table: d.ID, OID: fk.OID})
				}
			}
			if len(found) > before {
				break
			}
		}
		if len(found) == before {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" does not exist", n.Name)
		}
	}
	return found, nil
}
