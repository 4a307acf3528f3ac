package builtin

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/are"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// fakeSession is a session with one setting, one sequence and one table.
type fakeSession struct {
	settings map[string]string
	seq      int64
}

func (s *fakeSession) User() string         { return "ann" }
func (s *fakeSession) SessionUser() string  { return "bob" }
func (s *fakeSession) Database() string     { return "db" }
func (s *fakeSession) SearchPath() []string { return []string{"public"} }
func (s *fakeSession) BackendPID() int32    { return 42 }

func (s *fakeSession) Setting(name string) (string, bool) {
	v, ok := s.settings[name]
	return v, ok
}

func (s *fakeSession) SetSetting(name, value string, _ bool) error {
	s.settings[name] = value
	return nil
}

func (s *fakeSession) NextVal(types.OID) (int64, error) { s.seq++; return s.seq, nil }
func (s *fakeSession) CurrVal(types.OID) (int64, error) { return s.seq, nil }
func (s *fakeSession) LastVal() (int64, error)          { return s.seq, nil }

func (s *fakeSession) SetVal(_ types.OID, v int64, _ bool) error {
	s.seq = v
	return nil
}

func (s *fakeSession) ResolveClass(name string) (types.OID, error) {
	if name == "t" {
		return 16384, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
}

func (s *fakeSession) Describe(kind string, oid types.OID, extra string) (string, bool) {
	switch {
	case kind == "serial" && oid == 16384:
		return "public.t_" + extra + "_seq", true
	case kind == "visible" && oid == 16384:
		return "t", true
	case kind == "role" && oid == 10:
		return "postgres", true
	}
	return "", false
}

// call calls the overload for the given constants: a string is a text, an int an int4, an int64 an
// int8, nil a NULL text.
func call(t *testing.T, rt *expr.Runtime, name string, args ...any) (string, error) {
	t.Helper()
	var ts []*types.Type
	var ds []types.Datum
	for _, a := range args {
		switch a := a.(type) {
		case nil:
			ts, ds = append(ts, types.TUnknown), append(ds, types.Null)
		case string:
			ts, ds = append(ts, types.TText), append(ds, types.NewString(a))
		case bool:
			ts, ds = append(ts, types.TBool), append(ds, types.NewBool(a))
		case int64:
			ts, ds = append(ts, types.TInt8), append(ds, types.NewInt(a))
		case int:
			ts, ds = append(ts, types.TInt4), append(ds, types.NewInt(int64(a)))
		}
	}
	fn, targets, err := ResolveFunction(name, ts)
	require.NoError(t, err)
	for i := range ds {
		if ds[i].Null || ts[i].Family == targets[i].Family {
			continue
		}
		if targets[i].OID == types.OIDRegClass {
			ds[i] = types.NewInt(16384)
			continue
		}
		ds[i], err = types.Cast(ds[i], ts[i], targets[i], false, nil)
		require.NoError(t, err)
	}
	rt.ArgTypes = targets
	d, err := fn.Scalar(rt, ds)
	if err != nil {
		return "", err
	}
	if d.Null {
		return "NULL", nil
	}
	return types.Text(ReturnType(fn, targets), d, &types.DefaultFormat), nil
}

func TestSystemFunctionsAskTheSession(t *testing.T) {
	s := &fakeSession{settings: map[string]string{"work_mem": "4MB"}}
	rt := &expr.Runtime{Session: s, Format: types.DefaultFormat}
	for _, c := range []struct {
		want, name string
		args       []any
	}{
		{"ann", "current_user", nil}, {"bob", "session_user", nil}, {"db", "current_database", nil},
		{"public", "current_schema", nil}, {"{pg_catalog,public}", "current_schemas", []any{true}},
		{"{public}", "current_schemas", []any{false}}, {"42", "pg_backend_pid", nil},
		{"4MB", "current_setting", []any{"work_mem"}}, {"NULL", "current_setting",
			[]any{"x", true}},
		{"on", "set_config", []any{"a.b", "on", false}}, {"on", "current_setting", []any{"a.b"}},
		{"1", "nextval", []any{"s"}}, {"1", "currval", []any{"s"}}, {"7", "setval", []any{"s", 7}},
		{"7", "lastval", nil}, {"public.t_id_seq", "pg_get_serial_sequence", []any{"t", "id"}},
		{"16384", "to_regclass", []any{"t"}}, {"NULL", "to_regclass", []any{"u"}},
		{"t", "pg_table_is_visible", []any{16384}}, {"NULL", "pg_table_is_visible", []any{1}},
		{"postgres", "pg_get_userbyid", []any{10}}, {"unknown (OID=99)", "pg_get_userbyid",
			[]any{99}},
		{"integer", "format_type", []any{23, nil}}, {"character varying(10)", "format_type",
			[]any{1043, 14}},
		{"character", "format_type", []any{1042, nil}}, {"bpchar", "format_type", []any{1042, -1}},
		{"???", "format_type", []any{99999, nil}}, {"-", "format_type", []any{0, nil}},
		{"UTF8", "pg_encoding_to_char", []any{6}}, {"6", "pg_char_to_encoding", []any{"utf-8"}},
		{"1206 kB", "pg_size_pretty", []any{int64(1234567)}}, {"10 kB", "pg_size_pretty",
			[]any{int64(10240)}},
		{"10239 bytes", "pg_size_pretty", []any{int64(10239)}}, {"1536", "pg_size_bytes",
			[]any{"1.5 kB"}},
		{"f", "pg_is_in_recovery", nil},
	} {
		got, err := call(t, rt, c.name, c.args...)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, "%s %v", c.name, c.args)
	}
	_, err := call(t, rt, "current_setting", "nope")
	require.EqualError(t, err, `unrecognized configuration parameter "nope"`)
	_, err = call(t, &expr.Runtime{}, "current_user")
	require.Error(t, err, "without a session")
	version, err := call(t, rt, "version")
	require.NoError(t, err)
	require.Contains(t, version, "PostgreSQL 15.")
	require.Contains(t, version, "minidb")
}

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := call(t, &expr.Runtime{Ctx: ctx}, "pg_sleep", 3600)
	require.True(t, errors.Is(err, context.Canceled))
}

func TestNowIsTheTransactionsStart(t *testing.T) {
	rt := &expr.Runtime{
		TxnTime:       time.Date(2024, 2, 29, 23, 30, 0, 0, time.UTC),
		StatementTime: time.Date(2024, 2, 29, 23, 31, 0, 0, time.UTC),
		Location:      time.FixedZone("", 3600),
	}
	for name, want := range map[string]string{
		"now": "2024-02-29 23:30:00+00", "statement_timestamp": "2024-02-29 23:31:00+00",
		"localtimestamp": "2024-03-01 00:30:00", "current_date": "2024-03-01",
		"localtime": "00:30:00",
	} {
		got, err := call(t, rt, name)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}

// rowsOf calls a set-returning function with texts of its declared types.
func rowsOf(t *testing.T, name string, args ...string) []string {
	t.Helper()
	var ts []*types.Type
	var ds []types.Datum
	for i := 0; i < len(args); i += 2 {
		at := typeNamed(args[i])
		d, err := types.ParseText(at, args[i+1], &types.DefaultFormat)
		require.NoError(t, err)
		ts, ds = append(ts, at), append(ds, d)
	}
	fn, targets, err := ResolveFunction(name, ts)
	require.NoError(t, err)
	var out []string
	rt := &expr.Runtime{ArgTypes: targets, Format: types.DefaultFormat}
	err = fn.Set(rt, ds, func(row []types.Datum) error {
		text := ""
		for i, d := range row {
			ct := fn.Columns[i].Type
			if ct == nil {
				ct = ReturnType(fn, targets)
			}
			if i > 0 {
				text += "|"
			}
			if d.Null {
				text += "NULL"
			} else {
				text += types.Text(ct, d, &types.DefaultFormat)
			}
		}
		out = append(out, text)
		return nil
	})
	if err != nil {
		return []string{err.Error()}
	}
	return out
}

func TestSetReturningFunctions(t *testing.T) {
	is := func(want []string, name string, args ...string) {
		t.Helper()
		require.Equal(t, want, rowsOf(t, name, args...))
	}
	is([]string{"1", "3", "5"}, "generate_series", "int4", "1", "int4", "6", "int4", "2")
	is([]string{"3", "2"}, "generate_series", "int8", "3", "int8", "2", "int8", "-1")
	is(nil, "generate_series", "int4", "2", "int4", "1")
	is([]string{"9223372036854775806", "9223372036854775807"}, "generate_series",
		"int8", "9223372036854775806", "int8", "9223372036854775807")
	is([]string{"step size cannot equal zero"}, "generate_series", "int4", "1", "int4", "2", "int4",
		"0")
	is([]string{"1.5", "2.0", "2.5"}, "generate_series", "numeric", "1.5", "numeric", "2.5",
		"numeric", "0.5")
	is([]string{"2024-01-31 00:00:00", "2024-02-29 00:00:00"}, "generate_series",
		"timestamp", "2024-01-31", "timestamp", "2024-03-01", "interval", "1 month")
	is([]string{"1", "NULL", "3"}, "unnest", "int4[]", "{{1},{NULL},{3}}")
	is([]string{"2", "3"}, "generate_subscripts", "int4[]", "[2:3]={7,8}", "int4", "1")
	is([]string{"3", "2"}, "generate_subscripts", "int4[]", "[2:3]={7,8}", "int4", "1", "bool", "t")
	is([]string{"a", "b"}, "string_to_table", "text", "a,b", "text", ",")
	is([]string{"{ab}", "{ac}"}, "regexp_matches", "text", "ab ac", "text", `a\w`, "text", "g")
	is([]string{"a", "b"}, "regexp_split_to_table", "text", "a1b", "text", `\d`)
	is([]string{"1", `"x"`, "null"}, "jsonb_array_elements", "jsonb", `[1,"x",null]`)
	is([]string{"1", "x", "NULL"}, "json_array_elements_text", "json", `[1,"x",null]`)
	is([]string{"a|1", "b|null"}, "jsonb_each", "jsonb", `{"b":null,"a":1}`)
	is([]string{"b|NULL", "a|1"}, "json_each_text", "json", `{"b":null,"a":1}`)
	is([]string{"b", "a"}, "json_object_keys", "json", `{"b":null,"a":1}`)
	is([]string{"cannot extract elements from an object"}, "jsonb_array_elements", "jsonb", `{}`)
	is([]string{"cannot call jsonb_object_keys on an array"}, "jsonb_object_keys", "jsonb", `[]`)
}

func TestVariadicArraysAreSpread(t *testing.T) {
	fn, _, err := ResolveFunction("concat", []*types.Type{types.TText, types.TText})
	require.NoError(t, err)
	rt := &expr.Runtime{ArgTypes: []*types.Type{types.TText, types.ArrayOf(types.TInt4)},
		Format: types.DefaultFormat}
	d, err := ExpandVariadic(fn).Scalar(rt,
		[]types.Datum{types.NewString("a"),
			types.NewArray([]types.Datum{types.NewInt(1), types.Null, types.NewInt(2)})})
	require.NoError(t, err)
	require.Equal(t, "a12", d.S)
}

func TestUnsupportedRegularExpressionsSaySo(t *testing.T) {
	for _, p := range []string{`a(?=b)`, `(a)\1`} {
		_, err := compileRegex(p, are.Flags{})
		var e *sqlerr.Error
		require.True(t, errors.As(err, &e), p)
		require.Equal(t, sqlerr.FeatureNotSupported, e.Code)
	}
}
