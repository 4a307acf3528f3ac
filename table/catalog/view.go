package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// View is the schema as one transaction sees it, its own changes included. It belongs to the
// transaction's goroutine. What it returns is shared and must not be changed. As in PostgreSQL,
// serializable transactions do not track reads of the schema: locks of tables, and catalog I4,
// exclude its changes from the transactions that read and write rows.
type View struct {
	c  *Catalog
	tx *txn.Txn

	version uint64 // as committed, once known
	known   bool
	shared  *state
	// Descriptors that the transaction wrote itself, by their encoded form: savepoints may bring an
	// older form back.
	own      map[table.ID]ownDesc
	ownTypes map[table.ID]*userType
	// Mentions lists the user types that the expressions of a relation mention, before its
	// descriptor is written; nil: they mention none.
	Mentions func(context.Context, *table.Desc) ([]table.ID, error)
	// newest is set by Renew, while the schema is not that of the snapshot any more.
	newest *newest
	// ownOwners is what Owner found after the transaction changed the schema, by database.
	ownOwners map[table.ID]owners
	// temporary is the session's temporary schema, nil while it has none.
	temporary *Temporary
	// Relations and user types that are being decoded, as far as their columns and fields are
	// known: what else they have may lead back to them.
	begun      map[table.ID]*table.Desc
	begunTypes map[table.ID]*userType
}

type ownDesc struct {
	encoded []byte
	desc    *table.Desc
}

// View returns the schema as tx sees it. Nothing is read before the first question.
func (c *Catalog) View(tx *txn.Txn) *View { return c.ViewWith(tx, nil) }

// Version names the state of the catalog that the transaction sees: two Views with equal versions
// see the same schema. own reports whether the transaction has changed the schema itself; the
// version then does not determine which of its changes are seen.
func (v *View) Version(ctx context.Context) (version uint64, own bool, err error) {
	if v.known && (!v.tx.DirtyShared() || v.tx.Assumes()) {
		return v.version, false, nil
	}
	b, err := v.tx.GetUnserialized(ctx, versionKey)
	if err != nil {
		return 0, false, err
	}
	if b != nil {
		if len(b) != 8 {
			return 0, false, fmt.Errorf("catalog: version: %w", kv.ErrCorruption)
		}
		version = binary.BigEndian.Uint64(b)
	}
	if own = version == uint64(v.tx.StartTS()); !own {
		v.version, v.known = version, true
		if v.tx.Foretold() {
			v.c.saw(version, v.tx.ReadTS())
		}
	}
	return version, own, nil
}

// ChangedIn reports whether another View shows a later state of the catalog than that which this
// one shows, or which its transaction has made its own changes to. It returns false for a View that
// was not asked for anything before the transaction's first change.
func (v *View) ChangedIn(ctx context.Context, later *View) (bool, error) {
	if _, _, err := v.Version(ctx); err != nil || !v.known {
		return false, err
	}
	version, _, err := later.Version(ctx)
	return version != v.version, err
}

// state is the shared memory for this transaction's version; nil after changes of its own.
func (v *View) state(ctx context.Context) (*state, error) {
	version, own, err := v.Version(ctx)
	if err != nil || own {
		return nil, err
	}
	if v.shared == nil || v.shared.version != version {
		v.shared = v.c.at(version)
	}
	return v.shared, nil
}

// Database finds a database by name.
func (v *View) Database(ctx context.Context, name string) (Database, bool, error) {
	return find(ctx, v, func(s *state) map[string]*Database { return s.databases }, name,
		databaseKey(name))
}

// find reads what is stored under a key as JSON, or finds it in the shared memory of the version.
func find[K comparable, T any](ctx context.Context, v *View, in func(*state) map[K]*T, name K,
	key []byte) (found T, ok bool, err error) {
	st, err := v.state(ctx)
	if err != nil {
		return found, false, err
	}
	t, err := memo(st, in, name, func() (*T, error) { return readJSON[T](ctx, v.tx, key) })
	if err != nil || t == nil {
		return found, false, err
	}
	return *t, true, nil
}

// Databases lists the databases by name.
func (v *View) Databases(ctx context.Context) ([]Database, error) {
	return scanJSON[Database](ctx, v.tx, databaseKey(""))
}

// SystemSettings returns what SetSystemSettings stored.
func (v *View) SystemSettings(ctx context.Context) ([]string, error) {
	entries, err := readJSON[[]string](ctx, v.tx, systemKey)
	if err != nil || entries == nil {
		return nil, err
	}
	return *entries, nil
}

// Schema finds a schema of a database by name.
func (v *View) Schema(ctx context.Context, db table.ID, name string) (Schema, bool, error) {
	if t := v.temporary; t != nil && t.Schema.Database == db &&
		(t.Schema.Name == name || name == TemporaryAlias) {
		made, err := v.HasTemporary(ctx)
		return t.Schema, made, err
	}
	return find(ctx, v, func(s *state) map[schemaName]*Schema { return s.schemas },
		schemaName{db, name}, schemaKey(db, name))
}

// Schemas lists the schemas of a database by name.
func (v *View) Schemas(ctx context.Context, db table.ID) ([]Schema, error) {
	all, err := scanJSON[Schema](ctx, v.tx, schemaPrefix(db))
	if t := v.temporary; t != nil && t.Schema.Database == db && err == nil {
		var made bool
		if made, err = v.HasTemporary(ctx); made {
			all = append(all, t.Schema)
			slices.SortFunc(all, func(a, b Schema) int { return strings.Compare(a.Name, b.Name) })
		}
	}
	return all, err
}

// Relation finds a table, view or sequence by name; nil, nil when there is none (an index is none).
func (v *View) Relation(ctx context.Context, db table.ID, schema, name string) (*table.Desc,
	error) {
	e, err := v.name(ctx, db, schema, name)
	if err != nil || e.relation == 0 || e.index != 0 {
		return nil, err
	}
	return v.mustDesc(ctx, e.relation)
}

// Index finds an index by name, with its table; nil, nil, nil when there is none.
func (v *View) Index(ctx context.Context, db table.ID, schema, name string) (*table.Desc,
	*table.Index, error) {
	e, err := v.name(ctx, db, schema, name)
	if err != nil || e.index == 0 {
		return nil, nil, err
	}
	d, err := v.mustDesc(ctx, e.relation)
	if err != nil {
		return nil, nil, err
	}
	if ix := d.IndexByOID(e.index); ix != nil {
		return d, ix, nil
	}
	return nil, nil, fmt.Errorf("catalog: index %q is not in its table: %w", name, kv.ErrCorruption)
}

// Taken reports whether a relation or an index has the name.
func (v *View) Taken(ctx context.Context, db table.ID, schema, name string) (bool, error) {
	e, err := v.name(ctx, db, schema, name)
	return e.relation != 0, err
}

func (v *View) name(ctx context.Context, db table.ID, schema, name string) (nameEntry, error) {
	sc, ok, err := v.Schema(ctx, db, schema)
	if err != nil || !ok {
		return nameEntry{}, err
	}
	return v.nameIn(ctx, db, sc.ID, name)
}

func (v *View) nameIn(ctx context.Context, db, schema table.ID, name string) (nameEntry, error) {
	stateOf := v.state
	if schema.Temporary() {
		stateOf = v.temporaryState
	}
	st, err := stateOf(ctx)
	if err != nil {
		return nameEntry{}, err
	}
	return memo(st, func(s *state) map[relationName]nameEntry { return s.names },
		relationName{db, schema, name}, func() (nameEntry, error) {
			b, err := v.tx.GetUnserialized(ctx, nameKey(db, schema, name))
			if err != nil || b == nil {
				return nameEntry{}, err
			}
			e, ok := decodeNameEntry(b)
			if !ok {
				return e, fmt.Errorf("catalog: name %q: %w", name, kv.ErrCorruption)
			}
			return e, nil
		})
}

// RelationByID finds a table, view or sequence by its ID; nil, nil when there is none.
func (v *View) RelationByID(ctx context.Context, id table.ID) (*table.Desc, error) {
	if id.Temporary() {
		return v.temporaryRelation(ctx, id)
	}
	st, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	d, err := v.relation(ctx, st, id)
	if err != nil || d == nil || st == nil || v.newest == nil {
		return d, err
	}
	return v.newestOf(ctx, st, d)
}

// RelationByStorage finds the table whose rows lie under a storage ID; nil, nil when there is none.
func (v *View) RelationByStorage(ctx context.Context, id table.StorageID) (*table.Desc, error) {
	owner := table.ID(id)
	b, err := v.tx.GetUnserialized(ctx, storageKey(id))
	if err != nil {
		return nil, err
	}
	if b != nil {
		var ok bool
		if owner, b, ok = table.ReadID(b); !ok || len(b) > 0 {
			return nil, fmt.Errorf("catalog: table of storage %d: %w", id, kv.ErrCorruption)
		}
	}
	d, err := v.RelationByID(ctx, owner)
	if err != nil || d == nil || d.Storage() != id {
		return nil, err
	}
	return d, nil
}

// relation finds a relation in the snapshot. st is what state returned.
func (v *View) relation(ctx context.Context, st *state, id table.ID) (*table.Desc, error) {
	return memo(st, func(s *state) map[table.ID]*table.Desc { return s.descs }, id,
		func() (*table.Desc, error) {
			b, err := v.tx.GetUnserialized(ctx, table.DescKey(id))
			if err != nil || b == nil {
				return nil, err
			}
			return v.desc(ctx, id, b, st != nil)
		})
}

func (v *View) mustDesc(ctx context.Context, id table.ID) (*table.Desc, error) {
	d, err := v.RelationByID(ctx, id)
	if err == nil && d == nil {
		err = fmt.Errorf("catalog: relation %d has a name and no descriptor: %w", id,
			kv.ErrCorruption)
	}
	return d, err
}

// begin notes a relation that is being decoded.
func (v *View) begin(d *table.Desc) {
	if v.begun == nil {
		v.begun = map[table.ID]*table.Desc{}
	}
	v.begun[d.ID] = d
}

// desc decodes a descriptor, or finds it decoded.
func (v *View) desc(ctx context.Context, id table.ID, b []byte, committed bool) (*table.Desc,
	error) {
	known := func(d *table.Desc) { v.begin(d) }
	defer delete(v.begun, id)
	if committed {
		return v.c.decoded(id, b, v.resolver(ctx), known)
	}
	if o, ok := v.own[id]; ok && bytes.Equal(o.encoded, b) {
		return o.desc, nil
	}
	encoded := bytes.Clone(b)
	d, err := v.c.decodeDesc(encoded, v.resolver(ctx), known)
	if err != nil {
		return nil, err
	}
	if v.own == nil {
		v.own = map[table.ID]ownDesc{}
	}
	v.own[id] = ownDesc{encoded: encoded, desc: d}
	return d, nil
}

// Relations lists the tables, views and sequences of a database, by schema and name, the session's
// temporary ones included.
func (v *View) Relations(ctx context.Context, db table.ID) ([]*table.Desc, error) {
	all, err := v.permanent(ctx, db)
	if t := v.temporary; t != nil && t.Schema.Database == db && err == nil {
		var own []*table.Desc
		own, err = v.temporaryRelations(ctx)
		all = append(all, own...)
		sortByName(all)
	}
	return all, err
}

// permanent lists the relations of a database that all sessions see.
func (v *View) permanent(ctx context.Context, db table.ID) ([]*table.Desc, error) {
	ids, err := v.named(ctx, namePrefix(db))
	if err != nil {
		return nil, err
	}
	return v.descsOf(ctx, ids)
}

// named lists the relations whose names have keys with a prefix.
func (v *View) named(ctx context.Context, prefix []byte) (ids []table.ID, err error) {
	err = scan(ctx, v.tx, prefix, func(_, value []byte) error {
		e, ok := decodeNameEntry(value)
		if !ok {
			return fmt.Errorf("catalog: names: %w", kv.ErrCorruption)
		}
		if e.index == 0 {
			ids = append(ids, e.relation)
		}
		return nil
	})
	return ids, err
}

// descsOf returns the relations with some IDs, by schema and name.
func (v *View) descsOf(ctx context.Context, ids []table.ID) ([]*table.Desc, error) {
	out := make([]*table.Desc, 0, len(ids))
	for _, id := range ids {
		d, err := v.mustDesc(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	sortByName(out)
	return out, nil
}

func sortByName(all []*table.Desc) {
	slices.SortStableFunc(all, func(a, b *table.Desc) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name))
	})
}

// Dependents lists the views that read a relation, in order of ID.
func (v *View) Dependents(ctx context.Context, id table.ID) ([]*table.Desc, error) {
	all, err := v.readers(ctx, id)
	return slices.DeleteFunc(all, func(d *table.Desc) bool { return d.View == nil }), err
}

// Guarded lists the other tables that have policies which read a relation, in order of ID.
func (v *View) Guarded(ctx context.Context, id table.ID) ([]*table.Desc, error) {
	all, err := v.readers(ctx, id)
	return slices.DeleteFunc(all, func(d *table.Desc) bool { return len(d.Policies) == 0 }), err
}

func (v *View) readers(ctx context.Context, id table.ID) ([]*table.Desc, error) {
	var ids []table.ID
	var err error
	if !id.Temporary() {
		ids, err = v.dependents(ctx, dependPrefix(id))
	}
	if t := v.temporary; t != nil && err == nil {
		var own []table.ID
		own, err = v.dependents(ctx, ownDependPrefix(t.Schema.ID, id))
		ids = append(ids, own...)
	}
	if err != nil {
		return nil, err
	}
	out := make([]*table.Desc, len(ids))
	for i, id := range ids {
		if out[i], err = v.mustDesc(ctx, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dependents lists the views that are named in keys with a prefix.
func (v *View) dependents(ctx context.Context, prefix []byte) (ids []table.ID, err error) {
	err = scan(ctx, v.tx, prefix, func(key, _ []byte) error {
		view, _, ok := table.ReadID(key[len(prefix):])
		if !ok {
			return fmt.Errorf("catalog: dependency: %w", kv.ErrCorruption)
		}
		ids = append(ids, view)
		return nil
	})
	return ids, err
}

// NewID returns an object ID that was never used before. It is drawn outside of the transaction.
func (v *View) NewID(ctx context.Context) (table.ID, error) { return v.c.NewID(ctx) }

// NewIDIn is NewID of what is to be in a schema, or of a part of it: a temporary one in a temporary
// schema.
func (v *View) NewIDIn(ctx context.Context, schema table.ID) (table.ID, error) {
	if schema.Temporary() {
		return v.temporary.ids.draw()
	}
	return v.c.NewID(ctx)
}

// NameRelation gives a new relation its ID and that of its row type.
func (v *View) NameRelation(ctx context.Context, d *table.Desc) (err error) {
	if d.SchemaID.Temporary() {
		d.ID, err = v.temporary.ids.drawSeveral(3)
	} else {
		d.ID, err = v.c.NewRelationID(ctx)
	}
	if err == nil {
		d.RowType, _ = table.RowTypeOf(d.ID)
		v.tx.MakeSpan(table.StorageSpan(table.StorageID(d.ID)))
	}
	return err
}

func readJSON[T any](ctx context.Context, tx *txn.Txn, key []byte) (*T, error) {
	b, err := tx.GetUnserialized(ctx, key)
	if err != nil || b == nil {
		return nil, err
	}
	t := new(T)
	return t, decodeJSON(b, t)
}

func scanJSON[T any](ctx context.Context, tx *txn.Txn, prefix []byte) ([]T, error) {
	var out []T
	err := scan(ctx, tx, prefix, func(_, value []byte) error {
		var t T
		if err := decodeJSON(value, &t); err != nil {
			return err
		}
		out = append(out, t)
		return nil
	})
	return out, err
}

// scan calls f for each key with the prefix. f must not use the transaction.
func scan(ctx context.Context, tx *txn.Txn, prefix []byte,
	f func(key, value []byte) error) (err error) {
	it, err := tx.Scan(ctx, table.PrefixSpan(prefix), txn.ScanOptions{Unserialized: true})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, it.Close()) }()
	for it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}

func duplicateRelation(name string) error {
	return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
}
