package pgcatalog

import (
	"strconv"
	"strings"
	"sync"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table/types"
)

// builtins are the object IDs of PostgreSQL's built-in objects that the catalogs list here.
//
// What is listed is what can be used: a function, aggregate or operator that a call finds with the
// types of PostgreSQL's row, a type that there is, a cast that can be made. Beside these there are
// the functions that a listed row refers to, such as the input function of a type or the function
// of an operator. Rows of other objects are left out, so that an object ID always means what it
// means in PostgreSQL.
type builtins struct {
	functions, operators, types, casts, families map[types.OID]bool
	opclasses, amops, amprocs                    map[types.OID]bool
}

func (b *builtins) function(id types.OID) bool { return b.functions[id] }
func (b *builtins) operator(id types.OID) bool { return b.operators[id] }
func (b *builtins) typ(id types.OID) bool      { return b.types[id] }
func (b *builtins) cast(id types.OID) bool     { return b.casts[id] }
func (b *builtins) opclass(id types.OID) bool  { return b.opclasses[id] }
func (b *builtins) opfamily(id types.OID) bool { return b.families[id] }
func (b *builtins) amop(id types.OID) bool     { return b.amops[id] }
func (b *builtins) amproc(id types.OID) bool   { return b.amprocs[id] }

// Object IDs of the catalogs that descriptions name.
const (
	procCatalog     types.OID = 1255
	typeCatalog     types.OID = 1247
	operatorCatalog types.OID = 2617
)

// description reports whether the object of a row of pg_description is listed.
func (b *builtins) description(fields []string) bool {
	id := parseOID(fields[0])
	switch parseOID(fields[1]) {
	case procCatalog:
		return b.functions[id]
	case typeCatalog:
		return b.types[id]
	case operatorCatalog:
		return b.operators[id]
	}
	return true
}

// builtinObjects finds out once what is listed, when the first of these catalogs is read.
var builtinObjects = sync.OnceValue(func() *builtins {
	b := &builtins{functions: map[types.OID]bool{}, operators: map[types.OID]bool{},
		types: map[types.OID]bool{}, casts: map[types.OID]bool{}, families: map[types.OID]bool{},
		opclasses: map[types.OID]bool{}, amops: map[types.OID]bool{}, amprocs: map[types.OID]bool{}}
	b.findTypes()
	b.findOperators()
	b.findFunctions()
	b.findClasses()
	b.addReferences()
	for _, o := range ownFunctions() {
		b.functions[o.id] = true
	}
	return b
})

func (b *builtins) findTypes() {
	for r := range tuples("pg_type") {
		if _, ok := types.ByOID(r.oid("oid")); ok {
			b.types[r.oid("oid")] = true
		}
	}
	for r := range tuples("pg_cast") {
		from, to := r.oid("castsource"), r.oid("casttarget")
		if b.types[from] && b.types[to] && types.CastContext(from, to) != 0 {
			b.casts[r.oid("oid")] = true
		}
	}
}

func (b *builtins) findOperators() {
	for r := range tuples("pg_operator") {
		p := builtin.Prototype{Name: r.text("oprname"), Returns: r.oid("oprresult"),
			Args:      []types.OID{r.oid("oprleft"), r.oid("oprright")},
			Extension: extensionOf(r.oid("oid"))}
		if p.Args[0] == 0 {
			p.Args = p.Args[1:]
		}
		if builtin.ProvidesOperator(p) {
			b.operators[r.oid("oid")] = true
		}
	}
}

func (b *builtins) findFunctions() {
	for r := range tuples("pg_proc") {
		provides := builtin.ProvidesFunction
		switch r.text("prokind") {
		case "a":
			provides = builtin.ProvidesAggregate
		case "w": // the binder has all of them
			provides = func(builtin.Prototype) bool { return true }
		}
		if provides(prototype(r)) {
			b.functions[r.oid("oid")] = true
		}
	}
}

// prototype is a row of pg_proc.
func prototype(r tuple) builtin.Prototype {
	return builtin.Prototype{Name: r.text("proname"), Returns: r.oid("prorettype"),
		Args: r.oids("proargtypes"), Variadic: r.oid("provariadic"),
		Set: r.text("proretset") == "t", Extension: extensionOf(r.oid("oid"))}
}

// findClasses lists the operator classes of types, with their families, and what is in these.
func (b *builtins) findClasses() {
	for r := range tuples("pg_opclass") {
		if key := r.oid("opckeytype"); b.types[r.oid("opcintype")] && (key == 0 || b.types[key] ||
			extensionOf(r.oid("oid")) == "") {
			b.opclasses[r.oid("oid")] = true
			b.families[r.oid("opcfamily")] = true
		}
	}
	for r := range tuples("pg_amop") {
		if b.families[r.oid("amopfamily")] && b.operators[r.oid("amopopr")] {
			b.amops[r.oid("oid")] = true
		}
	}
	for r := range tuples("pg_amproc") {
		if b.families[r.oid("amprocfamily")] && b.types[r.oid("amproclefttype")] &&
			b.types[r.oid("amprocrighttype")] {
			b.amprocs[r.oid("oid")] = true
		}
	}
}

// references are the columns that name functions, by catalog.
var references = map[string]string{
	"pg_type": "typsubscript typinput typoutput typreceive typsend typmodin typmodout typanalyze",
	"pg_aggregate": "aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn " +
		"aggminvtransfn aggmfinalfn",
	"pg_operator":    "oprcode oprrest oprjoin",
	"pg_cast":        "castfunc",
	"pg_amproc":      "amproc",
	"pg_range":       "rngcanonical rngsubdiff",
	"pg_am":          "amhandler",
	"pg_conversion":  "conproc",
	"pg_language":    "lanplcallfoid laninline lanvalidator",
	"pg_ts_parser":   "prsstart prstoken prsend prsheadline prslextype",
	"pg_ts_template": "tmplinit tmpllexize",
}

func (b *builtins) addReferences() {
	for _, id := range functionsOfUserTypes {
		b.functions[id] = true
	}
	for catalog, columns := range references {
		b.addFunctionsOf(catalog, columns)
	}
	b.addFunctionsOf("pg_proc", "prosupport") // these have none themselves
}

// addFunctionsOf lists the functions that these columns of the listed rows name.
func (b *builtins) addFunctionsOf(catalog, columns string) {
	for _, set := range setsOf(catalog) {
		for fields := range set.all() {
			if set.listed != nil && !set.listed(b, fields) {
				continue
			}
			r := tuple{set.head(), fields}
			for column := range strings.FieldsSeq(columns) {
				if id := r.oid(column); id != 0 {
					b.functions[id] = true
				}
			}
		}
	}
}

// tuple is a row of the data.
type tuple struct {
	head   header
	fields []string
}

// tuples yields the rows of a file of data, the listed and the others.
func tuples(catalog string) func(yield func(tuple) bool) {
	return func(yield func(tuple) bool) {
		for _, set := range setsOf(catalog) {
			for fields := range set.all() {
				if !yield(tuple{set.head(), fields}) {
					return
				}
			}
		}
	}
}

// text is a column's value as COPY writes it.
func (r tuple) text(column string) string {
	if i, ok := r.head.at[column]; ok {
		return r.fields[i]
	}
	return r.head.fixed[column]
}

func (r tuple) oid(column string) types.OID { return parseOID(r.text(column)) }

// oids is a value of type oidvector.
func (r tuple) oids(column string) []types.OID {
	var out []types.OID
	for n := range strings.FieldsSeq(r.text(column)) {
		id, err := strconv.ParseUint(n, 10, 32)
		if err != nil {
			panic("pgcatalog: " + err.Error())
		}
		out = append(out, types.OID(id))
	}
	return out
}
