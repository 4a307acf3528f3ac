package differential

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// call is a function, an operator, a cast or an aggregate over types of values.go, as both servers
// list it. A polymorphic one has types that begin with "any".
type call struct {
	form   string // with a %s for each argument
	args   []string
	result string
}

// listed reads what can be called: it has the OIDs of PostgreSQL, which are the same on both.
const listed = `
SELECT p.oid::text, 'f' AS kind, p.proname::text, p.prorettype::regtype::text,
	array_to_string(p.proargtypes::regtype[], '|')
FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
	AND NOT p.proretset AND p.provolatile = 'i' AND p.pronargs > 0 AND p.provariadic = 0
	AND p.oid < 16384
	-- What is behind operators, casts, aggregates, indexes and types is called through these.
	AND p.oid NOT IN (SELECT oprcode FROM pg_operator)
	AND p.oid NOT IN (SELECT castfunc FROM pg_cast)
	AND p.oid NOT IN (SELECT amproc FROM pg_amproc)
	AND p.oid NOT IN (SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn,
		aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]) FROM pg_aggregate)
	AND p.oid NOT IN (SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin,
		typmodout]::oid[]) FROM pg_type)
	AND p.oid NOT IN (SELECT unnest(ARRAY[rngcanonical, rngsubdiff]::oid[]) FROM pg_range)
UNION ALL
SELECT p.oid::text, 'a', p.proname::text, p.prorettype::regtype::text,
	array_to_string(p.proargtypes::regtype[], '|')
FROM pg_proc p JOIN pg_aggregate a ON a.aggfnoid = p.oid WHERE p.pronamespace =
	'pg_catalog'::regnamespace AND a.aggkind = 'n' AND p.pronargs > 0 AND p.provariadic = 0
	AND p.oid < 16384
UNION ALL
SELECT o.oid::text, 'o', o.oprname::text, o.oprresult::regtype::text,
	CASE o.oprleft WHEN 0 THEN '' ELSE o.oprleft::regtype::text || '|' END
		|| o.oprright::regtype::text
FROM pg_operator o WHERE o.oprcode <> 0 AND o.oid < 16384
UNION ALL
SELECT c.oid::text, 'c', '', c.casttarget::regtype::text, c.castsource::regtype::text
FROM pg_cast c WHERE c.oid < 16384
ORDER BY 1`

// unasked are functions that are not generated: what they answer depends on the server, or they
// may take all of its time or memory.
var unasked = regexp.MustCompile(`^(pg_|has_|current_|session_|inet_(client|server)|txid_|lo_|` +
	`hash|query_to_|table_to_|schema_to_|database_to_|cursor_to_|minidb_|row_security_active|` +
	`suppress_|to_reg|gin_|gist_|brin_|bt|` +
	`(lpad|rpad|repeat|factorial|generate_series|random|setseed|now|clock_timestamp|version|` +
	`statement_timestamp|transaction_timestamp|timeofday|gen_random_uuid|lowrite|loread|` +
	`set_config|setval|nextval|currval|lastval|getdatabaseencoding|to_tsvector|to_tsquery|` +
	`col_description|obj_description|shobj_description|format_type|array_fill|numeric_power)$)`)

// byOID returns rows of listed by their kind and OID.
func byOID(rows [][]string) map[string][]string {
	all := map[string][]string{}
	for _, row := range rows {
		all[row[1]+row[0]] = row[1:]
	}
	return all
}

// library is what expressions and queries are made of.
type library struct {
	scalars    map[string][]*call // by result
	aggregates []*call
}

// newLibrary takes what both servers list.
func newLibrary(postgres, own [][]string) *library {
	theirs, ours := byOID(postgres), byOID(own)
	lib := &library{scalars: map[string][]*call{}}
	for _, key := range sortedKeys(theirs) {
		if f := theirs[key]; ours[key] != nil {
			lib.add(f[0], f[1], f[2], strings.Split(f[3], "|"))
		}
	}
	return lib
}

func (lib *library) add(kind, name, result string, args []string) {
	for _, t := range append(args, result) {
		if values[t] == nil && !strings.HasPrefix(t, "any") {
			return
		}
	}
	c, operator := &call{args: args, result: result}, strings.ReplaceAll(name, "%", "%%")
	switch {
	case kind == "c":
		c.form = "CAST(%s AS " + result + ")"
	case kind == "o" && len(args) == 1:
		c.form = "(" + operator + " %s)"
	case kind == "o":
		c.form = "(%s " + operator + " %s)"
	case unasked.MatchString(name):
		return
	default:
		holes := strings.TrimSuffix(strings.Repeat("%s, ", len(args)), ", ")
		c.form = quoteName(name) + "(" + holes + ")"
	}
	if kind == "a" {
		lib.aggregates = append(lib.aggregates, c)
		return
	}
	results := []string{result}
	if i := polymorphic(result); i >= 0 {
		results = nil
		for _, s := range concrete {
			if s[i] != "" {
				results = append(results, s[i])
			}
		}
	}
	for _, t := range results {
		lib.scalars[t] = append(lib.scalars[t], c)
	}
}

// polymorphic returns the place in an element of concrete of a polymorphic type, or -1.
func polymorphic(t string) int {
	switch strings.Replace(t, "anycompatible", "any", 1) {
	case "any", "anyelement", "anynonarray", "anyenum":
		return 0
	case "anyarray":
		return 1
	case "anyrange":
		return 2
	case "anymultirange":
		return 3
	}
	return -1
}

// bind chooses types for the polymorphic ones of a call, so that it returns result ("": whatever).
func (c *call) bind(rng *rand.Rand, result string) (args []string, ok bool) {
	s := concrete[rng.IntN(len(concrete))]
	if i := polymorphic(c.result); i >= 0 && result != "" {
		for s[i] != result {
			s = concrete[rng.IntN(len(concrete))]
		}
	}
	for _, t := range c.args {
		if i := polymorphic(t); i >= 0 {
			t = s[i]
		}
		if values[t] == nil {
			return nil, false
		}
		args = append(args, t)
	}
	return args, true
}

// quoteName quotes the names of functions that are key words.
func quoteName(name string) string {
	switch name {
	case "position", "overlay", "substring", "trim", "extract", "normalize", "interval", "time",
		"timestamp", "timestamptz", "bit", "char", "numeric", "overlaps", "like", "notlike", "left",
		"right", "int4", "int8", "int2", "varchar", "bpchar", "text", "name", "date", "oid",
		"float4", "float8", "bool", "bytea", "inet", "cidr", "macaddr", "money", "is_normalized":
		return `pg_catalog."` + name + `"`
	}
	return name
}
