package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
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
	if err := env.mustOwn(ctx, d); err != nil {
		return err
	}
	if err := env.lock(ctx, d, rowlock.TableShare); err != nil {
		return err
	}
	if err := env.unused("CREATE INDEX", d); err != nil {
		return err
	}
	next := d.Clone()
	ix, names, err := env.indexOf(ctx, next, s)
	if err != nil {
		return err
	}
	if s.Name != "" {
		if there, err := env.indexPresent(ctx, d, s); there || err != nil {
			return err
		}
	} else {
		if ix.Name, err = freeName(d.Name, indexColumnNames(names), "idx",
			env.relationTaken(ctx, d.Schema,
				func(n string) bool { return partNamed(d, n) })); err != nil {
			return err
		}
	}
	if ix.OID, err = env.View.NewIDIn(ctx, d.SchemaID); err != nil {
		return err
	}
	if ix.Method != "" && !ix.GIN() {
		env.notice("00000", "index \"%s\" is a btree: it serves the queries of access method "+
			"\"%s\"", ix.Name, ix.Method)
	}
	return env.addIndexTo(ctx, d, next, ix)
}

// indexPresent reports whether the name of a new index is taken: an error, which comes after those
// of its columns, without IF NOT EXISTS, and a notice with it.
func (env *Env) indexPresent(ctx context.Context, d *table.Desc, s *ast.CreateIndex) (bool, error) {
	taken, err := env.View.Taken(ctx, env.Database, d.Schema, s.Name)
	switch {
	case err != nil || !taken:
		return false, err
	case !s.IfNotExists:
		return false, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", s.Name)
	}
	env.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", s.Name)
	return true, nil
}

// addIndex puts an index into the descriptor and writes its entries.
func (env *Env) addIndex(ctx context.Context, old *table.Desc, ix *table.Index) error {
	return env.addIndexTo(ctx, old, old.Clone(), ix)
}

// addIndexTo is addIndex with the descriptor d, which has the index's expressions already.
func (env *Env) addIndexTo(ctx context.Context, old, d *table.Desc, ix *table.Index) error {
	ix.ID = d.NextIndexID
	d.NextIndexID++
	d.Indexes = append(d.Indexes, *ix)
	if err := env.View.UpdateRelation(ctx, old, d); err != nil {
		return err
	}
	return env.build(ctx, "CREATE INDEX", d, d.Index(ix.ID))
}

// indexOf makes the index that a statement describes, without name and IDs, and the names of its
// columns. It adds the index's expressions to d.
func (env *Env) indexOf(ctx context.Context, d *table.Desc, s *ast.CreateIndex) (*table.Index,
	[]string, error) {
	if err := env.resolveIndex(ctx, d, s); err != nil {
		return nil, nil, err
	}
	ix := &table.Index{Name: s.Name, Unique: s.Unique, NullsNotDistinct: s.NullsNotDistinct}
	if s.Method != "btree" {
		ix.Method = s.Method
	}
	if len(s.Elems)+len(s.Include) > 32 {
		return nil, nil, sqlerr.New(sqlerr.TooManyColumns,
			"cannot use more than 32 columns in an index")
	}
	var err error
	if ix.Options, err = setIndexOptions(s.Method, nil, s.Options); err != nil {
		return nil, nil, err
	}
	if s.Where != nil {
		if ix.WhereText, err = env.indexPredicate(ctx, d, s.Where); err != nil {
			return nil, nil, err
		}
	}
	var names []string
	for i := range s.Elems {
		k, name, err := env.indexColumn(ctx, d, &s.Elems[i], s.Method)
		if err != nil {
			return nil, nil, err
		}
		ix.Columns, names = append(ix.Columns, k), append(names, name)
	}
	for _, id := range s.Include {
		o, err := indexedColumn(d, id.Name)
		if err != nil {
			return nil, nil, err
		}
		ix.Include, names = append(ix.Include, d.Columns[o].ID), append(names, id.Name)
	}
	return ix, names, nil
}

// resolveIndex resolves the expressions of an index. It raises the errors of the statement's text,
// which come before those of its columns.
func (env *Env) resolveIndex(ctx context.Context, d *table.Desc, s *ast.CreateIndex) error {
	if s.Where != nil {
		if _, err := bind.IndexPredicate(ctx, env.Planner, d, s.Where); err != nil {
			return err
		}
	}
	for i := range s.Elems {
		e := keyOf(&s.Elems[i])
		if _, ok := columnOf(d, e); ok && e.Expr.At() == e.Pos {
			continue // no parentheses: it is a name, not an expression
		}
		if _, _, err := bind.IndexExpr(ctx, env.Planner, d, e.Expr); err != nil {
			return err
		}
	}
	return nil
}

// keyOf returns an element of an index with the collation of its whole expression as that of the
// key.
func keyOf(e *ast.IndexElem) *ast.IndexElem {
	c, ok := e.Expr.(*ast.Collate)
	if !ok || e.Collation != nil {
		return e
	}
	with := *e
	with.Expr, with.Collation = c.Operand, &c.Collation
	return &with
}

// columnOf returns the name of the column that is an element of an index; false: it is an
// expression.
func columnOf(d *table.Desc, e *ast.IndexElem) (string, bool) {
	ref, ok := e.Expr.(*ast.ColumnRef)
	if !ok || len(ref.Qualifier) > 1 || len(ref.Qualifier) == 1 && ref.Qualifier[0] != d.Name {
		return "", false
	}
	return ref.Name, true
}

func indexedColumn(d *table.Desc, name string) (int, error) {
	o := d.Column(name)
	if o >= 0 && !d.Columns[o].Hidden {
		return o, nil
	}
	if builtin.SystemColumnType(name) != nil {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported,
			"index creation on system columns is not supported")
	}
	return 0, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", name)
}

// indexColumn makes a key column of an index, and returns its name.
func (env *Env) indexColumn(ctx context.Context, d *table.Desc, e *ast.IndexElem,
	method string) (k table.IndexColumn, name string, err error) {
	k, name, t, err := env.indexKey(ctx, d, e)
	if err != nil {
		return k, "", err
	}
	if k.OpClass, err = operatorClass(e, t, method); err != nil {
		return k, "", err
	}
	if err := env.classPresent(ctx, k.OpClass, method); err != nil {
		return k, "", err
	}
	if err := checkOrder(e, method); err != nil {
		return k, "", err
	}
	k.Desc, k.NullsFirst = e.Desc, e.Desc
	if e.NullsFirst != nil {
		k.NullsFirst = *e.NullsFirst
	}
	return k, name, nil
}

// indexKey finds the column of an element of an index, or makes its expression. It returns its name
// and type.
func (env *Env) indexKey(ctx context.Context, d *table.Desc,
	e *ast.IndexElem) (k table.IndexColumn, name string, t *types.Type, err error) {
	e = keyOf(e)
	column, ok := columnOf(d, e)
	if ok && e.Expr.At() != e.Pos && d.Column(column) < 0 {
		// In parentheses it may be the name of the table: a row.
		ok = builtin.SystemColumnType(column) != nil
	}
	if ok {
		o, err := indexedColumn(d, column)
		if err != nil {
			return k, "", nil, err
		}
		k.ColumnID, name = d.Columns[o].ID, column
	} else {
		x, err := env.indexExpression(ctx, d, e.Expr)
		if err != nil {
			return k, "", nil, err
		}
		k.ColumnID, name = x.ID, x.Name
	}
	t = d.PartType(d.Part(k.ColumnID))
	k.Collation, err = indexCollation(e, t)
	return k, name, t, err
}
