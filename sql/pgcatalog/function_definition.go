package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// functionText is what the functions pg_get_function… and pg_get_functiondef show of a built-in
// function: what is "arguments", "identity", "result", "body", "definition" or "default", with the
// number of an argument. It is false where there is nothing.
func (r *reader) functionText(id types.OID, what string) (string, bool) {
	if _, ok := r.memberSchemaOf(id); !ok || !builtinObjects().function(id) {
		return "", false
	}
	row, ok := builtinTuple("pg_proc", id)
	if !ok {
		return "", false
	}
	f := newSignature(row, r.typeText)
	what, number, _ := strings.Cut(what, " ")
	switch what {
	case "arguments":
		return f.list(true), true
	case "identity":
		return f.list(false), true
	case "result":
		return f.result(), true
	case "default":
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(f.args) {
			return "", false
		}
		return f.args[n-1].preset, f.args[n-1].preset != ""
	case "body":
		return row.text("prosqlbody"), row.text("prosqlbody") != `\N`
	case "definition":
		schema, _ := r.schemaOf(routine{id: id, schema: row.oid("pronamespace")})
		return f.definition(schema), true
	}
	return "", false
}

// builtinTuple finds the row of data with an ID.
func builtinTuple(catalog string, id types.OID) (tuple, bool) {
	want := strconv.FormatUint(uint64(id), 10)
	for t := range tuples(catalog) {
		if t.fields[0] == want {
			return tuple{t.head, slices.Clone(t.fields)}, true
		}
	}
	return tuple{}, false
}

// aggregateName is the name of an aggregate; false for any other function.
func aggregateName(id types.OID) (string, bool) {
	row, ok := builtinTuple("pg_proc", id)
	if !ok || row.text("prokind") != "a" {
		return "", false
	}
	return row.text("proname"), true
}

// typeText is the name of a type as format_type gives it.
func (r *reader) typeText(id types.OID) string {
	if name, ok := r.typeName(table.ID(id), types.NoMod); ok {
		return name
	}
	return types.TypeName(id)
}

// signature is a row of pg_proc with its arguments taken apart.
type signature struct {
	row  tuple
	args []argument
	typ  func(types.OID) string // the name of a type
}

// argument is one of a function: its mode is that of pg_proc.proargmodes.
type argument struct {
	mode, name, typ string
	preset          string // its DEFAULT; "" for none
}

func newSignature(row tuple, typ func(types.OID) string) *signature {
	f := &signature{row: row, typ: typ}
	all := row.oids("proargtypes")
	if text := row.text("proallargtypes"); text != `\N` {
		all = nil
		for _, t := range elements(text) {
			all = append(all, parseOID(t))
		}
	}
	modes, names := elements(row.text("proargmodes")), elements(row.text("proargnames"))
	for i, t := range all {
		a := argument{mode: "i", typ: typ(t)}
		if i < len(modes) {
			a.mode = modes[i]
		}
		if i < len(names) {
			a.name = names[i]
		}
		f.args = append(f.args, a)
	}
	f.addPresets(splitList(row.text("proargdefaults")))
	return f
}

// addPresets gives the last input arguments their defaults.
func (f *signature) addPresets(presets []string) {
	for i := len(f.args) - 1; i >= 0 && len(presets) > 0; i-- {
		if strings.Contains("ibv", f.args[i].mode) {
			f.args[i].preset = presets[len(presets)-1]
			presets = presets[:len(presets)-1]
		}
	}
}

// elements splits the text of an array; NULL has none.
func elements(text string) (out []string) {
	if text == `\N` {
		return nil
	}
	d, err := types.ParseText(types.ArrayOf(types.TText), unescape(text), &types.DefaultFormat)
	if err != nil {
		panic("pgcatalog: " + err.Error())
	}
	for _, e := range d.Arr.Elems {
		out = append(out, e.S)
	}
	return out
}

// splitList splits a list of expressions at the commas between them.
func splitList(text string) (out []string) {
	if text == `\N` {
		return nil
	}
	text = unescape(text)
	for {
		comma := indexUnquoted(text, ',')
		if comma < 0 {
			return append(out, strings.TrimSpace(text))
		}
		out = append(out, strings.TrimSpace(text[:comma]))
		text = text[comma+1:]
	}
}

var argumentModes = map[string]string{"o": "OUT ", "b": "INOUT ", "v": "VARIADIC "}

// list is the list of arguments, without the columns of a table.
func (f *signature) list(presets bool) string {
	var out []string
	for _, a := range f.args {
		if a.mode == "t" {
			continue
		}
		text := argumentModes[a.mode] + a.declaration()
		if presets && a.preset != "" {
			text += " DEFAULT " + a.preset
		}
		out = append(out, text)
	}
	if k, direct := f.orderedSet(); k {
		// The aggregated arguments of an ordered-set aggregate are behind ORDER BY.
		return strings.TrimPrefix(strings.Join(out[:direct], ", ")+" ORDER BY "+
			strings.Join(out[direct:], ", "), " ")
	}
	return strings.Join(out, ", ")
}

// orderedSet reports whether the function is an ordered-set aggregate, and how many of its
// arguments are direct ones.
func (f *signature) orderedSet() (yes bool, direct int) {
	if f.row.text("prokind") != "a" {
		return false, 0
	}
	agg, ok := builtinTuple("pg_aggregate", f.row.oid("oid"))
	if !ok || agg.text("aggkind") == "n" {
		return false, 0
	}
	n, err := strconv.Atoi(agg.text("aggnumdirectargs"))
	return err == nil && n <= len(f.args), n
}

func (a argument) declaration() string {
	if a.name == "" {
		return a.typ
	}
	return sqlname.Quote(a.name) + " " + a.typ
}

// result is the type of the result.
func (f *signature) result() string {
	var columns []string
	for _, a := range f.args {
		if a.mode == "t" {
			columns = append(columns, a.declaration())
		}
	}
	text := f.typ(f.row.oid("prorettype"))
	switch {
	case len(columns) > 0:
		return "TABLE(" + strings.Join(columns, ", ") + ")"
	case f.row.text("proretset") == "t":
		return "SETOF " + text
	}
	return text
}

// definition is the CREATE FUNCTION of the function.
func (f *signature) definition(schema string) string {
	language, _ := builtinTuple("pg_language", f.row.oid("prolang"))
	var b strings.Builder
	b.WriteString("CREATE OR REPLACE FUNCTION " + sqlname.Quote(schema) + "." +
		sqlname.Quote(f.row.text("proname")) + "(" + f.list(true) + ")\n RETURNS " + f.result() +
		"\n LANGUAGE " + language.text("lanname") + "\n")
	if properties := f.properties(language.text("lanname")); properties != "" {
		b.WriteString(properties + "\n")
	}
	if body := f.row.text("prosqlbody"); body != `\N` {
		b.WriteString(unescape(body) + "\n")
		return b.String()
	}
	b.WriteString("AS ")
	if library := f.row.text("probin"); library != `\N` {
		b.WriteString(sqlname.Literal(library) + ", ")
	}
	quote := "$function$"
	b.WriteString(quote + unescape(f.row.text("prosrc")) + quote + "\n")
	return b.String()
}

// properties are the words on how a function may be called, and what it costs.
func (f *signature) properties(language string) string {
	text := ""
	for _, p := range []struct{ column, value, words string }{
		{"prokind", "w", " WINDOW"}, {"provolatile", "i", " IMMUTABLE"},
		{"provolatile", "s", " STABLE"}, {"proparallel", "s", " PARALLEL SAFE"},
		{"proparallel", "r", " PARALLEL RESTRICTED"}, {"proisstrict", "t", " STRICT"},
		{"prosecdef", "t", " SECURITY DEFINER"}, {"proleakproof", "t", " LEAKPROOF"},
	} {
		if f.row.text(p.column) == p.value {
			text += p.words
		}
	}
	cost := "100"
	if language == "internal" || language == "c" {
		cost = "1"
	}
	if c := f.row.text("procost"); c != cost {
		text += " COST " + c
	}
	if rows := f.row.text("prorows"); rows != "0" && rows != "1000" {
		text += " ROWS " + rows
	}
	if id := f.row.oid("prosupport"); id != 0 {
		if support, ok := functions().find(id); ok {
			text += " SUPPORT " + support.name
		}
	}
	return text
}
