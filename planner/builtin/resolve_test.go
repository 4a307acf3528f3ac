package builtin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

func typesNamed(list string) []*types.Type {
	var out []*types.Type
	for _, n := range strings.Fields(list) {
		out = append(out, typeNamed(n))
	}
	return out
}

// shown formats a chosen overload as "name(targets) result", or PostgreSQL's message of the error.
func shown(name string, targets []*types.Type, result func() *types.Type, err error) string {
	if err != nil {
		e := err.(*sqlerr.Error)
		return e.Code + " " + e.Message
	}
	return Signature(name, targets) + " " + result().String()
}

// The results are those of PostgreSQL 15, by pg_typeof of the call.
func TestFunctionsResolveAsInPostgreSQL(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"abs", "int4", "abs(integer) integer"},
		{"abs", "unknown", "abs(double precision) double precision"},
		{"abs", "text", "42883 function abs(text) does not exist"},
		{"round", "int4", "round(double precision) double precision"},
		{"round", "float8 int4", "42883 function round(double precision, integer) does not exist"},
		{"round", "int4 int4", "round(numeric, integer) numeric"},
		{"power", "int4 int4", "power(double precision, double precision) double precision"},
		{"power", "numeric int4", "power(numeric, numeric) numeric"},
		{"mod", "int4 int8", "mod(bigint, bigint) bigint"},
		{"length", "varchar", "length(text) integer"},
		{"length", "unknown", "length(text) integer"},
		{"length", "name", "length(text) integer"},
		{"lower", "bpchar", "lower(text) text"},
		{"substring", "unknown int4", "substring(text, integer) text"},
		{"substring", "text unknown", "substring(text, text) text"},
		{"concat", "int4 unknown bool", "concat(integer, text, boolean) text"},
		{"concat", "", "42883 function concat() does not exist"},
		{"to_char", "int2 unknown", "to_char(double precision, text) text"},
		{"to_char", "date unknown", "to_char(timestamp with time zone, text) text"},
		{"date_trunc", "unknown date", "date_trunc(text, timestamp with time zone) timestamp " +
			"with time zone"},
		{"date_part", "unknown date", "date_part(text, date) double precision"},
		{"generate_series", "int4 int8", "generate_series(bigint, bigint) bigint"},
		{"generate_series", "date date interval", "generate_series(timestamp with time zone, " +
			"timestamp with time zone, interval) timestamp with time zone"},
		{"nextval", "unknown", "nextval(regclass) bigint"},
		{"nextval", "text", "nextval(regclass) bigint"},
		{"to_json", "unknown", "42804 could not determine polymorphic type because input has " +
			"type unknown"},
		{"unnest", "int4[]", "unnest(integer[]) integer"},
		{"unnest", "int4", "42883 function unnest(integer) does not exist"},
		{"array_cat", "int4[] numeric[]", "array_cat(numeric[], numeric[]) numeric[]"},
		{"array_append", "text[] unknown", "array_append(text[], text) text[]"},
		{"array_position", "int4[] int2", "array_position(integer[], integer) integer"},
		{"date", "unknown", "date(text) date"},
		{"pg_typeof", "int4", "pg_typeof(integer) regtype"},
		{"pg_sleep", "int4", "pg_sleep(double precision) void"},
		{"nosuch", "int4 text unknown int4[]", "42883 function nosuch(integer, text, unknown, " +
			"integer[]) does not exist"},
		{"left", "text int8", "42883 function left(text, bigint) does not exist"},
	} {
		fn, targets, err := ResolveFunction(c.name, typesNamed(c.args))
		require.Equal(t, c.want,
			shown(c.name, targets, func() *types.Type { return ReturnType(fn, targets) },
				err), "%s %s", c.name, c.args)
	}
}

func TestOperatorsResolveAsInPostgreSQL(t *testing.T) {
	for _, c := range []struct{ op, args, want string }{
		{"+", "int2 int4", "+(smallint, integer) integer"},
		{"+", "int4 unknown", "+(integer, integer) integer"},
		{"+", "int4 float4", "+(double precision, real) double precision"},
		{"+", "int4 numeric", "+(numeric, numeric) numeric"},
		{"+", "unknown unknown", "42725 operator is not unique: unknown + unknown"},
		{"+", "date unknown", "42725 operator is not unique: date + unknown"},
		{"-", "date unknown", "-(date, date) integer"},
		{"+", "timestamp unknown", "+(timestamp without time zone, interval) timestamp without " +
			"time zone"},
		{"-", "unknown", "42725 operator is not unique: - unknown"},
		{"-", "bool", "42883 operator does not exist: - boolean"},
		{"*", "interval int4", "*(interval, double precision) interval"},
		{"/", "interval numeric", "/(interval, double precision) interval"},
		{"=", "unknown unknown", "=(text, text) boolean"},
		{"=", "varchar varchar", "=(text, text) boolean"},
		{"=", "varchar bpchar", "=(character, character) boolean"},
		{"=", "int4 bool", "42883 operator does not exist: integer = boolean"},
		{"=", "oid int4", "=(oid, oid) boolean"},
		{"=", "regclass int4", "=(oid, oid) boolean"},
		{"=", "regclass unknown", "=(oid, oid) boolean"},
		{"=", "uuid text", "42883 operator does not exist: uuid = text"},
		{"=", "int4[] unknown", "=(integer[], integer[]) boolean"},
		{"=", "json json", "42883 operator does not exist: json = json"},
		{"||", "text int4", "||(text, integer) text"},
		{"||", "unknown int4", "||(text, integer) text"},
		{"||", "int4 int4", "42883 operator does not exist: integer || integer"},
		{"||", "unknown unknown", "||(text, text) text"},
		{"||", "jsonb unknown", "||(jsonb, jsonb) jsonb"},
		{"||", "int4[] int4", "||(integer[], integer) integer[]"},
		{"||", "int4[] unknown", "||(integer[], integer[]) integer[]"},
		{"~~", "varchar unknown", "~~(text, text) boolean"},
		{"~~", "int4 unknown", "42883 operator does not exist: integer ~~ unknown"},
		{"->", "jsonb unknown", "->(jsonb, text) jsonb"},
		{"-", "jsonb unknown", "-(jsonb, text) jsonb"},
		{"@>", "jsonb unknown", "@>(jsonb, jsonb) boolean"},
		{"<<", "int8 int4", "<<(bigint, integer) bigint"},
		{"^", "int4 int4", "^(double precision, double precision) double precision"},
		{"%", "float8 int4", "42883 operator does not exist: double precision % integer"},
	} {
		args := typesNamed(c.args)
		var left *types.Type
		if len(args) == 2 {
			left = args[0]
		}
		fn, targets, err := ResolveOperator(c.op, left, args[len(args)-1])
		require.Equal(t, c.want,
			shown(c.op, targets, func() *types.Type { return ReturnType(fn, targets) },
				err), "%s %s", c.op, c.args)
	}
}

func TestCommonTypes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"int4 int4", "integer"},
		{"int4 int8 unknown", "bigint"},
		{"int4 numeric float4", "real"},
		{"unknown unknown", "text"},
		{"unknown date", "date"},
		{"date timestamptz timestamp", "timestamp with time zone"},
		{"varchar text", "character varying"},
		{"bpchar varchar", "bpchar"},
		{"int4 text", "42804 CASE types integer and text cannot be matched"},
		{"bool int4", "42804 CASE types boolean and integer cannot be matched"},
		{"float8 numeric", "double precision"},
		{"int4[] unknown", "integer[]"},
		{"int4[] int8[]", "bigint[]"},
	} {
		got, _, err := CommonTypeFor("CASE", typesNamed(c.args))
		if err != nil {
			e := err.(*sqlerr.Error)
			require.Equal(t, c.want, e.Code+" "+e.Message, c.args)
			continue
		}
		require.Equal(t, c.want, got.String(), c.args)
	}
}

// TestAbsentFunctionsAreAbsent: a function that is added leaves the list.
func TestAbsentFunctionsAreAbsent(t *testing.T) {
	for name := range absent() {
		n := Name{Name: name}
		require.Empty(t, n.Functions(), name)
		require.Empty(t, n.Aggregates(), name)
	}
}
