package sql

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table/types"
)

// Prepare parses and analyses one statement: the extended protocol's Parse. An unnamed one replaces
// the unnamed one before it. declared holds OIDs; 0 is to be inferred.
func (s *Session) Prepare(ctx context.Context, name, text string, declared []types.OID,
	out ResultWriter) (*Prepared, error) {
	ctx = s.begin(ctx, text, out)
	defer s.end()
	s.tally.begins(s.clock)
	if len(text) > smallText {
		var work *memory.Work
		ctx, work = memory.With(ctx, s.memory)
		defer work.End()
	}
	ps, err := s.prepare(ctx, name, text, declared)
	if err != nil {
		err = toSQL(ctx, err)
		s.fail(ctx)
		return nil, err
	}
	s.finishStep("parse", text)
	return ps, nil
}

func (s *Session) prepare(ctx context.Context, name, text string, declared []types.OID) (*Prepared,
	error) {
	if name == "" {
		s.forgetPrepared("")
	}
	parsed, err := s.engine.templates.Parse(ctx, text)
	if err != nil {
		return nil, err
	}
	if s.tx.state == inFailed && parsed.Stmt != nil && !kindOf(parsed.Stmt).endsBlock {
		return nil, errFailedTransaction()
	}
	if _, taken := s.prepared[name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicatePreparedStatement,
			"prepared statement \"%s\" already exists", name)
	}
	if len(s.prepared) >= maxPrepared {
		return nil, sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many prepared statements").
			WithHint("A session may hold %d of them; DEALLOCATE those that are no longer needed.",
				maxPrepared)
	}
	ps := &Prepared{Name: name, Text: parsed.Text, Stmt: parsed.Stmt, offset: parsed.Offset}
	if ps.declared, err = s.typesByOID(ctx, declared); err != nil {
		return nil, err
	}
	if err := s.analyse(ctx, ps); err != nil {
		return nil, err
	}
	return ps, s.keepPrepared(ps)
}

func (s *Session) typesByOID(ctx context.Context, oids []types.OID) ([]*types.Type, error) {
	ts := make([]*types.Type, len(oids))
	for i, oid := range oids {
		if oid == 0 || oid == types.OIDUnknown {
			continue
		}
		t, ok := types.ByOID(oid)
		if !ok {
			if err := s.ensure(ctx); err != nil {
				return nil, err
			}
			var err error
			if t, err = pgcatalog.TypeByOID(ctx, s.tx.view, oid); err != nil {
				return nil, err
			}
		}
		if t == nil {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", oid)
		}
		ts[i] = t
	}
	return ts, nil
}

// analyse sets the parameter types and the columns of ps.
func (s *Session) analyse(ctx context.Context, ps *Prepared) error {
	ps.ParamTypes = ps.declared
	if ps.Stmt == nil {
		return nil
	}
	inner := kindOf(ps.Stmt).planned
	if inner != nil && s.tx.state != inFailed {
		analyse := func() error { return s.analysePlanned(ctx, ps, inner) }
		if past := s.asOf(inner); past != nil {
			if err := s.analysePast(ctx, past, analyse); err != nil {
				return err
			}
		} else if err := analyse(); err != nil {
			return err
		}
		if ps.Stmt == inner {
			return nil
		}
	}
	return s.describeUtility(ps)
}

// analysePlanned takes parameters, and the columns of a statement that is planned as a whole, from
// a plan.
func (s *planRunner) analysePlanned(ctx context.Context, ps *Prepared, inner ast.Statement) error {
	if err := s.ensure(ctx); err != nil {
		return err
	}
	plan, err := s.planFor(ctx, ps, inner)
	if err != nil {
		return err
	}
	ps.ParamTypes = plan.ParamTypes
	if ps.Stmt == inner {
		if ps.HasRows = kindOf(ps.Stmt).returnsRows; ps.HasRows {
			ps.Columns = plan.Root.Columns()
		}
	}
	return nil
}

// describeUtility gives ps the columns of a statement that the planner does not plan.
func (s *Session) describeUtility(ps *Prepared) error {
	for _, t := range ps.ParamTypes {
		if t == nil {
			return sqlerr.New(sqlerr.IndeterminateDatatype,
				"could not determine data type of parameter $1")
		}
	}
	describe := kindOf(ps.Stmt).describe
	if describe == nil {
		return nil
	}
	var err error
	ps.Columns, ps.HasRows, err = describe(utility{s}, ps.Stmt)
	return err
}

// Current reports whether the parameters and columns that ps was prepared with are still right in
// the present transaction. If they are not, or the statement cannot be planned any more, the owner
// of ps prepares it again.
func (s *Session) Current(ctx context.Context, ps *Prepared) bool {
	k := kindOf(ps.Stmt)
	inner := k.planned
	switch {
	case s.tx.state == inFailed:
		return true
	case inner == nil && k.describe != nil: // of FETCH: the cursor may be another one now
		cols, hasRows, err := k.describe(utility{s}, ps.Stmt)
		return err == nil && hasRows == ps.HasRows && sameColumns(cols, ps.Columns) &&
			definedAlike(cols, ps.Columns)
	case inner == nil:
		return true
	}
	if s.ensure(ctx) != nil {
		return false
	}
	plan, err := s.planFor(ctx, ps, inner)
	if err != nil || !sameTypes(plan.ParamTypes, ps.ParamTypes) {
		return false
	}
	for i, t := range plan.ParamTypes {
		if !t.SameDefinition(ps.ParamTypes[i]) {
			return false
		}
	}
	return ps.Stmt != inner || !ps.HasRows || ps.checkResult(plan.Root.Columns()) == nil &&
		definedAlike(plan.Root.Columns(), ps.Columns)
}

// Statement finds a prepared statement.
func (s *Session) Statement(name string) (*Prepared, error) {
	if ps := s.prepared[name]; ps != nil {
		return ps, nil
	}
	if name == "" {
		return nil, sqlerr.New(sqlerr.InvalidSQLStatementName,
			"unnamed prepared statement does not exist")
	}
	return nil, sqlerr.New(sqlerr.InvalidSQLStatementName,
		"prepared statement \"%s\" does not exist", name)
}

// CloseStatement forgets a prepared statement; there need not be one.
func (s *Session) CloseStatement(name string) { s.forgetPrepared(name) }

// treeBytes estimates the memory of a prepared statement for each byte of its text.
const treeBytes = 16

// keepPrepared stores a statement under its name. The memory of a long one is counted.
func (s *Session) keepPrepared(ps *Prepared) error {
	if len(ps.Text) > smallText {
		ps.bytes = int64(len(ps.Text)) * treeBytes
		if err := s.held.Grow(ps.bytes); err != nil {
			s.held.Shrink(ps.bytes)
			s.held.Settle()
			return err
		}
	}
	s.prepared[ps.Name] = ps
	return nil
}

// forgetPrepared forgets a prepared statement; there need not be one.
func (s *Session) forgetPrepared(name string) {
	if ps := s.prepared[name]; ps != nil {
		s.held.Shrink(ps.bytes)
		delete(s.prepared, name)
	}
}

func (s *Session) forgetAllPrepared() {
	for name := range s.prepared {
		s.forgetPrepared(name)
	}
}
