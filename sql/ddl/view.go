package ddl

import (
	"cmp"
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) createView(ctx context.Context, s *ast.CreateView) error {
	if err := readsOnly(s.Query,
		"views must not contain data-modifying statements in WITH"); err != nil {
		return err
	}
	q, err := env.viewQuery(ctx, s.Query, s.Columns, viewRefusals{
		names:     "CREATE VIEW specifies more column names than columns",
		collation: "could not determine which collation to use for view column \"%[1]s\""})
	if err != nil {
		return err
	}
	sc, err := env.viewSchema(ctx, s, q)
	if err != nil {
		return err
	}
	options, err := newViewOptions(s)
	if err != nil {
		return err
	}
	old, err := env.replaced(ctx, s, sc.Name)
	if err != nil {
		return err
	}
	if err := env.hold(ctx, q.reads); err != nil {
		return err
	}
	d := &table.Desc{DatabaseID: env.Database, SchemaID: sc.ID, Schema: sc.Name, Name: s.Name.Name,
		Kind: table.KindView, NextColumnID: 1, NextIndexID: 1,
		Options: options,
		View:    &table.View{Text: q.text, DependsOn: q.reads, DependsOnKeys: q.keys}}
	q.addColumns(d)
	if err := env.mayCheck(ctx, d); err != nil {
		return err
	}
	if old != nil {
		d.ID, d.RowType, d.Comment = old.ID, old.RowType, old.Comment
		d.Owner, d.ACL = old.Owner, old.ACL
		if err := env.mustOwn(ctx, old); err != nil {
			return err
		}
		if err := compatibleView(old, d); err != nil {
			return err
		}
		for i := range old.Columns {
			was := &old.Columns[i]
			d.Columns[i].ACL, d.Columns[i].DefaultText = was.ACL, was.DefaultText
		}
		if recursive, err := env.readsThrough(ctx, q.reads, old.ID); err != nil {
			return err
		} else if recursive {
			return sqlerr.New(sqlerr.InvalidObjectDefinition,
				"infinite recursion detected in rules for relation \"%s\"", old.Name)
		}
		if err := env.lock(ctx, old, rowlock.AccessExclusive); err != nil {
			return err
		}
		if err := env.notIncremental(ctx, s, old); err != nil {
			return err
		}
		return env.View.UpdateRelation(ctx, old, d)
	}
	if err := env.View.NameRelation(ctx, d); err != nil {
		return err
	}
	return env.create(ctx, d)
}

// viewSchema is the schema of a new view: one that reads temporary relations is temporary itself.
func (env *Env) viewSchema(ctx context.Context, s *ast.CreateView,
	q *viewQuery) (catalog.Schema, error) {
	sc, err := env.schemaFor(ctx, s.Name, s.Temp)
	if err != nil || sc.ID.Temporary() || !readsTemporary(q.reads) {
		return sc, err
	}
	if sc, err = env.schemaFor(ctx, s.Name, true); err == nil {
		env.notice("00000", "view \"%s\" will be a temporary view", s.Name.Name)
	}
	return sc, err
}

// viewQuery is what a view keeps of its query.
type viewQuery struct {
	text    string
	columns []table.Column
	reads   []table.ID // relations of the catalog that the query names
	keys    []table.ID // primary keys that its GROUP BY rests on
}

// addColumns gives the columns of the query to the view.
func (q *viewQuery) addColumns(d *table.Desc) {
	for _, c := range q.columns {
		c.ID = d.NextColumnID
		d.NextColumnID++
		d.Columns = append(d.Columns, c)
	}
}

// viewQuery binds the query of a view. Views in it are relations like any other, so that the work
// does not grow with what they are made of. The columns get the names, as far as there are any.
func (env *Env) viewQuery(ctx context.Context, query *ast.Select, columns []ast.Ident,
	refused viewRefusals) (*viewQuery, error) {
	notes, err := bind.Query(ctx, env.Planner, query, nil)
	if err != nil {
		return nil, err
	}
	if len(columns) > len(notes.Results[query]) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "%s", refused.names)
	}
	q := &viewQuery{}
	if q.columns, err = viewColumns(columns, notes.Results[query], refused); err != nil {
		return nil, err
	}
	names := make([]string, len(q.columns))
	for i := range q.columns {
		names[i] = q.columns[i].Name
	}
	opts := deparse.Options{Source: true}
	if q.text, err = deparse.Query(ctx, env.Planner, query, notes, names, opts); err != nil {
		return nil, err
	}
	q.keys = notes.Keys
	q.reads, err = env.stored(ctx, notes.Reads)
	return q, err
}

// viewRefusals are the messages of errors that depend on the statement that a query belongs to: for
// more names than columns, and for a column whose collation could not be determined.
type viewRefusals struct{ names, collation string }

func undetermined(format string, args ...any) error {
	return sqlerr.New(sqlerr.IndeterminateCollation, format, args...).
		WithHint("Use the COLLATE clause to set the collation explicitly.")
}

// viewColumns are the columns of a view, the first ones under the names given.
func viewColumns(given []ast.Ident, results []bind.ResultNote,
	refused viewRefusals) ([]table.Column, error) {
	seen := map[string]bool{}
	var cols []table.Column
	for i, res := range results {
		name, t := res.Name, res.Type
		if i < len(given) {
			name = given[i].Name
		}
		if t.OID == types.OIDUnknown {
			t = types.TText
		}
		if err := storable(name, t); err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once",
				name)
		}
		seen[name] = true
		if res.Undetermined {
			return nil, undetermined(refused.collation, name, t.SQLName())
		}
		cols = append(cols, table.Column{Name: name, Type: t, Collation: res.Collation})
	}
	return cols, nil
}

// readsOnly refuses a query that modifies something, with the message.
func readsOnly(q *ast.Select, message string) error {
	if q.With == nil {
		return nil
	}
	for i := range q.With.CTEs {
		if _, ok := q.With.CTEs[i].Statement.(*ast.Select); !ok {
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s", message)
		}
	}
	return nil
}

// stored keeps of what a query reads the relations of the catalog, each once, and locks them. The
// tables of the system are always there.
func (env *Env) stored(ctx context.Context, reads []table.ID) ([]table.ID, error) {
	var out []table.ID
	for _, id := range reads {
		d, err := env.View.RelationByID(ctx, id)
		if err != nil {
			return nil, err
		}
		if d == nil || slices.Contains(out, id) {
			continue
		}
		if err := env.lock(ctx, d, rowlock.AccessShare); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// readsThrough reports whether one of the relations is a view that reads view, or is it. Reading a
// materialized view does not run its query.
func (env *Env) readsThrough(ctx context.Context, reads []table.ID, view table.ID) (bool, error) {
	seen := map[table.ID]bool{}
	reads = slices.Clone(reads) // they may be those of a descriptor
	for len(reads) > 0 {
		id := reads[len(reads)-1]
		reads = reads[:len(reads)-1]
		if id == view {
			return true, nil
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		d, err := env.View.RelationByID(ctx, id)
		if err != nil {
			return false, err
		}
		if d != nil && d.IsQuery() {
			reads = append(reads, d.View.DependsOn...)
		}
	}
	return false, nil
}

// replaced is the view that OR REPLACE replaces, or nil.
func (env *Env) replaced(ctx context.Context, s *ast.CreateView, schema string) (*table.Desc,
	error) {
	taken, err := env.View.Taken(ctx, env.Database, schema, s.Name.Name)
	if err != nil || !taken {
		return nil, err
	}
	if !s.OrReplace {
		return nil, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", s.Name.Name)
	}
	old, err := env.View.Relation(ctx, env.Database, schema, s.Name.Name)
	if err != nil {
		return nil, err
	}
	if old == nil || old.Kind != table.KindView {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a view", s.Name.Name)
	}
	return old, nil
}

// compatibleView verifies that a view's replacement only adds columns at the end.
func compatibleView(old, d *table.Desc) error {
	if len(d.Columns) < len(old.Columns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i := range old.Columns {
		was, is := &old.Columns[i], &d.Columns[i]
		if was.Name != is.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition,
				"cannot change name of view column \"%s\" to \"%s\"", was.Name, is.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column " +
					"instead.")
		}
		if was.Type.OID != is.Type.OID || was.Type.Mod != is.Type.Mod {
			return sqlerr.New(sqlerr.InvalidTableDefinition,
				"cannot change data type of view column \"%s\" from %s to %s", was.Name, was.Type,
				is.Type)
		}
		if was.Collation != is.Collation {
			return sqlerr.New(sqlerr.InvalidTableDefinition,
				"cannot change collation of view column \"%s\" from \"%s\" to \"%s\"", was.Name,
				cmp.Or(was.Collation, "default"), cmp.Or(is.Collation, "default"))
		}
	}
	return nil
}
