package builtin

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// operatorFunctions has the functions that implement PostgreSQL's operators, from pg_operator: the
// name of the function, the operator, and the types of its operands. A test of pgcatalog writes it.
//
//go:embed operator_functions.txt
var operatorFunctions string

// addOperatorFunctions makes the operators callable by the names of their functions, as in
// int4pl(1, 2), but for those that the tables have.
func (c *catalogue) addOperatorFunctions() {
	for line := range strings.Lines(operatorFunctions) {
		words := strings.Fields(line)
		name, op, names := words[0], words[1], words[2:]
		operators := c.binary
		if len(names) == 1 {
			operators = c.prefix
		}
		args, ok := knownTypes(names)
		if !ok || has(c.functions[name], args) {
			continue
		}
		if i := slices.IndexFunc(operators[op], func(fn *expr.Func) bool {
			return slices.EqualFunc(fn.Args, args, sameType)
		}); i >= 0 {
			fn := *operators[op][i]
			fn.Name = name
			c.functions[name] = append(c.functions[name], &fn)
		}
	}
}

func has(overloads []*expr.Func, args []*types.Type) bool {
	return slices.ContainsFunc(overloads, func(fn *expr.Func) bool {
		return !fn.Variadic && slices.EqualFunc(fn.Args, args, sameType)
	})
}

// knownTypes returns types by their names; false if there is no type of one of these.
func knownTypes(names []string) ([]*types.Type, bool) {
	out := make([]*types.Type, len(names))
	for i, name := range names {
		if out[i] = namedTypes[name]; out[i] == nil {
			return nil, false
		}
	}
	return out, true
}
