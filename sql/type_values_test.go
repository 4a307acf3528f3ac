package sql_test

import "strings"

// typeSamples are types with some of their values, all of which differ, in the order of the type.
type typeSamples struct {
	name, typ string
	values    []string
	extremes  bool // min and max take the type
}

// sampledTypes are user types, and types of which values are not stored as they are printed.
var sampledTypes = []typeSamples{
	{"enum", "mood", []string{"low", "mid", "it's", "high"}, true},
	{"domain", "short", []string{"-5", "1", "2", "99"}, true},
	{"domain of arrays", "shorts", []string{"{}", "{1}", "{1,2}"}, true},
	{"composite", "pair", []string{"(1,a)", `(1,"b, ""c""")`, "(2,)"}, false},
	{"composite of user types", "nested", []string{"(low,1)", "(low,)", "(high,1)"}, false},
	{"range", "int4range", []string{"empty", "(,5)", "[1,3)", "[1,4)", "[2,)"}, false},
	{"numrange", "numrange", []string{"[1.5,2]", "[1.5,3)", "(1.5,3)"}, false},
	{"multirange", "int4multirange", []string{"{}", "{[1,3)}", "{[1,3),[5,9)}"}, false},
	{"array", "int[]", []string{"{}", "{1}", "{1,2}", "{1,NULL}", "{{1},{2}}"}, true},
	{"array of enums", "mood[]", []string{"{}", "{low,high}", "{high,low}"}, true},
	{"array of composites", "pair[]", []string{`{"(1,a)"}`, `{"(1,a)","(2,b)"}`}, true},
	{"bit varying", "varbit", []string{"", "0", "00", "01", "1"}, false},
	{"bit", "bit(3)", []string{"000", "010", "101"}, false},
	{"inet", "inet", []string{"10.0.0.0/8", "10.0.0.1/24", "10.0.0.1", "::1"}, true},
	{"cidr", "cidr", []string{"10.0.0.0/8", "10.0.0.0/24", "::/0"}, false},
	{"macaddr", "macaddr", []string{"08:00:2b:01:02:03", "ff:00:2b:01:02:03"}, false},
	{"money", "money", []string{"-$2.00", "$0.00", "$1,000.50"}, true},
	{"timetz", "timetz", []string{"10:00:00+02", "09:00:00+00", "09:00:00-03"}, true},
	{"jsonb", "jsonb", []string{"[]", `"a"`, "1", "[1, 2]", `{"a": 1}`}, false},
}

// sampledDefinitions makes the types that sampledTypes name.
const sampledDefinitions = `CREATE TYPE mood AS ENUM ('low', 'high');
	ALTER TYPE mood ADD VALUE 'mid' BEFORE 'high'; ALTER TYPE mood ADD VALUE 'it''s' AFTER 'mid';
	CREATE DOMAIN short AS int CHECK (VALUE < 100); CREATE DOMAIN shorts AS int[];
	CREATE TYPE pair AS (n int, s text); CREATE TYPE nested AS (m mood, s short)`

// literal is the i-th value as an SQL expression, modulo their number; NULL is one of them.
func (s *typeSamples) literal(i int) string {
	if i %= len(s.values) + 1; i < len(s.values) {
		return "'" + escaped(s.values[i]) + "'::" + s.typ
	}
	return "NULL"
}

// escaped is a text within an SQL string.
func escaped(text string) string { return strings.ReplaceAll(text, "'", "''") }
