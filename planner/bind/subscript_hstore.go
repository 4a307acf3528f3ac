package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// hstoreSubscript binds h['key'] as h -> 'key'.
func (b *binder) hstoreSubscript(sc *scope, operand expr.Expr, chain []*ast.Subscript) expr.Expr {
	path := make([]ast.PathStep, len(chain))
	for i, s := range chain {
		path[i] = ast.PathStep{Index: s.Index, Low: s.Low, High: s.High, Slice: s.Slice}
	}
	pos := int(chain[0].Pos)
	key := b.hstoreKey(sc, path)
	op := builtin.Name{Scope: extension.With("hstore"), Name: "->"}
	fn, _, err := op.ResolveOperator(operand.Type(), types.TText)
	failure.Check(at(err, pos))
	return &expr.Call{T: fn.Returns, Func: fn, Args: []expr.Expr{operand, key}, Pos: pos}
}

// hstoreKey binds the one subscript of an hstore.
func (b *binder) hstoreKey(sc *scope, path []ast.PathStep) expr.Expr {
	if len(path) != 1 || path[0].Slice {
		panic(failure.At(0, sqlerr.FeatureNotSupported, "hstore allows only one subscript"))
	}
	e := path[0].Index
	key := b.expr(sc, e)
	if !canCast(key.Type(), types.TText, assignment) {
		panic(failure.At(exprPos(e), sqlerr.DatatypeMismatch,
			"hstore subscript must have type text"))
	}
	return b.coerce(key, types.TText, assignment, exprPos(e))
}
