package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/interpreter"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

// inlineName is the name of DO's body in the context of errors, as in PostgreSQL.
const inlineName = "inline_code_block"

// execDo is DO. The statements of its body run in the transaction of DO, each as a statement of a
// block would: in READ COMMITTED on a snapshot of its own, with the rows locked that it writes. An
// implicit transaction runs again as a whole, as for any other statement.
func (s utility) execDo(ctx context.Context, st *ast.Do) (string, error) {
	switch st.Language {
	case "", "plpgsql":
	case "sql", "internal", "c":
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"language \"%s\" does not support inline code execution", st.Language)
	default:
		return "", sqlerr.New(sqlerr.UndefinedObject, "language \"%s\" does not exist", st.Language)
	}
	program, err := plpgsql.Parse(ctx, programCatalog{&s.planRunner}, inlineName, st.Body)
	if err != nil {
		return "", s.inBody(err, st)
	}
	h := &programHost{utility: s, base: len(s.tx.savepoints), nested: s.inProgram}
	defer h.end()
	s.inProgram = true
	return "DO", interpreter.Run(ctx, h, program)
}

// inBody moves the position of an error in the body of DO to the statement's text.
func (s utility) inBody(err error, st *ast.Do) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	if e.Position <= 0 {
		return err
	}
	if moved.Position = st.At(e.Position); moved.Position == 0 {
		moved.InternalQuery, moved.InternalPosition = st.Body, e.Position
	}
	return &moved
}

// programCatalog finds the types of a program's declarations: plpgsql.Catalog.
type programCatalog struct{ s *planRunner }

// Type implements plpgsql.Catalog.
func (c programCatalog) Type(ctx context.Context, name ast.TypeName) (*types.Type, error) {
	return planner.ResolveType(ctx, c.s.plannerEnv(ctx), name)
}

// RowType implements plpgsql.Catalog.
func (c programCatalog) RowType(ctx context.Context, name ast.Name) (*types.Type, error) {
	d, err := resolver(c).named(ctx, name)
	if err != nil {
		return nil, err
	}
	if d == nil || d.RowType == 0 {
		t, err := resolver(c).Type(ctx, name)
		if err != nil || t == nil || !t.IsComposite() {
			return nil, err
		}
		return t, nil
	}
	return resolver(c).TypeByOID(ctx, types.OID(d.RowType))
}

// ColumnType implements plpgsql.Catalog.
func (c programCatalog) ColumnType(ctx context.Context, relation ast.Name,
	column string) (*types.Type, error) {
	d, err := resolver(c).named(ctx, relation)
	if d == nil || err != nil {
		return nil, err
	}
	if i := d.Column(column); i >= 0 && !d.Columns[i].Hidden {
		return d.Columns[i].Type, nil
	}
	return nil, nil
}
