package sql

import (
	"context"
	"fmt"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// maxCallees bounds the calls of built-in functions that a session keeps prepared.
const maxCallees = 64

// firstUserOID is the first object ID that is not of something built in.
const firstUserOID = 16384

// PrepareCall makes the statement that calls a function given by its object ID, with a parameter
// for each argument and one column: the protocol's FunctionCall. The statement belongs to the
// caller and has no name. 42883 when there is no such function, 0A000 for an aggregate, a window
// function, a procedure, or a function that returns a set.
func (s *Session) PrepareCall(ctx context.Context, function types.OID,
	out ResultWriter) (*Prepared, error) {
	ctx = s.begin(ctx, "", out)
	defer s.end()
	ps, err := s.prepareCall(ctx, function)
	if err != nil {
		err = toSQL(ctx, err)
		s.fail(ctx)
		return nil, err
	}
	return ps, nil
}

func (s *Session) prepareCall(ctx context.Context, function types.OID) (*Prepared, error) {
	if s.tx.state == inFailed {
		return nil, errFailedTransaction()
	}
	if err := s.ensure(ctx); err != nil {
		return nil, err
	}
	if ps := s.callees[function]; ps != nil {
		s.text = ps.Text
		return ps, nil
	}
	text, args, err := s.callText(ctx, function)
	if err != nil {
		return nil, err
	}
	parsed, err := parse.ParseOne(ctx, text)
	if err != nil {
		return nil, err
	}
	s.text = text
	ps := &Prepared{Text: text, Stmt: parsed.Stmt}
	if ps.declared, err = s.typesByOID(ctx, args); err != nil {
		return nil, err
	}
	if err := s.analyse(ctx, ps); err != nil {
		return nil, err
	}
	if function < firstUserOID {
		if len(s.callees) >= maxCallees {
			clear(s.callees)
		}
		if s.callees == nil {
			s.callees = map[types.OID]*Prepared{}
		}
		s.callees[function] = ps
	}
	return ps, nil
}

// calleeQuery finds a function by its object ID. The last argument of a variadic one is an array,
// unless it takes values of any types.
const calleeQuery = `SELECT n.nspname, p.proname, p.prokind = 'f' AND NOT p.proretset,
	p.provariadic <> 0 AND p.provariadic <> 2276, p.proargtypes
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.oid = $1`

// callText returns the text of a call, and the types of its arguments.
func (s *Session) callText(ctx context.Context, function types.OID) (text string,
	args []types.OID, err error) {
	row, err := s.firstRowWith(ctx, calleeQuery, []*types.Type{types.TOid},
		[]types.Datum{types.NewInt(int64(function))})
	switch {
	case err != nil:
		return "", nil, err
	case row == nil:
		return "", nil, sqlerr.New(sqlerr.UndefinedFunction,
			"function with OID %d does not exist", function)
	}
	schema, name, callable, variadic := row[0].S, row[1].S, row[2].Bool(), row[3].Bool()
	if !callable {
		return "", nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot call function \"%s\" via fastpath interface", name)
	}
	params := make([]string, len(row[4].Arr.Elems))
	for i, t := range row[4].Arr.Elems {
		args = append(args, types.OID(t.I))
		params[i] = fmt.Sprintf("$%d", i+1)
		if variadic && i == len(params)-1 {
			params[i] = "VARIADIC " + params[i]
		}
	}
	return fmt.Sprintf("SELECT %s.%s(%s)", sqlname.Quote(schema), sqlname.Quote(name),
		strings.Join(params, ", ")), args, nil
}
