package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// schemaFor is creationSchema of CREATE TEMP, or of CREATE without TEMP.
func (env *Env) schemaFor(ctx context.Context, n ast.Name, temp bool) (catalog.Schema, error) {
	if !temp {
		return env.creationSchema(ctx, n)
	}
	if err := env.checkDatabase(n); err != nil {
		return catalog.Schema{}, err
	}
	if n.Schema != "" && !env.isTemporary(ctx, n.Schema) {
		return catalog.Schema{}, sqlerr.New(sqlerr.InvalidTableDefinition,
			"cannot create temporary relation in non-temporary schema").At(int(n.Pos))
	}
	a, err := env.authority(ctx)
	if err != nil {
		return catalog.Schema{}, err
	}
	db, _, err := env.View.Database(ctx, env.DatabaseName)
	if err != nil {
		return catalog.Schema{}, err
	}
	if a.Granted(acl.Database, db.OwnedBy(), db.ACL, acl.Temporary) == 0 {
		return catalog.Schema{}, denied("permission denied to create temporary tables in database"+
			" \"%s\"", env.DatabaseName)
	}
	return env.temporary(ctx, n)
}

// isTemporary reports whether a name is that of the session's temporary schema.
func (env *Env) isTemporary(ctx context.Context, schema string) bool {
	if schema == catalog.TemporaryAlias {
		return true
	}
	sc, _, err := env.View.Schema(ctx, env.Database, schema)
	return err == nil && sc.ID.Temporary()
}

// temporary returns the session's temporary schema, which is made when it is first needed.
func (env *Env) temporary(ctx context.Context, n ast.Name) (catalog.Schema, error) {
	if env.Temporary == nil {
		return catalog.Schema{}, sqlerr.Unsupported(int(n.Pos), "a temporary object here")
	}
	return env.Temporary(ctx)
}

// notTemporary refuses to move a relation into a temporary schema, or out of one.
func notTemporary(from, to table.ID) error {
	if from.Temporary() || to.Temporary() {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot move objects into or out of temporary schemas")
	}
	return nil
}

// setOnCommit sets what a commit does to a new table.
func setOnCommit(d *table.Desc, action string) error {
	switch action {
	case "":
		return nil
	case "delete rows":
		d.OnCommit = table.OnCommitDelete
	case "drop":
		d.OnCommit = table.OnCommitDrop
	}
	if !d.Temporary() {
		return sqlerr.New(sqlerr.InvalidTableDefinition,
			"ON COMMIT can only be used on temporary tables")
	}
	return nil
}

// readsTemporary reports whether one of the relations that a view reads is temporary.
func readsTemporary(reads []table.ID) bool {
	for _, id := range reads {
		if id.Temporary() {
			return true
		}
	}
	return false
}

// sameLife refuses a foreign key between a temporary table and one that is not.
func sameLife(d, parent *table.Desc) error {
	switch {
	case d.Temporary() == parent.Temporary():
		return nil
	case d.Temporary():
		return sqlerr.New(sqlerr.InvalidTableDefinition,
			"constraints on temporary tables may reference only temporary tables")
	}
	return sqlerr.New(sqlerr.InvalidTableDefinition,
		"constraints on permanent tables may reference only permanent tables")
}

// AtCommit does what ON COMMIT says of temporary tables. clear deletes the rows of one.
func AtCommit(ctx context.Context, env *Env, tables []*table.Desc,
	clear func(context.Context, *table.Desc) error) error {
	dr := newDropper(env)
	for _, d := range tables {
		if d.OnCommit == table.OnCommitDrop {
			dr.target(d)
		}
	}
	if err := dr.run(ctx, true); err != nil {
		return err
	}
	for _, d := range tables {
		if d.OnCommit != table.OnCommitDelete {
			continue
		}
		if err := env.sameOnCommit(ctx, d); err != nil {
			return err
		}
		if err := clear(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// sameOnCommit refuses to clear a table to which one refers that is not cleared with it.
func (env *Env) sameOnCommit(ctx context.Context, d *table.Desc) error {
	var other *table.Desc
	err := env.eachReference(ctx, d, func(child *table.Desc, _ *table.ForeignKey) {
		if child.OnCommit != table.OnCommitDelete {
			other = child
		}
	})
	if err != nil || other == nil {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"unsupported ON COMMIT and foreign key combination").
		WithDetail("Table \"%s\" references \"%s\", but they do not have the same ON COMMIT "+
			"setting.", other.Name, d.Name)
}

// DropTemporary drops all temporary relations of the session.
func DropTemporary(ctx context.Context, env *Env, all []*table.Desc) error {
	dr := newDropper(env)
	for _, d := range all {
		dr.target(d)
	}
	return dr.run(ctx, true)
}
