package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// rowIDColumn is the name of the hidden column that is the row key of a table without primary key.
const rowIDColumn = "minidb.rowid"

// refuseSystemName returns an error if a column would have the name of a system column.
func refuseSystemName(column string) error {
	if builtin.SystemColumnType(column) == nil {
		return nil
	}
	return sqlerr.New(sqlerr.DuplicateColumn,
		"column name \"%s\" conflicts with a system column name", column)
}

// newColumn is a column in the making: constraints that belong to the table, and what must wait
// until all columns are known.
type newColumn struct {
	col         table.Column
	def         *ast.ColumnDef
	deflt       *ast.ColumnConstraint
	generated   *ast.ColumnConstraint
	identity    *ast.ColumnConstraint
	serial      types.OID // type of its sequence, or 0
	constraints []ast.TableConstraint
	nullSaid    bool // NULL was written
	bound       expr.Expr
}

// serialTypes are the pseudo-types that make a sequence.
var serialTypes = map[string]*types.Type{
	"serial": types.TInt4, "serial4": types.TInt4, "bigserial": types.TInt8, "serial8": types.TInt8,
	"smallserial": types.TInt2, "serial2": types.TInt2,
}

// columnDef reads a column definition; relation is the table's name, for messages.
func (env *Env) columnDef(ctx context.Context, relation string, def *ast.ColumnDef) (*newColumn,
	error) {
	n := &newColumn{def: def, col: table.Column{Name: def.Name.Name}}
	if err := refuseSystemName(def.Name.Name); err != nil {
		return nil, err
	}
	if t, ok := serialTypes[def.Type.Name]; ok && def.Type.Schema == "" {
		if def.Type.ArrayDims > 0 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported,
				"array of serial is not implemented").At(int(def.Type.Pos))
		}
		n.col.Type, n.col.NotNull, n.serial = t, true, t.OID
	} else {
		t, coll, err := env.resolveType(ctx, n.col.Name, def.Type, def.Collation)
		if err != nil {
			return nil, err
		}
		n.col.Type, n.col.Collation = t, coll
	}
	var err error
	if n.col.Compression, err = compressionOf(n.col.Type, def.Compression); err != nil {
		return nil, err
	}
	for i := range def.Constraints {
		if err := n.constraint(&def.Constraints[i], relation); err != nil {
			return nil, err
		}
	}
	if n.serial != 0 && n.deflt != nil {
		return nil, sqlerr.New(sqlerr.SyntaxError,
			"multiple default values specified for column \"%s\" of table \"%s\"",
			n.col.Name, relation)
	}
	return n, nil
}

// said is a conflict between two constraints of one column.
func (n *newColumn) said(c *ast.ColumnConstraint, what, relation string) error {
	return sqlerr.New(sqlerr.SyntaxError, "%s for column \"%s\" of table \"%s\"", what, n.col.Name,
		relation).At(int(c.Pos))
}

func (n *newColumn) constraint(c *ast.ColumnConstraint, relation string) error {
	const conflicting = "conflicting NULL/NOT NULL declarations"
	switch c.Kind {
	case "null":
		if n.col.NotNull {
			return n.said(c, conflicting, relation)
		}
		n.nullSaid = true
	case "not null":
		if n.nullSaid {
			return n.said(c, conflicting, relation)
		}
		n.col.NotNull = true
	case "default":
		if n.deflt != nil {
			return n.said(c, "multiple default values specified", relation)
		}
		n.deflt = c
	case "identity":
		if n.identity != nil {
			return n.said(c, "multiple identity specifications", relation)
		}
		if n.nullSaid {
			return n.said(c, conflicting, relation)
		}
		n.identity = c
		n.col.NotNull = true
		n.col.Identity = "by default"
		if c.Always {
			n.col.Identity = "always"
		}
	case "generated":
		if n.generated != nil {
			return n.said(c, "multiple generation clauses specified", relation)
		}
		n.generated = c
	case "check":
		n.constraints = append(n.constraints,
			ast.TableConstraint{Pos: c.Pos, Name: c.Name, Kind: "check", Expr: c.Expr,
				NoInherit: c.NoInherit})
	case "primary key", "unique":
		n.constraints = append(n.constraints,
			ast.TableConstraint{Pos: c.Pos, Name: c.Name, Kind: c.Kind,
				Columns: []ast.Ident{n.def.Name}, NullsNotDistinct: c.NullsNotDistinct,
				Deferrable: c.Deferrable, InitiallyDeferred: c.InitiallyDeferred,
				Options: c.Options})
	case "references":
		n.constraints = append(n.constraints,
			ast.TableConstraint{Pos: c.Pos, Name: c.Name, Kind: "foreign key",
				Columns: []ast.Ident{n.def.Name}, Ref: c.Ref, Deferrable: c.Deferrable,
				InitiallyDeferred: c.InitiallyDeferred})
	default:
		return sqlerr.Unsupported(int(c.Pos), "column constraint "+c.Kind)
	}
	return n.exclusive(c, relation)
}

// exclusive refuses more than one source of the column's values.
func (n *newColumn) exclusive(c *ast.ColumnConstraint, relation string) error {
	switch {
	case (n.deflt != nil || n.serial != 0) && n.identity != nil:
		return n.said(c, "both default and identity specified", relation)
	case n.deflt != nil && n.generated != nil:
		return n.said(c, "both default and generation expression specified", relation)
	case n.identity != nil && n.generated != nil:
		return n.said(c, "both identity and generation expression specified", relation)
	}
	if n.identity != nil && !isSequenceType(n.col.Type) {
		return badSequence("identity column type must be smallint, integer, or bigint")
	}
	return nil
}

func isSequenceType(t *types.Type) bool {
	return t.OID == types.OIDInt2 || t.OID == types.OIDInt4 || t.OID == types.OIDInt8
}

// setDefault binds the column's DEFAULT.
func (env *Env) setDefault(ctx context.Context, n *newColumn) (err error) {
	if n.deflt == nil {
		return nil
	}
	if isNull(n.deflt.Expr) && !n.col.Type.IsDomain() {
		return nil // DEFAULT NULL means without a default, also without that of a domain
	}
	if n.bound, err = env.bindDefault(ctx, n.col.Name, n.col.Type, n.deflt.Expr); err != nil {
		return err
	}
	n.col.DefaultText, err = env.storedDefault(ctx, n.deflt.Expr, n.col.Type)
	return err
}

func isNull(e ast.Expr) bool {
	l, ok := e.(*ast.Literal)
	return ok && l.Kind == ast.LiteralNull
}

// ownSequence makes the sequence of a serial or identity column. The table has its ID and name, and
// the column its ID.
func (env *Env) ownSequence(ctx context.Context, sc catalog.Schema, d *table.Desc,
	n *newColumn) error {
	if n.serial == 0 && n.identity == nil {
		return nil
	}
	opts := &ast.SequenceOptions{}
	if n.identity != nil {
		opts = &n.identity.Sequence
	}
	seq, err := env.columnSequence(ctx, sc, d, &n.col, opts)
	if err != nil {
		return err
	}
	if n.serial != 0 && n.identity == nil {
		n.col.DefaultText = sequenceDefault(sc.Name, seq.Name)
	}
	return nil
}

// columnSequence makes a sequence that a column owns, and notes it in the column.
func (env *Env) columnSequence(ctx context.Context, sc catalog.Schema, d *table.Desc,
	c *table.Column, opts *ast.SequenceOptions) (*table.Desc, error) {
	var name string
	var err error
	if opts.Name != nil {
		name = opts.Name.Name
	} else if name, err = freeName(d.Name, c.Name, "seq", env.relationTaken(ctx, sc.Name,
		func(s string) bool { return s == d.Name })); err != nil {
		return nil, err
	}
	seq, err := env.newSequence(ctx, sc, name, c.Type.OID, opts)
	if err != nil {
		return nil, err
	}
	seq.Unlogged = d.Unlogged
	seq.Sequence.OwnerTable, seq.Sequence.OwnerColumn = d.ID, c.ID
	if err := env.createFor(ctx, seq, d.OwnedBy()); err != nil {
		return nil, err
	}
	c.SequenceID = seq.ID
	return seq, nil
}
