package ddl

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
)

// maxName is the longest identifier in bytes, as in PostgreSQL.
const maxName = 63

func (env *Env) checkDatabase(n ast.Name) error {
	if n.Database != "" && n.Database != env.DatabaseName {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cross-database references are not implemented: \"%s.%s.%s\"", n.Database, n.Schema,
			n.Name).At(int(n.Pos))
	}
	return nil
}

func noSchema(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
}

func isSystemSchema(name string) bool {
	return name == "pg_catalog" || name == "information_schema"
}

// creationSchema is the schema in which a new object of that name goes.
func (env *Env) creationSchema(ctx context.Context, n ast.Name) (catalog.Schema, error) {
	if err := env.checkDatabase(n); err != nil {
		return catalog.Schema{}, err
	}
	if n.Schema != "" {
		if env.isTemporary(ctx, n.Schema) {
			return env.temporary(ctx, n)
		}
		if isSystemSchema(n.Schema) {
			return catalog.Schema{}, sqlerr.New(sqlerr.InsufficientPrivilege,
				"permission denied to create \"%s.%s\"", n.Schema, n.Name).
				WithDetail("System catalog modifications are currently disallowed.")
		}
		sc, ok, err := env.View.Schema(ctx, env.Database, n.Schema)
		if err == nil && !ok {
			err = noSchema(n.Schema).At(int(n.Pos))
		}
		if err == nil {
			err = env.mustCreateIn(ctx, sc)
		}
		return sc, err
	}
	for i, name := range env.SearchPath {
		switch {
		case isSystemSchema(name), i < env.Implied:
			continue
		case env.isTemporary(ctx, name):
			return env.temporary(ctx, n)
		}
		sc, ok, err := env.View.Schema(ctx, env.Database, name)
		if ok && err == nil {
			err = env.mustCreateIn(ctx, sc)
		}
		if err != nil || ok {
			return sc, err
		}
	}
	return catalog.Schema{}, sqlerr.New(sqlerr.InvalidSchemaName,
		"no schema has been selected to create in").At(int(n.Pos))
}

// lookup finds a relation, and for an index its table with it; all nil when there is none. One of
// the system's is 42501.
func (env *Env) lookup(ctx context.Context, n ast.Name) (d *table.Desc, ix *table.Index,
	err error) {
	if d, ix, err = env.lookupStored(ctx, n); d != nil || err != nil {
		return d, ix, err
	}
	return nil, nil, env.systemRelation(ctx, n)
}

// lookupStored is lookup among the relations that the store keeps.
func (env *Env) lookupStored(ctx context.Context, n ast.Name) (d *table.Desc, ix *table.Index,
	err error) {
	if err := env.checkDatabase(n); err != nil {
		return nil, nil, err
	}
	path := env.SearchPath
	if n.Schema != "" {
		if _, ok, err := env.View.Schema(ctx, env.Database, n.Schema); err != nil {
			return nil, nil, err
		} else if !ok && n.Schema == catalog.TemporaryAlias {
			return nil, nil, nil // the session has made no temporary object yet
		} else if !ok && !isSystemSchema(n.Schema) {
			return nil, nil, noSchema(n.Schema)
		} else if ok {
			if err := env.mayUse(ctx, n.Schema); err != nil {
				return nil, nil, err
			}
		}
		path = []string{n.Schema}
	}
	for _, schema := range path {
		if d, err = env.View.Relation(ctx, env.Database, schema, n.Name); d != nil || err != nil {
			return d, nil, err
		}
		if d, ix, err = env.View.Index(ctx, env.Database, schema, n.Name); ix != nil || err != nil {
			return d, ix, err
		}
	}
	return nil, nil, nil
}

// systemRelation refuses names of pg_catalog and information_schema.
func (env *Env) systemRelation(ctx context.Context, n ast.Name) error {
	if env.Planner == nil || env.Planner.Catalog == nil {
		return nil
	}
	d, err := env.Planner.Catalog.Relation(ctx, n)
	if err != nil || d == nil || d.Kind != table.KindVirtual {
		return err
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog",
		d.Name)
}

// relation finds a relation that is not an index, or fails with 42P01.
func (env *Env) relation(ctx context.Context, n ast.Name) (*table.Desc, error) {
	d, ix, err := env.lookup(ctx, n)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, env.noRelation(ctx, n)
	}
	if ix != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", n.Name)
	}
	return d, nil
}

// noRelation is 42P01 for a name, or 42809 where it is that of a composite type, which is among the
// relations in PostgreSQL.
func (env *Env) noRelation(ctx context.Context, n ast.Name) error {
	t, err := env.composite(ctx, n)
	if err != nil {
		return err
	}
	if t != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a composite type", t.Name)
	}
	return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(n))
}

// display is a name as the user wrote it.
func display(n ast.Name) string {
	if n.Schema != "" {
		return n.Schema + "." + n.Name
	}
	return n.Name
}

func kindOf(d *table.Desc) ast.ObjectKind {
	switch d.Kind {
	case table.KindView:
		return ast.ViewObject
	case table.KindMaterializedView:
		return ast.MaterializedViewObject
	case table.KindSequence:
		return ast.SequenceObject
	}
	return ast.TableObject
}

// describe names a relation in messages about dependencies: "table t", with the schema where the
// search path would not find it.
func (env *Env) describe(d *table.Desc) string {
	return string(kindOf(d)) + " " + env.visibleName(d)
}

func (env *Env) visibleName(d *table.Desc) string { return env.visible(d.Schema, d.Name) }

// visible writes a name with its schema, unless the search path has that.
func (env *Env) visible(schema, name string) string {
	if slices.Contains(env.SearchPath, schema) {
		return sqlname.Quote(name)
	}
	return sqlname.Qualified(schema, name)
}

// objectName makes the name of a thing that belongs to a table: table_columns_label, cut in its
// longer part where it would be too long.
func objectName(name1, name2, label string) string {
	rest := len(label) + 1
	if name2 != "" {
		rest++
	}
	n1, n2 := len(name1), len(name2)
	for n1+n2+rest > maxName {
		if n1 > n2 {
			n1--
		} else {
			n2--
		}
	}
	name := clip(name1, n1)
	if name2 != "" {
		name += "_" + clip(name2, n2)
	}
	return name + "_" + label
}

// clip cuts s to at most n bytes, at a character's boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// freeName is objectName with the least number behind its label for which taken says no.
func freeName(name1, name2, label string, taken func(string) (bool, error)) (string, error) {
	for i := 0; ; i++ {
		l := label
		if i > 0 {
			l += strconv.Itoa(i)
		}
		name := objectName(name1, name2, l)
		if used, err := taken(name); err != nil || !used {
			return name, err
		}
	}
}

// relationTaken reports whether a relation name is in use in a schema, or among those about to be.
func (env *Env) relationTaken(ctx context.Context, schema string,
	pending func(string) bool) func(string) (bool, error) {
	return func(name string) (bool, error) {
		if pending != nil && pending(name) {
			return true, nil
		}
		return env.View.Taken(ctx, env.Database, schema, name)
	}
}

// indexColumnNames joins the names of an index's columns for the index's own name; a column that
// repeats gets a number.
func indexColumnNames(names []string) string {
	var out []string
	for _, n := range names {
		name := n
		for i := 1; slices.Contains(out, name); i++ {
			suffix := strconv.Itoa(i)
			name = clip(n, maxName-len(suffix)) + suffix
		}
		out = append(out, name)
	}
	s := strings.Join(out, "_")
	if len(s) > maxName {
		s = clip(s, maxName)
	}
	return s
}

func noColumn(d *table.Desc, name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist",
		name, d.Name)
}

// column finds a column that a user may name.
func column(d *table.Desc, id ast.Ident) (int, error) { return columnFor(d, id, "alter") }

// columnFor is column for an action, whose verb the error for a system column names.
func columnFor(d *table.Desc, id ast.Ident, verb string) (int, error) {
	if slices.Contains(builtin.SystemColumnNames, id.Name) && !d.IsQuery() {
		return -1, sqlerr.New(sqlerr.FeatureNotSupported, "cannot %s system column \"%s\"", verb,
			id.Name)
	}
	if i := d.Column(id.Name); i >= 0 && !d.Columns[i].Hidden {
		return i, nil
	}
	return -1, noColumn(d, id.Name)
}
