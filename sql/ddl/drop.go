package ddl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) drop(ctx context.Context, s *ast.Drop) (tag string, err error) {
	var f func(context.Context, *ast.Drop) error
	switch s.Kind {
	case ast.TableObject, ast.ViewObject, ast.MaterializedViewObject, ast.SequenceObject:
		f = env.dropRelations
	case ast.IndexObject:
		f = env.dropIndexes
	case ast.SchemaObject:
		f = env.dropSchemas
	case ast.TypeObject, ast.DomainObject:
		f = env.dropTypes
	case ast.ExtensionObject:
		f = env.dropExtensions
	case ast.DatabaseObject:
		f = env.dropDatabases
	default:
		return "", sqlerr.Unsupported(int(s.Pos), "DROP "+s.Kind.Upper())
	}
	return "DROP " + s.Kind.Upper(), together(ctx, env, f, s)
}

// absent is the error, or with IF EXISTS the notice, for something that is not there.
func (env *Env) absent(s *ast.Drop, code, name string) error {
	if s.IfExists {
		env.notice("00000", "%s \"%s\" does not exist, skipping", s.Kind, name)
		return nil
	}
	return sqlerr.New(code, "%s \"%s\" does not exist", s.Kind, name)
}

// find resolves a name for DROP; all nil when it is missing and that was said.
func (env *Env) find(ctx context.Context, s *ast.Drop, n ast.Name, code string) (*table.Desc,
	*table.Index, error) {
	if n.Schema != "" && s.IfExists && !isSystemSchema(n.Schema) {
		_, ok, err := env.View.Schema(ctx, env.Database, n.Schema)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			env.notice("00000", "schema \"%s\" does not exist, skipping", n.Schema)
			return nil, nil, nil
		}
	}
	d, ix, err := env.lookup(ctx, n)
	if err != nil || d != nil {
		return d, ix, err
	}
	t, err := env.composite(ctx, n)
	switch {
	case err != nil:
	case t != nil:
		err = wrongKind(t.Name, s.Kind).WithHint("Use DROP TYPE to remove a type.")
	default:
		err = env.absent(s, code, n.Name)
	}
	return nil, nil, err
}

// notA is 42809 for DROP of another kind of thing.
func notA(s *ast.Drop, d *table.Desc, ix *table.Index) error {
	name, is := d.Name, kindOf(d)
	if ix != nil {
		name, is = ix.Name, ast.IndexObject
	}
	return wrongKind(name, s.Kind).WithHint("Use DROP %s to remove %s.", is.Upper(),
		withArticle(is))
}

func (env *Env) dropRelations(ctx context.Context, s *ast.Drop) error {
	dr := newDropper(env)
	for _, n := range s.Names {
		d, ix, err := env.find(ctx, s, n, sqlerr.UndefinedTable)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		if ix != nil || kindOf(d) != s.Kind {
			return notA(s, d, ix)
		}
		if err := env.mustDrop(ctx, d, nil); err != nil {
			return err
		}
		dr.target(d)
	}
	return dr.run(ctx, s.Cascade)
}

// dropper collects what must go together.
type dropper struct {
	env        *Env
	targets    []*table.Desc
	what       []string // descriptions of the targets, as the user named them
	going      map[table.ID]bool
	order      []*table.Desc
	types      []*catalog.TypeDesc // in the order in which they go
	columns    []tableColumn       // of user types that go, in tables that stay
	parts      []typePart          // of types that stay
	details    []string            // what depends on what
	cascaded   []string            // what goes only because of CASCADE
	defaults   []columnDefault
	foreign    []foreignKey
	observed   []string // observers of tables that stay
	extensions []catalog.Extension
	naming     *namingConstants
}

// foreignKey is one that goes with what it refers to.
type foreignKey struct {
	table table.ID
	name  string
}

// columnDefault is a column whose default goes with a sequence.
type columnDefault struct {
	table  table.ID
	column table.ColumnID
}

func newDropper(env *Env) *dropper { return &dropper{env: env, going: map[table.ID]bool{}} }

func (dr *dropper) target(d *table.Desc) {
	if dr.going[d.ID] {
		return
	}
	dr.going[d.ID] = true
	dr.targets = append(dr.targets, d)
	dr.what = append(dr.what, dr.env.describe(d))
}

// run drops the targets with what depends on them, which needs cascade.
func (dr *dropper) run(ctx context.Context, cascade bool) error {
	for _, d := range dr.targets {
		if err := dr.follow(ctx, d); err != nil {
			return err
		}
	}
	if err := dr.lockOtherEnds(ctx); err != nil {
		return err
	}
	if err := dr.env.lockedAnew(); err != nil {
		return err
	}
	if len(dr.details) > 0 {
		if !cascade {
			return dr.refuse()
		}
		dr.notice()
	}
	for _, c := range dr.defaults {
		if err := dr.clearDefault(ctx, c); err != nil {
			return err
		}
	}
	for _, f := range dr.foreign {
		if err := dr.env.removeForeignKeys(ctx, f.table,
			func(fk *table.ForeignKey) bool { return fk.Name == f.name }); err != nil {
			return err
		}
	}
	for _, name := range dr.observed {
		if err := dr.env.dropObserver(ctx, name); err != nil {
			return err
		}
	}
	if err := dr.dropColumns(ctx); err != nil {
		return err
	}
	if err := dr.dropObjects(ctx); err != nil {
		return err
	}
	for _, e := range dr.extensions {
		if err := dr.env.View.DropExtension(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// drop removes one relation from the catalog, and what other relations keep about it.
func (dr *dropper) drop(ctx context.Context, d *table.Desc) error {
	if d.Kind == table.KindSequence && !dr.going[d.Sequence.OwnerTable] &&
		d.Sequence.OwnerTable != 0 {
		if err := dr.env.disown(ctx, d.Clone()); err != nil {
			return err
		}
	}
	if err := dr.env.View.DropRelation(ctx, d); err != nil {
		return err
	}
	return dr.env.unlink(ctx, d.ID, d.ForeignKeys, nil)
}

// lockOtherEnds locks the tables at the other ends of the foreign keys that go: they change too.
func (dr *dropper) lockOtherEnds(ctx context.Context) error {
	for _, f := range dr.foreign {
		child, err := dr.env.View.RelationByID(ctx, f.table)
		if err != nil {
			return err
		}
		if err := dr.env.lock(ctx, child, rowlock.AccessExclusive); err != nil {
			return err
		}
	}
	for _, d := range dr.order {
		if err := dr.env.lockReferenced(ctx, d.ForeignKeys); err != nil {
			return err
		}
	}
	return nil
}

// foreignKey notes a foreign key that cannot be without on.
func (dr *dropper) foreignKey(child *table.Desc, fk *table.ForeignKey, on string) {
	dr.depends(dr.env.describeForeignKey(child, fk), on)
	dr.foreign = append(dr.foreign, foreignKey{child.ID, fk.Name})
}

// viewsOnKey notes the views whose GROUP BY rests on a primary key.
func (dr *dropper) viewsOnKey(ctx context.Context, d *table.Desc, ix *table.Index,
	on string) error {
	views, err := dr.env.View.Dependents(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, v := range views {
		if v.View == nil || dr.going[v.ID] || !slices.Contains(v.View.DependsOnKeys, ix.OID) {
			continue
		}
		dr.going[v.ID] = true
		dr.depends(dr.env.describe(v), on)
		if err := dr.follow(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

func (dr *dropper) refuse() error {
	what := "desired object(s)"
	them := "them"
	if len(dr.what) == 1 {
		what, them = dr.what[0], "it"
	}
	return sqlerr.New(sqlerr.DependentObjectsStillExist,
		"cannot drop %s because other objects depend on %s", what, them).
		WithDetail("%s", strings.Join(dr.details, "\n")).
		WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

func (dr *dropper) notice() {
	if len(dr.cascaded) == 1 {
		dr.env.notice("00000", "drop cascades to %s", dr.cascaded[0])
	} else {
		if dr.env.Notice != nil {
			dr.env.Notice("NOTICE", "00000",
				fmt.Sprintf("drop cascades to %d other objects", len(dr.cascaded)),
				"drop cascades to "+strings.Join(dr.cascaded, "\ndrop cascades to "))
		}
	}
}

// followViews notes the views that read d.
func (dr *dropper) followViews(ctx context.Context, d *table.Desc) error {
	views, err := dr.env.View.Dependents(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, v := range views {
		if dr.going[v.ID] {
			continue
		}
		dr.going[v.ID] = true
		dr.depends(dr.env.describe(v), dr.env.describe(d))
		if err := dr.follow(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// follow notes d and all that depends on it.
func (dr *dropper) follow(ctx context.Context, d *table.Desc) error {
	if err := dr.env.lock(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	if err := dr.env.unused("DROP TABLE", d); err != nil {
		return err
	}
	dr.order = append(dr.order, d)
	if err := dr.followViews(ctx, d); err != nil {
		return err
	}
	if err := dr.followPolicies(ctx, d); err != nil {
		return err
	}
	if err := dr.followRowType(ctx, d); err != nil {
		return err
	}
	if err := dr.followConstants(ctx, d); err != nil || d.Kind == table.KindSequence {
		return err
	}
	err := dr.env.eachReference(ctx, d, func(child *table.Desc, fk *table.ForeignKey) {
		if !dr.going[child.ID] {
			dr.foreignKey(child, fk, dr.env.describe(d))
		}
	})
	if err != nil {
		return err
	}
	for i := range d.Observers { // they go with the table
		if d.Observers[i].Views {
			continue // the views are noted
		}
		dr.depends(describeObserver(&d.Observers[i]), dr.env.describe(d))
	}
	for i := range d.Columns {
		id := d.Columns[i].SequenceID
		if id == 0 || dr.going[id] {
			continue
		}
		seq, err := dr.env.View.RelationByID(ctx, id)
		if err != nil {
			return err
		}
		if seq != nil {
			dr.going[id] = true
			if err := dr.follow(ctx, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

func (dr *dropper) depends(what, on string) {
	dr.details = append(dr.details, what+" depends on "+on)
	dr.cascaded = append(dr.cascaded, what)
}

func (dr *dropper) clearDefault(ctx context.Context, c columnDefault) error {
	old, err := dr.env.View.RelationByID(ctx, c.table)
	if err != nil || old == nil {
		return err
	}
	d := old.Clone()
	o := d.ColumnByID(c.column)
	d.Columns[o].DefaultText = ""
	if dr.going[d.Columns[o].SequenceID] {
		d.Columns[o].SequenceID = 0
	}
	return dr.env.View.UpdateRelation(ctx, old, d)
}

func (env *Env) dropIndexes(ctx context.Context, s *ast.Drop) error {
	if s.Concurrently && len(s.Names) > 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"DROP INDEX CONCURRENTLY does not support dropping multiple objects")
	}
	for _, n := range s.Names {
		d, ix, err := env.find(ctx, s, n, sqlerr.UndefinedObject)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		if ix == nil {
			return notA(s, d, nil)
		}
		if err := env.mustDrop(ctx, d, ix); err != nil {
			return err
		}
		if ix.Constraint {
			by := "constraint " + sqlname.Quote(ix.Name) + " on " + env.describe(d)
			return sqlerr.New(sqlerr.DependentObjectsStillExist,
				"cannot drop index %s because %s requires it",
				sqlname.Quote(ix.Name), by).WithHint("You can drop %s instead.", by)
		}
		if err := env.lock(ctx, d, rowlock.AccessExclusive); err != nil {
			return err
		}
		if err := env.usable("DROP INDEX", ix.Name, d.ID, ix.ID); err != nil {
			return err
		}
		a := &alteration{env: env, d: d}
		if err := a.freeOfReferences(ctx, ix, "index "+sqlname.Quote(ix.Name),
			s.Cascade); err != nil {
			return err
		}
		if err := env.removeIndex(ctx, a.d, ix.ID); err != nil {
			return err
		}
	}
	return nil
}

// removeIndex takes an index that is not the row key out of the descriptor, with its entries.
func (env *Env) removeIndex(ctx context.Context, old *table.Desc, id table.IndexID) error {
	d := old.Clone()
	for i := range d.Indexes {
		if d.Indexes[i].ID == id {
			d.Indexes = append(d.Indexes[:i], d.Indexes[i+1:]...)
			break
		}
	}
	return env.View.UpdateRelation(ctx, old, d)
}

func (env *Env) dropSchemas(ctx context.Context, s *ast.Drop) error {
	dr := newDropper(env)
	var schemas []catalog.Schema
	for _, n := range s.Names {
		if isSystemSchema(n.Name) {
			return sqlerr.New(sqlerr.DependentObjectsStillExist,
				"cannot drop schema %s because it is required by the database system", n.Name)
		}
		sc, ok, err := env.View.Schema(ctx, env.Database, n.Name)
		if err != nil {
			return err
		}
		if !ok {
			if err := env.absent(s, sqlerr.InvalidSchemaName, n.Name); err != nil {
				return err
			}
			continue
		}
		if n.Name == catalog.TemporaryAlias {
			return noSchema(n.Name)
		}
		if a, err := env.authority(ctx); err != nil {
			return err
		} else if !a.Has(sc.OwnedBy()) {
			return notOwner(ast.SchemaObject, sc.Name)
		}
		schemas = append(schemas, sc)
		dr.what = append(dr.what, "schema "+sqlname.Quote(sc.Name))
	}
	for _, sc := range schemas {
		if err := dr.contents(ctx, sc); err != nil {
			return err
		}
	}
	if err := dr.run(ctx, s.Cascade); err != nil {
		return err
	}
	for _, sc := range schemas {
		if sc.ID.Temporary() {
			continue // it is there again for the next object
		}
		if err := env.View.DropSchema(ctx, sc); err != nil {
			return err
		}
	}
	return nil
}

// contents makes all relations of a schema targets that depend on it.
func (dr *dropper) contents(ctx context.Context, sc catalog.Schema) error {
	rels, err := dr.env.View.Relations(ctx, sc.Database)
	if err != nil {
		return err
	}
	for _, d := range rels {
		if d.SchemaID != sc.ID || dr.going[d.ID] {
			continue
		}
		dr.going[d.ID] = true
		dr.targets = append(dr.targets, d)
		if d.Kind != table.KindSequence || d.Sequence.OwnerTable == 0 {
			dr.depends(dr.env.describe(d), "schema "+sqlname.Quote(sc.Name))
		}
	}
	if err := dr.extensionsIn(ctx, sc); err != nil {
		return err
	}
	return dr.typesIn(ctx, sc)
}

func (env *Env) dropDatabases(ctx context.Context, s *ast.Drop) error {
	for _, n := range s.Names {
		db, ok, err := env.View.Database(ctx, n.Name)
		if err != nil {
			return err
		}
		if !ok {
			if err := env.absent(s, sqlerr.InvalidCatalogName, n.Name); err != nil {
				return err
			}
			continue
		}
		if a, err := env.authority(ctx); err != nil {
			return err
		} else if !a.Has(db.OwnedBy()) {
			return notOwner(ast.DatabaseObject, db.Name)
		}
		if db.ID == env.Database {
			return sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
		}
		if err := env.View.DropDatabase(ctx, db); err != nil {
			return err
		}
	}
	return nil
}
