package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// KeyOperation is a condition `column Operator Arg` that a GIN index over the column serves.
type KeyOperation struct {
	Operator string
	Arg      expr.Expr
}

// keyCommutators map the operators of GIN classes to those with exchanged operands.
var keyCommutators = map[string]string{"@>": "<@", "<@": "@>", "&&": "&&", "=": "=", "%": "%",
	"<%": "%>", "<<%": "%>>"}

// KeyOperationOf returns the operation on column of a GIN index that a condition is. is reports
// whether an expression is that column. ok is false if the index does not serve the condition.
func KeyOperationOf(cond expr.Expr, column *gin.Column, is func(expr.Expr) bool) (k KeyOperation,
	ok bool) {
	if column == nil {
		return k, false
	}
	switch x := cond.(type) {
	case *expr.Call:
		if len(x.Args) != 2 || x.Func.Set != nil {
			return k, false
		}
		left, right := sameBytes(x.Args[0]), sameBytes(x.Args[1])
		switch other := keyCommutators[x.Func.Name]; {
		case is(left):
			k = KeyOperation{x.Func.Name, x.Args[1]}
		case is(right) && other != "":
			k = KeyOperation{other, x.Args[0]}
		default:
			return k, false
		}
	case *expr.Quantified:
		if x.All || x.Op.Comparison() != "=" || !is(sameBytes(x.Array)) {
			return k, false
		}
		k = KeyOperation{gin.AnyEqual, x.Left}
	default:
		return k, false
	}
	return k, column.Serves(k.Operator, k.Arg.Type())
}

// sameBytes removes a cast that leaves values as they are: between text and varchar, and between
// arrays of these.
func sameBytes(x expr.Expr) expr.Expr {
	cast, ok := x.(*expr.Cast)
	if !ok {
		return x
	}
	text := func(t *types.Type) bool {
		return t.OID == types.OIDText || t.OID == types.OIDVarchar && t.Mod == types.NoMod
	}
	from, to := cast.Arg.Type(), cast.T
	if from.Elem != nil && to.Elem != nil {
		from, to = from.Elem, to.Elem
	}
	if (from.OID == types.OIDVarchar || text(from)) && text(to) {
		return cast.Arg
	}
	return x
}
