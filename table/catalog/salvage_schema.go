package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/mvcc"
)

// salvagedRelation is a relation of the schema that was read.
type salvagedRelation struct {
	name string // with its database and schema
	desc *table.Desc
}

// schema copies what can be read of the schema and returns its relations. A relation is copied when
// its descriptor can be read. Names, dependencies and the places of rows are made anew of the
// descriptors, so they agree with them. What refers to a relation that is lost is left out of the
// descriptors, and listed (salvage_references.go).
func (s *salvage) schema(ctx context.Context) ([]salvagedRelation, error) {
	c := &schemaCopy{s: s, cells: map[string][]byte{}, names: map[table.ID]string{},
		databases: map[table.ID]*Database{}, schemas: map[schemaID]*Schema{},
		relations: map[table.ID]*relationCopy{}, types: map[table.ID]*TypeDesc{},
		arrays: map[table.ID]table.ID{}}
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	c.reportLost()
	for _, r := range c.relations {
		for _, s := range r.desc.States() {
			c.states = append(c.states, s.Span())
		}
	}
	c.places()
	c.references()
	c.observers()
	c.uniqueNames()
	if c.lost.any() {
		if err := c.lostRows(ctx); err != nil {
			return nil, err
		}
	}
	if len(c.relations) == 0 && c.mayLack(tagDesc) {
		return nil, fmt.Errorf("no descriptor of the schema can be read, and without one no row "+
			"of any table: %w", kv.ErrCorruption)
	}
	if err := c.write(ctx); err != nil {
		return nil, err
	}
	return c.saved(), s.out.flush(ctx)
}

// schemaCopy is the schema on its way from the damaged store into the new one.
type schemaCopy struct {
	s     *salvage
	lost  lostKeys
	cells map[string][]byte // that can be read, by key

	// of relations, with database and schema, by the names that lead to them
	names     map[table.ID]string
	databases map[table.ID]*Database
	schemas   map[schemaID]*Schema
	relations map[table.ID]*relationCopy
	types     map[table.ID]*TypeDesc
	arrays    map[table.ID]table.ID // from the types of arrays to their elements
	// states are where incremental views keep what is not copied.
	states []kv.Span
}

// schemaID identifies a schema: every database has a schema public of the same ID.
type schemaID struct{ database, schema table.ID }

// relationCopy is a descriptor that could be read.
type relationCopy struct {
	desc    *table.Desc
	encoded []byte // as it was read; nil once desc has changed
}

// change returns the descriptor to be changed, a clone of the one that was read.
func (r *relationCopy) change() *table.Desc {
	if r.encoded != nil {
		r.desc, r.encoded = r.desc.Clone(), nil
		r.desc.Version++
	}
	return r.desc
}

// ordered returns the relations, those that were changed last first.
func (c *schemaCopy) ordered() []*relationCopy {
	return slices.SortedFunc(maps.Values(c.relations), func(a, b *relationCopy) int {
		return cmp.Or(cmp.Compare(b.desc.Version, a.desc.Version),
			cmp.Compare(a.desc.ID, b.desc.ID))
	})
}

// report lists what is lost of a relation.
func (c *schemaCopy) report(d *table.Desc, format string, args ...any) {
	c.s.opts.Lost(Problem{Relation: c.nameOf(d.ID), What: fmt.Sprintf(format, args...)})
}

// nameOf names a relation, or gives its number where the name is not known.
func (c *schemaCopy) nameOf(id table.ID) string {
	if r := c.relations[id]; r != nil {
		d := r.desc
		if db := c.databases[d.DatabaseID]; db != nil {
			return db.Name + "." + d.Schema + "." + d.Name
		}
		return d.Schema + "." + d.Name
	}
	if name, ok := c.names[id]; ok {
		return name
	}
	return fmt.Sprintf("relation %d", id)
}

// read reads all cells of the schema and decodes them.
func (c *schemaCopy) read(ctx context.Context) (err error) {
	put := func(key, value []byte) error {
		c.cells[string(key)] = bytes.Clone(value)
		return nil
	}
	c.lost, err = c.s.copy(ctx, table.PrefixSpan([]byte{table.PrefixCatalog}), put)
	if err != nil {
		return err
	}
	if b := c.cells[string(formatKey)]; b != nil {
		if v, n := binary.Uvarint(b); n <= 0 || v == 0 || v > format {
			return fmt.Errorf("catalog: the store has format %d, this program supports %d", v,
				format)
		}
	}
	c.eachCell(tagDatabase, c.readDatabase)
	c.eachCell(tagSchema, c.readSchema)
	c.eachCell(tagName, c.readName)
	if err := c.readBehindDamage(ctx); err != nil {
		return err
	}
	c.eachCell(tagType, c.readType)
	c.lostTypes()
	c.eachCell(tagDesc, c.readDesc)
	if len(c.databases) == 0 && len(c.relations) == 0 && !c.lost.any() {
		return errors.New("there is no schema in what can be read of it")
	}
	return nil
}

// eachCell visits the cells with a tag that could be read, in the order of their keys. rest is the
// key behind the tag.
func (c *schemaCopy) eachCell(tag byte, visit func(rest string, value []byte)) {
	prefix := string([]byte{table.PrefixCatalog, tag})
	for _, key := range slices.Sorted(maps.Keys(c.cells)) {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix {
			visit(key[len(prefix):], c.cells[key])
		}
	}
}

// Of two cells for one database or schema, which only two states of the schema together have, the
// first counts.

func (c *schemaCopy) readDatabase(name string, value []byte) {
	db := &Database{}
	if decodeJSON(value, db) != nil {
		c.undecodable(databaseKey(name))
		return
	}
	if db.Name = name; c.databases[db.ID] != nil {
		delete(c.cells, string(databaseKey(name)))
		return
	}
	c.databases[db.ID] = db
}

func (c *schemaCopy) readSchema(rest string, value []byte) {
	key := append([]byte{table.PrefixCatalog, tagSchema}, rest...)
	db, name, ok := table.ReadID([]byte(rest))
	sc := &Schema{}
	if !ok || decodeJSON(value, sc) != nil {
		c.undecodable(key)
		return
	}
	sc.Database, sc.Name = db, string(name)
	if id := (schemaID{db, sc.ID}); c.schemas[id] == nil {
		c.schemas[id] = sc
	} else {
		delete(c.cells, string(key))
	}
}

// undecodable notes a cell that was read and makes no sense.
func (c *schemaCopy) undecodable(key []byte) {
	delete(c.cells, string(key))
	c.lost.keys = append(c.lost.keys, key)
}

// readName notes which relation a name belongs to. It serves the list of what is lost alone.
func (c *schemaCopy) readName(rest string, value []byte) {
	dbID, b, _ := table.ReadID([]byte(rest))
	scID, name, ok := table.ReadID(b)
	e, known := decodeNameEntry(value)
	if !ok || !known || e.index != 0 {
		return
	}
	full := string(name)
	if sc := c.schemas[schemaID{dbID, scID}]; sc != nil {
		full = sc.Name + "." + full
	}
	if db := c.databases[dbID]; db != nil {
		full = db.Name + "." + full
	}
	c.names[e.relation] = full
}

// readBehindDamage reads the descriptors that lie right behind what cannot be read, backwards as
// far as it succeeds. A walk from there down needs what cannot be read to know where a key begins,
// a read of a key that is known does not.
func (c *schemaCopy) readBehindDamage(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(c.names))
	slices.Reverse(ids)
	for _, span := range c.lost.spans {
		for _, id := range ids {
			key := table.DescKey(id)
			if !span.Contains(key) || c.cells[string(key)] != nil {
				continue
			}
			value, err := mvcc.CommittedValue(ctx, c.s.snap, key)
			if errors.Is(err, kv.ErrCorruption) {
				break
			}
			if err != nil {
				return err
			}
			if value != nil {
				c.cells[string(key)] = value
			}
		}
	}
	return nil
}

func (c *schemaCopy) readDesc(rest string, value []byte) {
	id, b, ok := table.ReadID([]byte(rest))
	var lost idSet
	d, err := parseDesc(value, c.typeOf(&lost), nil)
	if !ok || len(b) > 0 || err != nil || d.ID != id {
		c.undecodable(append([]byte{table.PrefixCatalog, tagDesc}, rest...))
		return
	}
	r := &relationCopy{desc: d, encoded: value}
	if len(lost) > 0 {
		c.report(r.change(), "the type of a column is lost: its values are saved as bytes")
	}
	if c.s.catalog.prepare(d) == nil {
		c.relations[id] = r
		return
	}
	// One of the indexes makes no sense, or else the rows do not.
	kept, probe := []table.Index{}, d.Clone()
	var gone []string
	for _, ix := range d.Indexes {
		probe.Indexes = []table.Index{ix}
		if c.s.catalog.prepare(probe) == nil {
			kept = append(kept, ix)
		} else {
			gone = append(gone, ix.Name)
		}
	}
	d = r.change()
	if d.Indexes = kept; c.s.catalog.prepare(d) != nil {
		c.undecodable(table.DescKey(id))
		return
	}
	c.relations[id] = r
	for _, name := range gone {
		c.report(d, "index %s is left out: it names columns that the table does not have", name)
	}
}

// mayLack reports whether cells with a tag may have been lost.
func (c *schemaCopy) mayLack(tag byte) bool {
	span := table.PrefixSpan([]byte{table.PrefixCatalog, tag})
	return slices.ContainsFunc(c.lost.spans, span.Overlaps) ||
		slices.ContainsFunc(c.lost.keys, span.Contains)
}

// listedTags are those of the cells that are listed when they are lost. The others are made anew.
var listedTags = []byte{tagDatabase, tagSchema, tagDesc}

// reportLost lists the cells that could not be read, and the relations of which nothing but the
// name could be.
func (c *schemaCopy) reportLost() {
	ds := &Describer{names: c.names}
	lost := func(format string, args ...any) {
		c.s.opts.Lost(Problem{What: fmt.Sprintf(format, args...)})
	}
	listed := func(touches func(kv.Span) bool) bool {
		return slices.ContainsFunc(listedTags, func(tag byte) bool {
			return touches(table.PrefixSpan([]byte{table.PrefixCatalog, tag}))
		})
	}
	for _, span := range c.lost.spans {
		if listed(span.Overlaps) {
			lost("the schema from %s up to %s cannot be read",
				ds.Key(bytes.TrimSuffix(span.Start, []byte{0})), ds.Key(span.End))
		}
	}
	slices.SortFunc(c.lost.keys, bytes.Compare)
	for _, key := range c.lost.keys {
		if listed(func(s kv.Span) bool { return s.Contains(key) }) {
			lost("the schema cannot be read at %s", ds.Key(key))
		}
	}
	for _, key := range c.lost.older {
		lost("the newest change of the schema at %s is not known to be committed; it is as it "+
			"was before", ds.Key(key))
	}
	if len(c.lost.locks) > 0 {
		lost("locks on the schema cannot be read: what was changed last and not settled is missing")
	}
	if c.lost.missing(systemKey) {
		lost("what ALTER SYSTEM has set cannot be read")
	}
	for _, id := range slices.Sorted(maps.Keys(c.names)) {
		if c.relations[id] == nil && c.mayLack(tagDesc) {
			lost("relation %s is lost: its descriptor cannot be read", c.names[id])
		}
	}
}

// write writes the schema.
func (c *schemaCopy) write(ctx context.Context) error {
	add := func(key, value []byte) {
		if c.cells[string(key)] == nil {
			c.cells[string(key)] = value
		}
	}
	for _, db := range c.databases {
		add(databaseKey(db.Name), encodeJSON(db))
	}
	for id, sc := range c.schemas {
		add(schemaKey(id.database, sc.Name), encodeJSON(sc))
	}
	c.dropDerived()
	c.deriveTypes()
	for _, r := range c.relations {
		if err := c.derive(r); err != nil {
			return err
		}
	}
	if next := c.nextID(); next != nil {
		c.cells[string(nextIDKey)] = next
	}
	if err := c.s.out.begin(ctx); err != nil {
		return err
	}
	add(formatKey, binary.AppendUvarint(nil, format))
	add(versionKey, encodeVersion(uint64(c.s.out.tx.StartTS())))
	for _, key := range slices.Sorted(maps.Keys(c.cells)) {
		if err := c.s.out.set(ctx, []byte(key), c.cells[key]); err != nil {
			return err
		}
	}
	return nil
}

// dropDerived leaves out the cells that derive makes anew, and those of writers of lost relations.
func (c *schemaCopy) dropDerived() {
	for key := range c.cells {
		switch key[1] {
		case tagDesc, tagName, tagStorage, tagDepend, tagObserver, tagType, tagTypeName:
			delete(c.cells, key)
		case tagWriters:
			if id, _, ok := table.ReadID([]byte(key[2:])); !ok || c.relations[id] == nil {
				delete(c.cells, key)
			}
		}
	}
}

// derive makes the cells of a relation.
func (c *schemaCopy) derive(r *relationCopy) (err error) {
	if of := r.desc.OfType; of != 0 && c.types[of] == nil {
		r.change().OfType = 0 // the type is lost, and the table has its columns
	}
	d, value := r.desc, r.encoded
	if value == nil {
		if err := c.s.catalog.prepare(d); err != nil {
			return err
		}
		if value, err = encodeDesc(d); err != nil {
			return err
		}
	}
	c.cells[string(table.DescKey(d.ID))] = value
	name := func(name string, e nameEntry) {
		c.cells[string(nameKey(d.DatabaseID, d.SchemaID, name))] = e.encode()
	}
	name(d.Name, nameEntry{relation: d.ID})
	for i := range d.Indexes {
		name(d.Indexes[i].Name, nameEntry{relation: d.ID, index: d.Indexes[i].OID})
	}
	if d.HasRows() && d.StorageID != 0 {
		c.cells[string(storageKey(d.StorageID))] = table.AppendID(nil, d.ID)
	}
	for _, on := range Reads(d) {
		// A policy that reads a lost table stays: without it, its table could show more rows.
		if d.View != nil || c.relations[on] != nil {
			c.cells[string(dependKey(on, d.ID))] = []byte{}
		}
	}
	for _, on := range UserTypes(d) {
		if c.types[on] != nil {
			c.cells[string(dependKey(on, d.ID))] = []byte{}
		}
	}
	return nil
}

// derivedIDs is where the numbers begin that a descriptor of an old store derives for its foreign
// keys.
const derivedIDs table.ID = 1 << 31

// nextID returns the value of the next object ID: behind all that are in use, whatever can be read
// of it. It is nil when there is none yet, as in a new store.
func (c *schemaCopy) nextID() []byte {
	next := uint64(0)
	if b := c.cells[string(nextIDKey)]; len(b) == 8 {
		next = binary.BigEndian.Uint64(b)
	}
	used := func(ids ...table.ID) {
		for _, id := range ids {
			if id >= FirstID && id < derivedIDs {
				next = max(next, uint64(id)+1)
			}
		}
	}
	for id := range c.databases {
		used(id)
	}
	for id := range c.schemas {
		used(id.schema)
	}
	for id, r := range c.relations {
		used(id, table.ID(r.desc.StorageID))
		for i := range r.desc.Indexes {
			used(r.desc.Indexes[i].OID, table.ID(r.desc.Indexes[i].StorageID))
		}
		for i := range r.desc.ForeignKeys {
			used(r.desc.ForeignKeys[i].OID)
		}
	}
	for id, d := range c.types {
		used(id, d.ArrayID, d.Class)
		for _, l := range d.Labels {
			used(l.OID)
		}
		for _, check := range d.Checks {
			used(check.OID)
		}
	}
	if next == 0 {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, next)
}

// saved returns the relations by name, and notes them for what is copied after them.
func (c *schemaCopy) saved() (out []salvagedRelation) {
	c.s.databases = slices.Sorted(maps.Keys(c.databases))
	c.s.relations = map[table.ID]bool{}
	for id, r := range c.relations {
		c.s.relations[id] = true
		out = append(out, salvagedRelation{name: c.nameOf(id), desc: r.desc})
	}
	slices.SortFunc(out, func(a, b salvagedRelation) int { return cmp.Compare(a.name, b.name) })
	return out
}
