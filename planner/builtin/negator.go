package builtin

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// negators are the operators whose result is the opposite of another's, as in PostgreSQL's
// pg_operator.
var negators = map[string]string{"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
	"~": "!~", "!~": "~", "~*": "!~*", "!~*": "~*", "~~": "!~~", "!~~": "~~", "~~*": "!~~*",
	"!~~*": "~~*", "*=": "*<>", "*<>": "*=", "*<": "*>=", "*>=": "*<", "*>": "*<=", "*<=": "*>",
	"~<~": "~>=~", "~>=~": "~<~", "~>~": "~<=~", "~<=~": "~>~"}

// Negator returns the operator whose result is always NOT that of another, nil if there is none, or
// if the other was made for one call.
func Negator(op *expr.Func) *expr.Func {
	if len(op.Args) != 2 || op.Args[0] == nil || op.Same != nil {
		return nil
	}
	name := negators[op.Name]
	switch op.Args[0].OID {
	case types.OIDPoint: // ~= is their equality
		name = map[string]string{"~=": "<>", "<>": "~="}[op.Name]
	case types.OIDPath:
		return nil
	}
	all := catalogueOf(op.Extension).binary[name]
	i := slices.IndexFunc(all, func(fn *expr.Func) bool {
		return slices.EqualFunc(fn.Args, op.Args, sameType)
	})
	if i < 0 {
		return nil
	}
	return all[i]
}
