package builtin

import (
	"sync"

	"github.com/minidb/minidb/table/extension"
)

// members are the functions, operators and aggregates of an extension.
type members struct {
	functions, operators []def
	aggregates           []aggDef
}

// extensions are the members of each extension that has any.
func extensions() map[string]members {
	return map[string]members{
		extension.BtreeGist: distanceMembers(),
		"citext": {functions: citextFunctions(), operators: citextOperators(),
			aggregates: citextAggregates},
		"hstore":    {functions: hstoreFunctions(), operators: hstoreOperators()},
		"pgcrypto":  {functions: cryptoFunctions},
		"pg_trgm":   {functions: trigramFunctions, operators: trigramOperators},
		"unaccent":  {functions: unaccentFunctions},
		"uuid-ossp": {functions: uuidFunctions},
	}
}

// extended has the catalogue of each extension.
var extended = sync.OnceValue(func() map[string]*catalogue {
	out := map[string]*catalogue{}
	for _, e := range extension.All() {
		m := extensions()[e.Name]
		out[e.Name] = newCatalogue(e.Name, m.functions, m.operators, m.aggregates)
	}
	return out
})

// catalogueOf returns the catalogue of an extension, or of pg_catalog.
func catalogueOf(name string) *catalogue {
	if name == extension.Core {
		return load()
	}
	return extended()[name]
}
