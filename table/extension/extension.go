package extension

import "strings"

// Extension is what can be added to a database.
type Extension struct {
	Name    string
	Version string // the only one that is available
	Comment string
	// Schema is the only one that the extension can be in; "": any, also after its creation.
	Schema string
	// First and Last are the range of the object IDs of its members.
	First, Last uint32
}

// PLpgSQL is the name of the extension that every database begins with.
const PLpgSQL = "plpgsql"

// BtreeGist is the name of the extension with which EXCLUDE USING gist takes types that have an
// order.
const BtreeGist = "btree_gist"

// all are the extensions by name.
var all = []Extension{
	{Name: BtreeGist, Version: "1.7", First: 15000, Last: 15699,
		Comment: "support for indexing common datatypes in GiST"},
	{Name: "citext", Version: "1.6", First: 14000, Last: 14199,
		Comment: "data type for case-insensitive character strings"},
	{Name: "hstore", Version: "1.8", First: 14200, Last: 14599,
		Comment: "data type for storing sets of (key, value) pairs"},
	{Name: "pg_trgm", Version: "1.6", First: 14600, Last: 14799,
		Comment: "text similarity measurement and index searching based on trigrams"},
	{Name: "pgcrypto", Version: "1.3", First: 14800, Last: 14899,
		Comment: "cryptographic functions"},
	{Name: PLpgSQL, Version: "1.0", Schema: "pg_catalog", First: 13560, Last: 13563,
		Comment: "PL/pgSQL procedural language"},
	{Name: "unaccent", Version: "1.1", First: 14900, Last: 14919,
		Comment: "text search dictionary that removes accents"},
	{Name: "uuid-ossp", Version: "1.1", First: 14920, Last: 14999,
		Comment: "generate universally unique identifiers (UUIDs)"},
}

// All lists the extensions that can be created, by name. The slice is shared.
func All() []Extension { return all }

// Find returns the extension of a name that can be created; nil when there is none.
func Find(name string) *Extension {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// Of returns the extension to which an object ID belongs; nil when it is no member's.
func Of(id uint32) *Extension {
	for i := range all {
		if all[i].First <= id && id <= all[i].Last {
			return &all[i]
		}
	}
	return nil
}

// storedPrefix begins the names of stored schemas. No schema of a user begins with pg_.
const storedPrefix = "pg_extension_"

// StoredSchema is the schema by which stored texts name the members of an extension.
func StoredSchema(name string) string { return storedPrefix + name }

// Stored returns the extension that a written schema is the StoredSchema of, "" for any other.
func Stored(schema string) string {
	name, ok := strings.CutPrefix(schema, storedPrefix)
	if !ok || Find(name) == nil {
		return ""
	}
	return name
}

// NamedIn lists the extensions whose members a stored text may name.
func NamedIn(text string) (out []string) {
	if !strings.Contains(text, storedPrefix) {
		return nil
	}
	for i := range all {
		if strings.Contains(text, storedPrefix+all[i].Name) {
			out = append(out, all[i].Name)
		}
	}
	return out
}
