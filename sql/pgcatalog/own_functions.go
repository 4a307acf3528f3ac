package pgcatalog

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

//go:embed own_functions.tsv
var ownFunctionsFile string

// ownFunction is a function that PostgreSQL does not have.
type ownFunction struct {
	id types.OID
	fn *expr.Func
}

// ownFunctions reads the list, in order of the object IDs.
var ownFunctions = sync.OnceValue(func() (out []ownFunction) {
	for line := range strings.Lines(ownFunctionsFile) {
		id, signature, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(signature, "(")
		all := builtin.Functions(name)
		i := slices.IndexFunc(all, func(f *expr.Func) bool {
			return builtin.Signature(f.Name, f.Args) == signature
		})
		if i < 0 {
			panic("pgcatalog: there is no function " + signature)
		}
		out = append(out, ownFunction{parseOID(id), all[i]})
	}
	return out
})

// volatilities are pg_proc.provolatile.
var volatilities = map[expr.Volatility]string{expr.Immutable: "i", expr.Stable: "s",
	expr.Volatile: "v"}

// ownFunctionRows are the rows of pg_proc for these functions.
func ownFunctionRows(emit emitter) {
	for _, o := range ownFunctions() {
		args := vector{}
		for _, a := range o.fn.Args {
			args = append(args, int(a.OID))
		}
		var all, modes, names any
		if len(o.fn.Columns) > 1 {
			all, modes, names = ownColumns(o.fn)
		}
		emit("oid", o.id, "proname", o.fn.Name, "pronamespace", CatalogSchemaID,
			"proowner", ownerID, "prolang", 12, "procost", 1.0, "prokind", "f",
			"prorows", setRows(o.fn), "proisstrict", !o.fn.NotStrict, "proretset", o.fn.Set != nil,
			"provolatile", volatilities[o.fn.Volatility], "proparallel", "u",
			"pronargs", len(args), "prorettype", o.fn.Returns.OID, "proargtypes", args,
			"proallargtypes", all, "proargmodes", modes, "proargnames", names,
			"prosrc", o.fn.Name)
	}
}

// setRows is how many rows PostgreSQL expects of a function that returns a set.
func setRows(f *expr.Func) float64 {
	if f.Set != nil {
		return 1000
	}
	return 0
}

// ownColumns are the arguments of a function with its columns behind them.
func ownColumns(f *expr.Func) (all []int, modes, names []string) {
	for _, a := range f.Args {
		all, modes, names = append(all, int(a.OID)), append(modes, "i"), append(names, "")
	}
	for _, c := range f.Columns {
		all = append(all, int(c.Type.OID))
		modes, names = append(modes, "t"), append(names, c.Name)
	}
	return all, modes, names
}
