package settings

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Kind is the type of a parameter, as pg_settings.vartype names it.
type Kind string

// The kinds.
const (
	Bool   Kind = "bool"
	Int    Kind = "integer"
	Real   Kind = "real"
	String Kind = "string"
	Enum   Kind = "enum"
)

// Def describes one parameter.
type Def struct {
	Name    string
	Kind    Kind
	Default string
	Min     int64 // Int
	Max     int64
	Unit    string // "ms", "s", "kB", "8kB" or ""
	Enum    []string
	// Context is pg_settings.context: "user" may be SET, "superuser" by superusers and those with
	// the privilege SET on it, "backend" by the start-up packet alone, "superuser-backend" there by
	// those with the right, "internal" never, "postmaster" only by the server's own options.
	Context string
	Secret  bool // only superusers and pg_read_all_settings see the value
	// Unlisted parameters are neither in SHOW ALL nor in pg_settings.
	Unlisted bool
	// Fixed parameters of context user accept their default and nothing else.
	Fixed bool
	// Report is set for what ParameterStatus announces.
	Report   bool
	List     bool // several values may be given
	Quote    bool // elements of the list are identifiers
	Category string
	Desc     string
	key      string // Name in lower case
}

// Guarded reports whether the parameter may be set only with a right to it.
func (d *Def) Guarded() bool {
	return d.Context == "superuser" || d.Context == "superuser-backend"
}

// ServerVersion is what server_version says: drivers gate on its number.
const ServerVersion = "15.18"

//go:embed parameters.json
var parametersFile []byte

// defs are the parameters in the order of their names, case aside. The file has them by category.
var defs = sync.OnceValue(func() (out []Def) {
	var groups []struct {
		Category   string
		Parameters []Def
	}
	if err := json.Unmarshal(parametersFile, &groups); err != nil {
		panic("settings: " + err.Error())
	}
	for _, g := range groups {
		for _, d := range g.Parameters {
			d.Category, d.Context = g.Category, cmp.Or(d.Context, "user")
			d.key = key(d.Name)
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Def) int {
		return strings.Compare(a.key, b.key)
	})
	return out
})

// reported are the parameters that ParameterStatus announces, in the order of defs.
var reported = sync.OnceValue(func() (out []*Def) {
	for i := range defs() {
		if d := &defs()[i]; d.Report {
			out = append(out, d)
		}
	}
	return out
})

var byName = sync.OnceValue(func() map[string]*Def {
	m := map[string]*Def{}
	for i, d := range defs() {
		m[d.key] = &defs()[i]
	}
	return m
})

// Lookup finds a parameter by name, case aside; nil when there is none.
func Lookup(name string) *Def {
	if d := byName()[name]; d != nil {
		return d
	}
	return byName()[strings.ToLower(name)]
}

// All lists the parameters in the order in which SHOW ALL gives them.
func All() []Def { return defs() }
