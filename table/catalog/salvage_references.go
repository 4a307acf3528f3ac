package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
)

// places makes the databases and schemas anew that relations lie in and that are lost, with what is
// known of them, and gives the relations the names of their schemas.
func (c *schemaCopy) places() {
	for id := range c.schemas {
		c.needDatabase(id.database)
	}
	relations := c.ordered()
	for _, r := range relations {
		c.needDatabase(r.desc.DatabaseID)
	}
	if c.databases[PostgresID] == nil && c.lost.missing(databaseKey("postgres")) {
		c.needDatabase(PostgresID)
	}
	for _, r := range relations {
		sc := c.needSchema(schemaID{r.desc.DatabaseID, r.desc.SchemaID}, r.desc.Schema)
		if r.desc.Schema != sc.Name {
			r.change().Schema = sc.Name
		}
	}
	for id := range c.databases {
		if c.lost.missing(schemaKey(id, "public")) && !c.hasSchema(id, "public") {
			c.needSchema(schemaID{id, PublicID}, "public")
		}
	}
}

// needDatabase makes a database anew unless it could be read.
func (c *schemaCopy) needDatabase(id table.ID) {
	if c.databases[id] != nil {
		return
	}
	name := fmt.Sprintf("salvaged_%d", id)
	if id == PostgresID {
		name = "postgres"
	}
	name = unusedName(name, func(n string) bool {
		for _, db := range c.databases {
			if db.Name == n {
				return true
			}
		}
		return false
	})
	c.databases[id] = &Database{ID: id, Name: name}
	c.s.opts.Lost(Problem{What: fmt.Sprintf(
		"database %d cannot be read: it is made anew as %s, without its comment and settings", id,
		name)})
}

// needSchema returns a schema, made anew unless it could be read.
func (c *schemaCopy) needSchema(id schemaID, name string) *Schema {
	if sc := c.schemas[id]; sc != nil {
		return sc
	}
	if name == "" {
		name = fmt.Sprintf("salvaged_%d", id.schema)
	}
	name = unusedName(name, func(n string) bool { return c.hasSchema(id.database, n) })
	sc := &Schema{ID: id.schema, Database: id.database, Name: name}
	if id.schema == PublicID {
		sc.Comment = "standard public schema"
	}
	c.schemas[id] = sc
	c.s.opts.Lost(Problem{What: fmt.Sprintf("schema %s of database %s cannot be read: it is made "+
		"anew, without its comment", name, c.databases[id.database].Name)})
	return sc
}

func (c *schemaCopy) hasSchema(database table.ID, name string) bool {
	for id, sc := range c.schemas {
		if id.database == database && sc.Name == name {
			return true
		}
	}
	return false
}

// unusedName returns name, with underscores behind it until it is not taken.
func unusedName(name string, taken func(string) bool) string {
	for taken(name) {
		name += "_"
	}
	return name
}

// uniqueNames gives other names to relations and indexes whose names another one has, which only
// two states of the schema together can have: the one that was changed last keeps it.
func (c *schemaCopy) uniqueNames() {
	type space struct {
		schemaID
		name string
	}
	taken := map[space]bool{}
	take := func(d *table.Desc, name string, number table.ID) string {
		in := schemaID{d.DatabaseID, d.SchemaID}
		isTaken := func(n string) bool { return taken[space{in, n}] }
		if isTaken(name) {
			name = unusedName(fmt.Sprintf("salvaged_%d", number), isTaken)
		}
		taken[space{in, name}] = true
		return name
	}
	for _, r := range c.ordered() {
		if name := take(r.desc, r.desc.Name, r.desc.ID); name != r.desc.Name {
			c.report(r.desc, "another relation has its name; it is called %s now", name)
			r.change().Name = name
		}
		for i := range r.desc.Indexes {
			ix := &r.desc.Indexes[i]
			if name := take(r.desc, ix.Name, ix.OID); name != ix.Name {
				c.report(r.desc, "another relation has the name of its index %s, which is called "+
					"%s now", ix.Name, name)
				r.change().Indexes[i].Name = name
			}
		}
	}
}

// references takes out of the descriptors what refers to something that is lost.
func (c *schemaCopy) references() {
	for c.dropViews() {
	}
	names := c.relationNames()
	for _, r := range c.ordered() {
		switch r.desc.Kind {
		case table.KindTable:
			c.dropForeignKeys(r)
			c.dropDefaults(r, names[r.desc.DatabaseID])
		case table.KindSequence:
			c.disown(r)
		}
	}
	referring := map[table.ID][]table.ID{}
	for _, r := range c.ordered() {
		for i := range r.desc.ForeignKeys {
			to := r.desc.ForeignKeys[i].RefTable
			referring[to] = append(referring[to], r.desc.ID)
		}
	}
	for id, r := range c.relations {
		c.setReferrers(r, referring[id])
	}
}

// observers takes the observers out of the descriptors: what they have seen of the rows is not
// copied, and the notifications of what they have not seen are not either.
func (c *schemaCopy) observers() {
	for _, r := range c.ordered() {
		if r.desc.Incremental() {
			c.report(r.desc, "the materialized view is not incremental any more: how far it had "+
				"followed its tables is not copied")
			r.change().View.Incremental = nil
		}
		for i := range r.desc.Observers {
			if r.desc.Observers[i].Views {
				continue
			}
			c.report(r.desc, "observer %s is left out: what it has seen is not copied",
				r.desc.Observers[i].Name)
		}
		if len(r.desc.Observers) > 0 {
			r.change().Observers = nil
		}
	}
}

// dropViews drops views that read a lost relation. It reports whether there was one: others may
// read it. A materialized view becomes a table: its rows are there.
func (c *schemaCopy) dropViews() (dropped bool) {
	for _, r := range c.ordered() {
		v := r.desc.View
		if v == nil {
			continue
		}
		what := "the view is lost"
		if r.desc.HasRows() {
			what = "the materialized view is a table now"
		}
		i := slices.IndexFunc(v.DependsOn, func(id table.ID) bool { return c.relations[id] == nil })
		switch {
		case i >= 0:
			c.report(r.desc, "%s: it reads %s, which is lost", what, c.nameOf(v.DependsOn[i]))
		case !c.hasKeys(v):
			c.report(r.desc, "%s: the primary key on which its GROUP BY rests is lost", what)
		default:
			continue
		}
		if r.desc.HasRows() {
			d := r.change()
			d.Kind, d.View = table.KindTable, nil
			continue
		}
		c.names[r.desc.ID] = c.nameOf(r.desc.ID)
		delete(c.relations, r.desc.ID)
		dropped = true
	}
	return dropped
}

// hasKeys reports whether the primary keys are there that a view needs.
func (c *schemaCopy) hasKeys(v *table.View) bool {
	return !slices.ContainsFunc(v.DependsOnKeys, func(key table.ID) bool {
		for _, r := range c.relations {
			if pk := r.desc.PrimaryKey(); pk != nil && pk.OID == key {
				return false
			}
		}
		return true
	})
}

func (c *schemaCopy) dropForeignKeys(r *relationCopy) {
	lost := func(fk table.ForeignKey) bool {
		parent := c.relations[fk.RefTable]
		switch {
		case parent == nil:
			c.report(r.desc, "foreign key %s is left out: it refers to %s, which is lost", fk.Name,
				c.nameOf(fk.RefTable))
		case parent.desc.ReferencedIndex(fk.RefColumns) == nil:
			c.report(r.desc, "foreign key %s is left out: %s has no unique index for it", fk.Name,
				c.nameOf(fk.RefTable))
		case slices.ContainsFunc(fk.Columns,
			func(id table.ColumnID) bool { return r.desc.ColumnByID(id) < 0 }):
			c.report(r.desc, "foreign key %s is left out: the table lacks a column of it", fk.Name)
		default:
			return false
		}
		return true
	}
	kept := slices.DeleteFunc(slices.Clone(r.desc.ForeignKeys), lost)
	if len(kept) < len(r.desc.ForeignKeys) {
		r.change().ForeignKeys = kept
	}
}

// dropDefaults takes the defaults of columns that draw from a lost sequence.
func (c *schemaCopy) dropDefaults(r *relationCopy, names map[string]bool) {
	for i := range r.desc.Columns {
		col := &r.desc.Columns[i]
		lostOwn := col.SequenceID != 0 && c.relations[col.SequenceID] == nil
		named := c.lostName(col.DefaultText, names)
		switch {
		case lostOwn && col.Identity != "":
			c.report(r.desc, "column %s is no identity column any more: %s, which feeds it, is "+
				"lost", col.Name, c.nameOf(col.SequenceID))
		case named != "":
			c.report(r.desc, "the default of column %s is left out: %s is lost", col.Name, named)
		case !lostOwn:
			continue
		}
		col = &r.change().Columns[i]
		if named != "" {
			col.DefaultText = ""
		}
		if lostOwn {
			col.Identity, col.SequenceID = "", 0
		}
	}
}

// lostName returns a relation that a default names, as nextval('public.s'::regclass) does, and that
// is lost; "" when there is none. names are those of the relations that are not.
func (c *schemaCopy) lostName(text string, names map[string]bool) string {
	if !c.mayLack(tagDesc) {
		return ""
	}
	for rest, found := text, true; ; {
		var before string
		if before, rest, found = strings.Cut(rest, "'::regclass"); !found {
			return ""
		}
		literal := before[openingQuote(before)+1:]
		name := strings.ReplaceAll(literal, "''", "'")
		system := strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "information_schema.")
		if !system && !names[name] {
			return name
		}
	}
}

// openingQuote returns where the string constant begins whose last character is the last one of
// text; -1 when there is none.
func openingQuote(text string) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] != '\'' {
			continue
		}
		if i == 0 || text[i-1] != '\'' {
			return i
		}
		i-- // a quote within
	}
	return -1
}

// relationNames are the names of relations by database, with and without their schemas, as SQL
// writes them.
type relationNames map[table.ID]map[string]bool

func (c *schemaCopy) relationNames() relationNames {
	names := relationNames{}
	for _, r := range c.relations {
		d := r.desc
		if names[d.DatabaseID] == nil {
			names[d.DatabaseID] = map[string]bool{}
		}
		names[d.DatabaseID][sqlname.Quote(d.Name)] = true
		names[d.DatabaseID][sqlname.Qualified(d.Schema, d.Name)] = true
	}
	return names
}

// disown takes the owner from a sequence whose owner is lost.
func (c *schemaCopy) disown(r *relationCopy) {
	seq := r.desc.Sequence
	if seq == nil || seq.OwnerTable == 0 {
		return
	}
	owner := c.relations[seq.OwnerTable]
	if owner != nil && owner.desc.ColumnByID(seq.OwnerColumn) >= 0 {
		return
	}
	c.report(r.desc, "no column owns the sequence any more: that of %s is lost",
		c.nameOf(seq.OwnerTable))
	seq = r.change().Sequence
	seq.OwnerTable, seq.OwnerColumn = 0, 0
}

// setReferrers makes a descriptor list the tables that have foreign keys to it: no lost ones, and
// all others.
func (c *schemaCopy) setReferrers(r *relationCopy, referring []table.ID) {
	lost := func(id table.ID) bool { return !slices.Contains(referring, id) }
	list := slices.DeleteFunc(slices.Clone(r.desc.ReferencedBy), lost)
	for _, id := range referring {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	if !slices.Equal(list, r.desc.ReferencedBy) {
		r.change().ReferencedBy = list
	}
}
