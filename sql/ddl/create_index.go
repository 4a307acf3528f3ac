package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) createIndex(ctx context.Context, s *ast.CreateIndex) error {
	d, err := env.relation(ctx, s.Table)
	if err != nil {
		return err
	}
	if !d.HasRows() {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot create index on relation \"%s\"", d.Name).
			WithDetail("This operation is not supported for %ss.", kindOf(d))
	}
	if err := checkMethod(s); err != nil {
		return err
	}
	if err := env.lock(ctx, d, rowlock.TableShare); err != nil {
		return err
	}
	if err := env.unused("CREATE INDEX", d); err != nil {
		return err
	}
	if s.Name != "" {
		taken, err := env.View.Taken(ctx, env.Database, d.Schema, s.Name)
		if err != nil {
			return err
		}
		if taken {
			if !s.IfNotExists {
				return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", s.Name)
			}
			env.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", s.Name)
			return nil
		}
	}
	ix, names, err := indexOf(d, s)
	if err != nil {
		return err
	}
	if s.Name == "" {
		if ix.Name, err = freeName(d.Name, indexColumnNames(names), "idx",
			env.relationTaken(ctx, d.Schema,
				func(n string) bool { return constraintNamed(d, n) })); err != nil {
			return err
		}
	}
	if ix.OID, err = env.View.NewID(ctx); err != nil {
		return err
	}
	return env.addIndex(ctx, d, ix)
}

// addIndex puts an index into the descriptor and writes its entries.
func (env *Env) addIndex(ctx context.Context, old *table.Desc, ix *table.Index) error {
	d := old.Clone()
	ix.ID = d.NextIndexID
	d.NextIndexID++
	d.Indexes = append(d.Indexes, *ix)
	if err := env.View.UpdateRelation(ctx, old, d); err != nil {
		return err
	}
	return env.build(ctx, "CREATE INDEX", d, d.Index(ix.ID))
}

func checkMethod(s *ast.CreateIndex) error {
	switch s.Method {
	case "", "btree":
	case "hash", "gist", "spgist", "gin", "brin":
		return sqlerr.Unsupported(int(s.Pos), "access method \""+s.Method+"\"")
	default:
		return sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", s.Method)
	}
	if s.Where != nil {
		return sqlerr.Unsupported(int(s.Where.At()), "partial index")
	}
	return checkStorageOptions(s.Options)
}

// indexOf makes the index that a statement describes, without name and IDs, and the names of its
// columns.
func indexOf(d *table.Desc, s *ast.CreateIndex) (*table.Index, []string, error) {
	ix := &table.Index{Name: s.Name, Unique: s.Unique, NullsNotDistinct: s.NullsNotDistinct}
	var names []string
	for i := range s.Elems {
		e := &s.Elems[i]
		ref, ok := e.Expr.(*ast.ColumnRef)
		if !ok {
			return nil, nil, sqlerr.Unsupported(int(e.Pos), "index on an expression")
		}
		o := d.Column(ref.Name)
		if o < 0 || d.Columns[o].Hidden {
			return nil, nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist",
				ref.Name)
		}
		if err := checkElem(e); err != nil {
			return nil, nil, err
		}
		if err := indexable(d.Columns[o].Type); err != nil {
			return nil, nil, err
		}
		k := table.IndexColumn{ColumnID: d.Columns[o].ID, Desc: e.Desc, NullsFirst: e.Desc}
		if e.NullsFirst != nil {
			k.NullsFirst = *e.NullsFirst
		}
		ix.Columns = append(ix.Columns, k)
		names = append(names, ref.Name)
	}
	for _, id := range s.Include {
		o := d.Column(id.Name)
		if o < 0 || d.Columns[o].Hidden {
			return nil, nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist",
				id.Name)
		}
		ix.Include = append(ix.Include, d.Columns[o].ID)
		names = append(names, id.Name)
	}
	if len(names) > 32 {
		return nil, nil, sqlerr.New(sqlerr.TooManyColumns,
			"cannot use more than 32 columns in an index")
	}
	return ix, names, nil
}

// checkElem verifies operator class and collation of an index column. The order of text is that of
// its bytes, so the pattern classes are what every index is.
func checkElem(e *ast.IndexElem) error {
	switch e.OpClass {
	case "", "text_pattern_ops", "varchar_pattern_ops", "bpchar_pattern_ops", "text_ops",
		"varchar_ops", "bpchar_ops",
		"int2_ops", "int4_ops", "int8_ops", "float4_ops", "float8_ops", "numeric_ops", "bool_ops",
		"date_ops",
		"time_ops", "timestamp_ops", "timestamptz_ops", "interval_ops", "uuid_ops", "bytea_ops",
		"jsonb_ops",
		"name_ops", "oid_ops", "array_ops":
	default:
		return sqlerr.New(sqlerr.UndefinedObject, "operator class \"%s\" does not exist for "+
			"access method \"btree\"", e.OpClass)
	}
	if e.Collation != nil {
		switch e.Collation.Name {
		case "default", "C", "POSIX", "ucs_basic":
		default:
			return sqlerr.New(sqlerr.UndefinedObject,
				"collation \"%s\" for encoding \"UTF8\" does not exist", e.Collation.Name).At(
				int(e.Collation.Pos))
		}
	}
	return nil
}
