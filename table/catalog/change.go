package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn"
)

// touch notes that this transaction changes the schema (catalog I1).
func (v *View) touch() error {
	return v.tx.Set(versionKey, encodeVersion(uint64(v.tx.StartTS())))
}

// touchFor is touch for the change of one key.
func (v *View) touchFor(key []byte) error {
	if key[0] == txn.CompanionPrefix {
		return v.touchTemporary()
	}
	return v.touch()
}

func (v *View) put(key, value []byte) error {
	if err := v.touchFor(key); err != nil {
		return err
	}
	return v.tx.Set(key, value)
}

func (v *View) remove(key []byte) error {
	if err := v.touchFor(key); err != nil {
		return err
	}
	return v.tx.Delete(key)
}

// CreateDatabase makes a database with a schema public; 42P04 when it exists. Its ID is given here.
func (v *View) CreateDatabase(ctx context.Context, db Database) (Database, error) {
	name := db.Name
	if _, ok, err := v.Database(ctx, name); err != nil {
		return Database{}, err
	} else if ok {
		return Database{}, sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists",
			name)
	}
	id, err := v.newID(ctx, databaseKey(name))
	if err != nil {
		return Database{}, err
	}
	db.ID = id
	return db, v.createDatabase(ctx, db, Schema{ID: PublicID, Name: "public"})
}

// newID reserves the key of a name and returns the ID of what is to have it.
func (v *View) newID(ctx context.Context, key []byte) (table.ID, error) {
	if err := v.reserve(ctx, key); err != nil {
		return 0, err
	}
	return v.NewID(ctx)
}

func (v *View) createDatabase(ctx context.Context, db Database, public Schema) error {
	if err := v.refer(ctx, nil, db.references()); err != nil {
		return err
	}
	if err := v.put(databaseKey(db.Name), encodeJSON(db)); err != nil {
		return err
	}
	public.Database = db.ID
	public.Comment = "standard public schema"
	return v.put(schemaKey(db.ID, public.Name), encodeJSON(public))
}

// DropDatabase removes a database with everything in it.
func (v *View) DropDatabase(ctx context.Context, db Database) error {
	rels, err := v.Relations(ctx, db.ID)
	if err != nil {
		return err
	}
	if err := v.dropTypes(ctx, db.ID); err != nil { // while the row types are there that they need
		return err
	}
	for _, d := range rels {
		if err := v.DropRelation(ctx, d); err != nil {
			return err
		}
	}
	v.tx.Validate(table.PrefixSpan(schemaPrefix(db.ID)))
	if err := v.dropExtensions(ctx, db.ID); err != nil {
		return err
	}
	if err := v.dropLargeObjects(ctx, db.ID); err != nil {
		return err
	}
	schemas, err := v.Schemas(ctx, db.ID)
	if err != nil {
		return err
	}
	for _, s := range schemas {
		if err := v.DropSchema(ctx, s); err != nil {
			return err
		}
	}
	if err := v.forgetRolesIn(ctx, db.ID); err != nil {
		return err
	}
	if err := v.refer(ctx, db.references(), nil); err != nil {
		return err
	}
	return v.remove(databaseKey(db.Name))
}

// UpdateDatabase writes a database whose name and ID are unchanged.
func (v *View) UpdateDatabase(ctx context.Context, db Database) error {
	old, err := readJSON[Database](ctx, v.tx, databaseKey(db.Name))
	if err != nil {
		return err
	}
	if err := v.refer(ctx, old.references(), db.references()); err != nil {
		return err
	}
	return v.put(databaseKey(db.Name), encodeJSON(db))
}

// RenameDatabase gives a database another name; 42P04 when it is taken.
func (v *View) RenameDatabase(ctx context.Context, db Database, name string) error {
	if _, ok, err := v.Database(ctx, name); err != nil {
		return err
	} else if ok {
		return sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists", name)
	}
	if err := v.reserve(ctx, databaseKey(name)); err != nil {
		return err
	}
	if err := v.remove(databaseKey(db.Name)); err != nil {
		return err
	}
	db.Name = name
	return v.put(databaseKey(db.Name), encodeJSON(db))
}

// SetSystemSettings replaces what the sessions of all databases begin with, "name=value" each.
func (v *View) SetSystemSettings(_ context.Context, entries []string) error {
	return v.put(systemKey, encodeJSON(entries))
}

// CreateSchema makes a schema; 42P06 when it exists. Its ID is given here.
func (v *View) CreateSchema(ctx context.Context, s Schema) (Schema, error) {
	db, name := s.Database, s.Name
	if _, ok, err := v.Schema(ctx, db, name); err != nil {
		return Schema{}, err
	} else if ok {
		return Schema{}, sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", name)
	}
	if err := v.holdDatabase(ctx, db); err != nil {
		return Schema{}, err
	}
	id, err := v.newID(ctx, schemaKey(db, name))
	if err != nil {
		return Schema{}, err
	}
	s.ID = id
	if err := v.refer(ctx, nil, s.references()); err != nil {
		return Schema{}, err
	}
	return s, v.put(schemaKey(db, name), encodeJSON(s))
}

// holdDatabase makes Commit fail if the database is dropped or renamed meanwhile: a session may
// have entered it just before. It fails with 3D000 when the database is gone already.
func (v *View) holdDatabase(ctx context.Context, id table.ID) error {
	all, err := v.Databases(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].ID == id {
			v.validate(databaseKey(all[i].Name))
			return nil
		}
	}
	return sqlerr.New(sqlerr.InvalidCatalogName, "database with OID %d does not exist", id)
}

// DropSchema removes a schema. Requires: nothing is left in it.
func (v *View) DropSchema(ctx context.Context, s Schema) error {
	v.tx.Validate(table.PrefixSpan(namesPrefix(s.Database, s.ID)))
	if err := v.forgetDefaults(ctx, s); err != nil {
		return err
	}
	if err := v.refer(ctx, s.references(), nil); err != nil {
		return err
	}
	v.tx.Validate(table.PrefixSpan(typeNamesPrefix(s.Database, s.ID)))
	return v.remove(schemaKey(s.Database, s.Name))
}

// UpdateSchema writes a schema whose name and ID are unchanged.
func (v *View) UpdateSchema(ctx context.Context, s Schema) error {
	old, err := readJSON[Schema](ctx, v.tx, schemaKey(s.Database, s.Name))
	if err != nil {
		return err
	}
	if err := v.refer(ctx, old.references(), s.references()); err != nil {
		return err
	}
	return v.put(schemaKey(s.Database, s.Name), encodeJSON(s))
}

// RenameSchema gives a schema another name; 42P06 when it is taken. Relations and types of the
// schema have the name too: they are the caller's to change.
func (v *View) RenameSchema(ctx context.Context, s Schema, name string) error {
	db := s.Database
	if _, ok, err := v.Schema(ctx, db, name); err != nil {
		return err
	} else if ok {
		return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", name)
	}
	if err := v.reserve(ctx, schemaKey(db, name)); err != nil {
		return err
	}
	extensions, err := v.Extensions(ctx, db)
	if err != nil {
		return err
	}
	// What others make in the schema meanwhile would keep the old name.
	v.tx.Validate(table.PrefixSpan(namesPrefix(db, s.ID)))
	v.tx.Validate(table.PrefixSpan(typeNamesPrefix(db, s.ID)))
	v.tx.Validate(table.PrefixSpan(extensionPrefix(db)))
	if err := v.remove(schemaKey(db, s.Name)); err != nil {
		return err
	}
	s.Name = name
	if err := v.put(schemaKey(db, name), encodeJSON(s)); err != nil {
		return err
	}
	for _, e := range extensions {
		if e.SchemaID != s.ID {
			continue
		}
		next := e
		next.Schema = name
		if err := v.UpdateExtension(ctx, e, next); err != nil {
			return err
		}
	}
	return nil
}

// CreateRelation adds a table, view or sequence with its indexes; 42P07 when a name is taken.
// Requires: IDs are drawn, d.Schema is the name of schema d.SchemaID. d is not to be changed after.
func (v *View) CreateRelation(ctx context.Context, d *table.Desc) error {
	if err := v.noteTypes(ctx, d); err != nil {
		return err
	}
	if err := v.claim(ctx, d, d.Name, nameEntry{relation: d.ID}); err != nil {
		return err
	}
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		if err := v.claim(ctx, d, ix.Name, nameEntry{relation: d.ID, index: ix.OID}); err != nil {
			return err
		}
	}
	if err := v.depend(ctx, d, true); err != nil {
		return err
	}
	if err := v.refer(ctx, nil, referencesOf(d)); err != nil {
		return err
	}
	return v.putDesc(d, 0)
}

// depend notes or forgets what a view reads, and the user types that a relation uses. Whatever
// drops or changes such a type meanwhile makes the commit fail.
func (v *View) depend(ctx context.Context, d *table.Desc, on bool) error {
	types := UserTypes(d)
	for _, id := range slices.Concat(types, Reads(d)) {
		var err error
		key := dependKey(id, d.ID)
		if d.Temporary() {
			key = table.AppendID(ownDependPrefix(d.SchemaID, id), d.ID)
		}
		if on {
			err = v.put(key, nil)
		} else {
			err = v.remove(key)
		}
		if err != nil {
			return err
		}
	}
	if on {
		v.holdExtensions(d)
	}
	if on && !d.Temporary() {
		for _, id := range types {
			if err := v.holdType(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reads lists the relations that a view reads, or the policies of a table beside the table itself,
// each once.
func Reads(d *table.Desc) []table.ID {
	if d.View != nil {
		return d.View.DependsOn
	}
	var ids idSet
	for i := range d.Policies {
		ids.add(d.Policies[i].DependsOn...)
	}
	return ids
}

// UserTypes lists the user types that a relation uses, each once.
func UserTypes(d *table.Desc) []table.ID {
	var ids idSet
	for i := range d.Columns {
		ids.add(WireOf(d.Columns[i].Type).User...)
	}
	for i := range d.Exprs {
		ids.add(WireOf(d.Exprs[i].Type).User...)
	}
	for _, s := range d.States() {
		ids.add(UserTypes(s)...)
	}
	ids.add(d.Types...)
	if d.OfType != 0 {
		ids.add(d.OfType)
	}
	return ids
}

// claim takes a name in the relation's schema, which must still be there when the name appears.
func (v *View) claim(ctx context.Context, d *table.Desc, name string, e nameEntry) error {
	taken, err := v.nameIn(ctx, d.DatabaseID, d.SchemaID, name)
	if err != nil {
		return err
	}
	if taken.relation != 0 {
		return duplicateRelation(name)
	}
	if err := v.rowTypeFree(ctx, d, name, e); err != nil {
		return err
	}
	if err := v.reserve(ctx, nameKey(d.DatabaseID, d.SchemaID, name)); err != nil {
		return err
	}
	if !d.Temporary() {
		v.validate(schemaKey(d.DatabaseID, d.Schema))
	}
	return v.put(nameKey(d.DatabaseID, d.SchemaID, name), e.encode())
}

func (v *View) putDesc(d *table.Desc, old uint64) error {
	d.Version = v.c.newVersion(max(old, uint64(v.tx.StartTS())))
	d.TrimExprs()
	if err := v.c.prepare(d); err != nil {
		return err
	}
	b, err := encodeDesc(d)
	if err != nil {
		return err
	}
	return v.put(table.DescKey(d.ID), b)
}

// newVersion returns a descriptor version above old that this process never gave before: plans may
// be cached by version, and a transaction that made one may roll back.
func (c *Catalog) newVersion(old uint64) uint64 {
	for {
		last := c.lastVersion.Load()
		next := max(old, last) + 1
		if c.lastVersion.CompareAndSwap(last, next) {
			return next
		}
	}
}

// UpdateRelation replaces a descriptor by another with the same ID, and moves the names of the
// relation and its indexes where they changed. What d has no rows or entries under any more
// (another storage ID, or an index that is gone) is dropped as a whole; all other rows and index
// entries are the caller's to mend. Transactions that write rows by the old one fail (catalog I4).
func (v *View) UpdateRelation(ctx context.Context, old, d *table.Desc) error {
	if err := v.RenameRelation(ctx, old, d); err != nil || !d.HasRows() {
		return err
	}
	return v.ExcludeWriters(d.ID)
}

// RenameRelation is UpdateRelation for changes of names that do not matter to writers of rows, but
// to what reads the relation or has columns of its row type. It does not make them fail.
func (v *View) RenameRelation(ctx context.Context, old, d *table.Desc) error {
	v.holdDependents(d)
	if err := v.RelabelRelation(ctx, old, d); err != nil || d.RowType == 0 {
		return err
	}
	return v.renewDependents(ctx, d.RowType, false, map[table.ID]bool{d.ID: true})
}

// holdDependents makes Commit fail if a view that reads the relation, or something that is made of
// its row type, is made meanwhile.
func (v *View) holdDependents(d *table.Desc) {
	if !d.Temporary() {
		v.tx.Validate(table.PrefixSpan(dependPrefix(d.ID)))
		if d.RowType != 0 {
			v.tx.Validate(table.PrefixSpan(dependPrefix(d.RowType)))
		}
	}
}

// ExcludeWriters makes transactions fail that write rows of a table by what they have read of the
// schema before: the descriptor is the same, and others that it names are not.
func (v *View) ExcludeWriters(id table.ID) error { return v.put(table.WritersKey(id), nil) }

// RelabelRelation is UpdateRelation for changes that do not matter to writers of rows: names of
// indexes, comments, and that all rows obey a constraint that writers check already. It does not
// make them fail.
func (v *View) RelabelRelation(ctx context.Context, old, d *table.Desc) error {
	if err := v.noteTypes(ctx, d); err != nil {
		return err
	}
	type name struct {
		schema table.ID
		name   string
	}
	list := func(d *table.Desc) map[name]nameEntry {
		m := map[name]nameEntry{{d.SchemaID, d.Name}: {relation: d.ID}}
		for i := range d.Indexes {
			m[name{d.SchemaID, d.Indexes[i].Name}] = nameEntry{relation: d.ID,
				index: d.Indexes[i].OID}
		}
		return m
	}
	if twice, ok := nameTwice(d); ok {
		return duplicateRelation(twice)
	}
	before, after := list(old), list(d)
	for n, e := range before {
		if after[n] != e {
			if err := v.remove(nameKey(old.DatabaseID, n.schema, n.name)); err != nil {
				return err
			}
		}
	}
	for n, e := range after {
		if before[n] != e {
			if err := v.claim(ctx, d, n.name, e); err != nil {
				return err
			}
		}
	}
	if err := v.depend(ctx, old, false); err != nil {
		return err
	}
	if err := v.depend(ctx, d, true); err != nil {
		return err
	}
	if err := v.refer(ctx, referencesOf(old), referencesOf(d)); err != nil {
		return err
	}
	if err := v.moveStorage(old, d); err != nil {
		return err
	}
	return v.putDesc(d, old.Version)
}

// nameTwice returns a name that a relation and one of its indexes have, or two of them: a new name
// of one of these may be that of another, and claim looks at other relations only.
func nameTwice(d *table.Desc) (name string, ok bool) {
	seen := map[string]struct{}{d.Name: {}}
	for i := range d.Indexes {
		name = d.Indexes[i].Name
		if _, ok = seen[name]; ok {
			return name, true
		}
		seen[name] = struct{}{}
	}
	return "", false
}

// DropRelation removes a relation. Its rows and index entries are dropped as a whole.
func (v *View) DropRelation(ctx context.Context, d *table.Desc) error {
	v.holdDependents(d)
	if err := v.remove(nameKey(d.DatabaseID, d.SchemaID, d.Name)); err != nil {
		return err
	}
	for i := range d.Indexes {
		if err := v.remove(nameKey(d.DatabaseID, d.SchemaID, d.Indexes[i].Name)); err != nil {
			return err
		}
	}
	if d.HasRows() {
		if err := v.dropStorage(d); err != nil {
			return err
		}
	}
	for i := range d.Observers {
		if err := v.forgetObserver(ctx, d, &d.Observers[i]); err != nil {
			return err
		}
	}
	if d.Incremental() {
		if err := v.forgetView(ctx, d); err != nil {
			return err
		}
	}
	if err := v.depend(ctx, d, false); err != nil {
		return err
	}
	if err := v.refer(ctx, referencesOf(d), nil); err != nil {
		return err
	}
	if d.RowType != 0 && !d.Temporary() {
		if err := v.forgetObject(ctx, d.DatabaseID, acl.Type, d.RowType); err != nil {
			return err
		}
	}
	if err := v.forget(ctx, d); err != nil {
		return err
	}
	if d.HasRows() {
		if err := v.remove(table.WritersKey(d.ID)); err != nil {
			return err
		}
	}
	return v.remove(table.DescKey(d.ID))
}

func someKeys(ctx context.Context, tx *txn.Txn, span kv.Span, n int) (keys [][]byte, err error) {
	it, err := tx.Scan(ctx, span, txn.ScanOptions{KeysOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, it.Close()) }()
	for len(keys) < n && it.Next() {
		keys = append(keys, append([]byte(nil), it.Key()...))
	}
	return keys, it.Err()
}
