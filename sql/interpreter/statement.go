package interpreter

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

// execute runs an SQL statement, or PERFORM.
func (x *interpreter) execute(ctx context.Context, s *plpgsql.Execute) error {
	q, err := x.prepared(ctx, s.Query)
	if err != nil {
		return err
	}
	if s.Perform && q.Program != nil {
		if _, _, err := x.value(ctx, s.Query); err != nil {
			return err
		}
		x.processed = 1
		x.setFound(true)
		return nil
	}
	rows, err := x.open1(ctx, q, false)
	if err != nil {
		return err
	}
	defer rows.Close()
	_, reads := s.Query.Statement.(*ast.Select)
	n, r, err := x.drain(ctx, rows, s.Query, s.Into, !reads)
	if err != nil {
		return err
	}
	if x.processed = n; isPlanned(s.Query.Statement) {
		x.setFound(n != 0)
	}
	if s.Into != nil {
		return x.intoRow(ctx, s.Into, r, n, !reads)
	}
	if rows.Columns() != nil && !s.Perform {
		return sqlerr.New(sqlerr.SyntaxError, "query has no destination for result data").
			WithHint("%s", noDestination(reads))
	}
	return nil
}

func noDestination(reads bool) string {
	if reads {
		return "If you want to discard the results of a SELECT, use PERFORM instead."
	}
	return ""
}

// isPlanned reports whether a statement sets FOUND.
func isPlanned(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.Select:
		core, ok := s.Body.(*ast.SelectCore)
		return !ok || core.Into == nil
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return true
	}
	return false
}

// drain runs a statement to its end, and returns the number of its rows and the first of them. A
// query whose rows go into variables is read as far as needed, unless all is set.
func (x *interpreter) drain(ctx context.Context, rows Rows, of *plpgsql.Query, into *plpgsql.Into,
	all bool) (n int64, first *row, err error) {
	cols := rows.Columns()
	first = rowOf(cols)
	for {
		b, err := rows.Next(ctx)
		if err != nil {
			return 0, nil, x.queryFault(ctx, of, err, true)
		}
		if b == nil {
			break
		}
		if n == 0 && b.Rows() > 0 && into != nil {
			first.take(b, 0)
		}
		n += int64(b.Rows())
		if into != nil && !all && n > 0 {
			if most := int64(2); !into.Strict {
				return 1, first, nil
			} else if n >= most {
				return most, first, nil
			}
		}
	}
	if cols == nil {
		n = rows.Processed()
	}
	return n, first, nil
}

// intoRow stores the row of a statement with INTO. A statement that changes rows must not have
// several.
func (x *interpreter) intoRow(ctx context.Context, into *plpgsql.Into, r *row, n int64,
	single bool) error {
	switch {
	case n == 0 && into.Strict:
		return sqlerr.New(sqlerr.NoDataFound, "query returned no rows")
	case n > 1 && (into.Strict || single):
		return sqlerr.New(sqlerr.TooManyRows, "query returned more than one row").
			WithHint("Make sure the query returns a single row, or use LIMIT 1.")
	}
	return x.into(ctx, into, r)
}

// dynamic runs EXECUTE.
func (x *interpreter) dynamic(ctx context.Context, s *plpgsql.Dynamic) error {
	rows, of, err := x.dynamicRows(ctx, s.Text, s.Using, false)
	if err != nil {
		return err
	}
	defer rows.Close()
	n, r, err := x.drain(ctx, rows, of, s.Into, true)
	if err != nil {
		return err
	}
	x.processed = n
	if s.Into == nil {
		return nil
	}
	if rows.Columns() == nil {
		return sqlerr.New(sqlerr.SyntaxError, "INTO used with a command that cannot return data")
	}
	return x.intoRow(ctx, s.Into, r, n, false)
}

// dynamicRows runs the text that an expression makes, and returns it as a query for the context of
// errors. Of several statements all but the last run to their ends.
func (x *interpreter) dynamicRows(ctx context.Context, textOf *plpgsql.Query,
	using []*plpgsql.Query, inPieces bool) (Rows, *plpgsql.Query, error) {
	text, null, err := x.text(ctx, textOf)
	if err != nil {
		return nil, nil, err
	}
	if null {
		return nil, nil, sqlerr.New(sqlerr.NullValueNotAllowed,
			"query string argument of EXECUTE is null")
	}
	values, ts, err := x.arguments(ctx, using)
	if err != nil {
		return nil, nil, err
	}
	of := &plpgsql.Query{Text: text, Mode: plpgsql.SQL}
	x.generation++
	parsed, err := parse.Parse(ctx, text)
	if err != nil {
		return nil, of, x.queryFault(ctx, of, err, true)
	}
	if len(parsed) == 0 {
		return noRows{}, of, nil
	}
	for i := range parsed {
		rows, err := x.dynamicStatement(ctx, &parsed[i], of, values, ts, inPieces)
		if err != nil {
			return nil, of, err
		}
		if i == len(parsed)-1 {
			return rows, of, nil
		}
		_, _, err = x.drain(ctx, rows, of, nil, true)
		rows.Close()
		if err != nil {
			return nil, of, err
		}
	}
	return nil, of, nil
}

// dynamicStatement begins to run one statement of a text.
func (x *interpreter) dynamicStatement(ctx context.Context, parsed *parse.Parsed,
	of *plpgsql.Query, values []types.Datum, ts []*types.Type, inPieces bool) (Rows, error) {
	switch s := parsed.Stmt.(type) {
	case *ast.Begin, *ast.Commit, *ast.Rollback, *ast.Savepoint, *ast.Release, *ast.RollbackTo,
		*ast.TwoPhase:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"EXECUTE of transaction commands is not implemented")
	case *ast.Select:
		if !isPlanned(s) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported,
				"EXECUTE of SELECT ... INTO is not implemented").WithHint("You might want to use " +
				"EXECUTE ... INTO or EXECUTE CREATE TABLE ... AS instead.")
		}
	}
	st := &Statement{Text: parsed.Text, Stmt: parsed.Stmt, Types: ts}
	err := x.host.Plan(ctx, st, true)
	var rows Rows
	if err == nil {
		st.Program = nil
		rows, err = x.host.Run(ctx, st, values, inPieces)
	}
	if err != nil {
		return nil, x.queryFault(ctx, of, err, true)
	}
	return rows, nil
}

// arguments evaluates USING.
func (x *interpreter) arguments(ctx context.Context, using []*plpgsql.Query) ([]types.Datum,
	[]*types.Type, error) {
	values, ts := make([]types.Datum, len(using)), make([]*types.Type, len(using))
	for i, q := range using {
		var err error
		if values[i], ts[i], err = x.value(ctx, q); err != nil {
			return nil, nil, err
		}
	}
	return values, ts, nil
}

// parseQuery parses the one statement of a cursor.
func parseQuery(ctx context.Context, text string) (ast.Statement, error) {
	parsed, err := parse.ParseOne(ctx, text)
	if err != nil {
		return nil, err
	}
	return parsed.Stmt, nil
}
