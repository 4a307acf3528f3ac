package extension

import "slices"

// Core stands for pg_catalog, where it is among extensions.
const Core = ""

// Created is an extension that a database has.
type Created struct {
	Name, Schema string
}

// Scope finds the members of a database's extensions by their names in one statement. A nil Scope
// is that of a database without extensions, and of texts that the catalog stores: a plain name
// means what pg_catalog has.
type Scope struct {
	created []Created
	// path has the extensions whose schemas are on the search path, in its order, with Core.
	path []string
}

// NewScope returns the scope of a database with a search path: the schemas in the order in which
// they are searched, pg_catalog first unless it is among them.
func NewScope(created []Created, path []string) *Scope {
	s := &Scope{created: created}
	if !slices.Contains(path, "pg_catalog") {
		s.path = s.in("pg_catalog")
	}
	for _, schema := range path {
		s.path = append(s.path, s.in(schema)...)
	}
	return s
}

// in lists what is in a schema.
func (s *Scope) in(schema string) (out []string) {
	if schema == "pg_catalog" {
		out = append(out, Core)
	}
	if s == nil {
		return out
	}
	for _, c := range s.created {
		if c.Schema == schema {
			out = append(out, c.Name)
		}
	}
	return out
}

// With returns the scope in which plain names mean members of an extension beside what pg_catalog
// has.
func With(name string) *Scope { return &Scope{path: []string{Core, name}} }

var core = []string{Core}

// Searched lists where a name with that written schema may be found, in order: Core, and names of
// extensions. Schema "" is the search path.
func (s *Scope) Searched(schema string) []string {
	switch {
	case schema == "" && s != nil:
		return s.path
	case schema == "", schema == "information_schema":
		return core
	}
	if name := Stored(schema); name != "" {
		return []string{name}
	}
	return s.in(schema)
}

// Find returns the extension of a name; nil when the database has none.
func (s *Scope) Find(name string) *Created {
	if s == nil {
		return nil
	}
	for i := range s.created {
		if s.created[i].Name == name {
			return &s.created[i]
		}
	}
	return nil
}
