package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// extensions returns what finds the members of extensions in the text that is being bound. The text
// of a view is stored: its names of members have the schema of stored texts.
func (b *binder) extensions() *extension.Scope {
	if b.path != nil || b.env.Extensions == nil {
		return nil
	}
	if !b.scoped {
		b.scope, b.scoped = failure.Must(b.env.Extensions(b.ctx)), true
	}
	return b.scope
}

// function is the name of a function or an aggregate as a statement writes it.
func (b *binder) function(name ast.Name) builtin.Name {
	if !isCore(name.Schema) && extension.Stored(name.Schema) == "" && b.env.MayUse != nil {
		failure.Check(at(b.env.MayUse(b.ctx, name.Schema), int(name.Pos)))
	}
	return builtin.Name{Scope: b.extensions(), Schema: name.Schema, Name: name.Name}
}

// missingSchema returns the error that the written schema of a function does not exist, or else
// err.
func (b *binder) missingSchema(name ast.Name, err error) error {
	if isCore(name.Schema) || extension.Stored(name.Schema) != "" {
		return err
	}
	if _, missing := b.env.Catalog.Type(b.ctx, name); missing != nil {
		return missing
	}
	return err
}

// isCore reports whether a written schema leaves pg_catalog possible.
func isCore(schema string) bool {
	switch schema {
	case "", "pg_catalog", "information_schema":
		return true
	}
	return false
}

// resolveOperator chooses the overload of an operator as the statement tree has it: a prefix
// operator if left is nil.
func (b *binder) resolveOperator(op string, left, right *types.Type) (*expr.Func, []*types.Type,
	error) {
	return builtin.OperatorName(b.extensions(), op).ResolveOperator(left, right)
}
