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

// negate sets the negators of the operators.
func (c *catalogue) negate() {
	for _, all := range c.binary {
		for _, op := range all {
			op.Negator = c.negator(op)
		}
	}
}

func (c *catalogue) negator(op *expr.Func) *expr.Func {
	name := negators[op.Name]
	if op.Args[0] != nil {
		switch op.Args[0].OID {
		case types.OIDPoint: // ~= is their equality
			name = map[string]string{"~=": "<>", "<>": "~="}[op.Name]
		case types.OIDPath:
			return nil
		}
	}
	all := c.binary[name]
	i := slices.IndexFunc(all, func(fn *expr.Func) bool {
		return slices.EqualFunc(fn.Args, op.Args, sameType)
	})
	if i < 0 {
		return nil
	}
	return all[i]
}
