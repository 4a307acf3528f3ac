package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
)

// typeName returns a type's name for messages.
func typeName(t *types.Type) string { return t.SQLName() }

// at adds a position to an error that has none.
func at(err error, pos int) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e.At(pos)
	}
	return err
}

// undefinedFunction returns the error that there is no function with a signature.
func undefinedFunction(call *ast.FuncCall, signature string) error {
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", signature).
		At(int(call.Pos)).WithHint("No function matches the given name and argument types. " +
		"You might need to add explicit type casts.")
}
