package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// Extension is an extension that a database has: the names of its members are in a schema.
type Extension struct {
	ID       table.ID
	Database table.ID
	Name     string
	SchemaID table.ID
	Schema   string
	Owner    acl.StoredOwner `json:",omitempty"` // 0: the bootstrap superuser
	Comment  string          `json:",omitempty"`
	// Gone marks the record of plpgsql, which a database has without a record, as dropped.
	Gone bool `json:",omitempty"`
}

// plpgsqlID is the object ID of plpgsql in every database.
const plpgsqlID table.ID = 13559

// SystemSchemaID is the object ID of pg_catalog in every database.
const SystemSchemaID table.ID = 11

// OwnedBy returns the role that owns the extension.
func (e *Extension) OwnedBy() acl.RoleID {
	return e.Owner.Or(acl.Postgres)
}

func (e *Extension) references() references {
	r := references{}
	if e != nil {
		r.add(e.OwnedBy(), Reference{Database: e.Database, Class: ClassExtension, Object: e.ID,
			Why: ByOwner})
	}
	return r
}

// Extensions lists the extensions of a database by name. The slice is shared.
func (v *View) Extensions(ctx context.Context, db table.ID) ([]Extension, error) {
	st, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	return memo(st, func(s *state) map[table.ID][]Extension { return s.extensions }, db,
		func() ([]Extension, error) { return v.readExtensions(ctx, db) })
}

func (v *View) readExtensions(ctx context.Context, db table.ID) ([]Extension, error) {
	out, err := scanJSON[Extension](ctx, v.tx, extensionPrefix(db))
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out, func(e Extension) bool { return e.Name == extension.PLpgSQL }) {
		out = append(out, Extension{ID: plpgsqlID, Database: db, Name: extension.PLpgSQL,
			SchemaID: SystemSchemaID, Schema: "pg_catalog",
			Comment: extension.Find(extension.PLpgSQL).Comment})
	}
	out = slices.DeleteFunc(out, func(e Extension) bool { return e.Gone })
	slices.SortFunc(out, func(a, b Extension) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Extension finds an extension of a database; nil, nil when the database has none of the name.
func (v *View) Extension(ctx context.Context, db table.ID, name string) (*Extension, error) {
	all, err := v.Extensions(ctx, db)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			e := all[i]
			return &e, nil
		}
	}
	return nil, nil
}

// CreateExtension adds an extension; 42710 when the database has it. Its ID is given here.
func (v *View) CreateExtension(ctx context.Context, e Extension) (err error) {
	if old, err := v.Extension(ctx, e.Database, e.Name); err != nil {
		return err
	} else if old != nil {
		return DuplicateExtension(e.Name)
	}
	key := extensionKey(e.Database, e.Name)
	if e.Name == extension.PLpgSQL {
		return v.remove(key)
	}
	if e.ID, err = v.newID(ctx, key); err != nil {
		return err
	}
	v.validate(schemaKey(e.Database, e.Schema))
	if err := v.claimMembers(ctx, e); err != nil {
		return err
	}
	if err := v.refer(ctx, nil, e.references()); err != nil {
		return err
	}
	return v.put(key, encodeJSON(e))
}

// DuplicateExtension is 42710 for an extension that the database has.
func DuplicateExtension(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.DuplicateObject, "extension \"%s\" already exists", name)
}

// UpdateExtension replaces the record of an extension by another of the same name and ID.
func (v *View) UpdateExtension(ctx context.Context, old, e Extension) error {
	if old.SchemaID != e.SchemaID {
		v.validate(schemaKey(e.Database, e.Schema))
		if err := v.claimMembers(ctx, e); err != nil {
			return err
		}
	}
	if err := v.refer(ctx, old.references(), e.references()); err != nil {
		return err
	}
	return v.put(extensionKey(e.Database, e.Name), encodeJSON(e))
}

// DropExtension removes an extension. Requires: nothing that the transaction sees needs it any
// more. What others make meanwhile might: so a change of any relation or type makes the commit
// fail.
func (v *View) DropExtension(ctx context.Context, e Extension) error {
	v.tx.Validate(table.PrefixSpan([]byte{table.PrefixCatalog, tagDesc}))
	v.tx.Validate(table.PrefixSpan([]byte{table.PrefixCatalog, tagType}))
	if err := v.refer(ctx, e.references(), nil); err != nil {
		return err
	}
	if e.Name == extension.PLpgSQL {
		e.Gone = true
		return v.put(extensionKey(e.Database, e.Name), encodeJSON(e))
	}
	return v.remove(extensionKey(e.Database, e.Name))
}

// dropExtensions removes the extensions of a database.
func (v *View) dropExtensions(ctx context.Context, db table.ID) error {
	v.tx.Validate(table.PrefixSpan(extensionPrefix(db)))
	all, err := v.Extensions(ctx, db)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := v.refer(ctx, e.references(), nil); err != nil {
			return err
		}
		if err := v.remove(extensionKey(db, e.Name)); err != nil {
			return err
		}
	}
	return nil
}

// UsedExtensions lists the extensions that a relation needs: those of its columns' types and its
// indexes' operator classes, and those whose members its texts name.
func UsedExtensions(d *table.Desc) []string {
	u := extensionUse{}
	for i := range d.Columns {
		u.typ(d.Columns[i].Type)
		u.text(d.Columns[i].DefaultText)
		u.text(d.Columns[i].Generated)
	}
	for i := range d.Exprs {
		u.typ(d.Exprs[i].Type)
		u.text(d.Exprs[i].Text)
	}
	for i := range d.Indexes {
		u.text(d.Indexes[i].WhereText)
		for _, c := range d.Indexes[i].Columns {
			if name := gin.Extension(c.OpClass); name != "" {
				u[name] = true
			}
		}
		if d.ScalarInGist(&d.Indexes[i]) != nil {
			u[extension.BtreeGist] = true
		}
	}
	for i := range d.Checks {
		u.text(d.Checks[i].Text)
	}
	if d.View != nil {
		u.text(d.View.Text)
	}
	return slices.Sorted(maps.Keys(u))
}

// extensionUse is a set of names of extensions.
type extensionUse map[string]bool

func (u extensionUse) typ(t *types.Type) {
	for ; t != nil; t = t.Elem {
		if name := types.ExtensionOf(t.Base()); name != "" {
			u[name] = true
		}
	}
}

func (u extensionUse) text(s string) {
	for _, name := range extension.NamedIn(s) {
		u[name] = true
	}
}

// holdExtensions makes the commit fail if an extension that a relation needs is dropped meanwhile.
func (v *View) holdExtensions(d *table.Desc) {
	for _, name := range UsedExtensions(d) {
		v.validate(extensionKey(d.DatabaseID, name))
	}
}
