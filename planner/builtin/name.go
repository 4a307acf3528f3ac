package builtin

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// Name is the name of a function, an operator or an aggregate as a statement writes it. With a
// Scope it may be that of an extension's member; without one it is built in.
type Name struct {
	Scope  *extension.Scope
	Schema string // "": the search path
	Name   string
}

// OperatorName is the Name of an operator as the statement tree has it: with its schema before a
// dot, which no operator contains, if OPERATOR(schema.op) has one.
func OperatorName(scope *extension.Scope, op string) Name {
	if i := strings.LastIndexByte(op, '.'); i > 0 {
		return Name{Scope: scope, Schema: op[:i], Name: op[i+1:]}
	}
	return Name{Scope: scope, Name: op}
}

// Functions returns the overloads that the name may mean. Of two with the same arguments it is the
// one that is found first.
func (n Name) Functions() []*expr.Func {
	return n.overloads(func(c *catalogue) []*expr.Func { return c.functions[n.Name] })
}

// Operators is Functions for a binary operator, or with unary a prefix operator.
func (n Name) Operators(unary bool) []*expr.Func {
	return n.overloads(func(c *catalogue) []*expr.Func {
		if unary {
			return c.prefix[n.Name]
		}
		return c.binary[n.Name]
	})
}

func (n Name) overloads(in func(*catalogue) []*expr.Func) (out []*expr.Func) {
	for _, from := range n.Scope.Searched(n.Schema) {
		found := in(catalogueOf(from))
		if len(out) == 0 {
			out = found
			continue
		}
		for _, fn := range found {
			same := func(o *expr.Func) bool {
				return o.Variadic == fn.Variadic && slices.EqualFunc(o.Args, fn.Args, sameType)
			}
			if !slices.ContainsFunc(out, same) {
				out = append(slices.Clip(out), fn)
			}
		}
	}
	return out
}

func sameType(a, b *types.Type) bool {
	return a == b || a != nil && b != nil && a.OID == b.OID
}

// Aggregates returns the overloads of an aggregate that the name may mean.
func (n Name) Aggregates() (out []*expr.Aggregate) {
	for _, from := range n.Scope.Searched(n.Schema) {
		found := catalogueOf(from).aggregates[n.Name]
		if len(out) == 0 {
			out = found
		} else if len(found) > 0 {
			out = append(slices.Clip(out), found...)
		}
	}
	return out
}

// Type returns the type that the name means: a built-in one, or an extension's; nil when there is
// none.
func (n Name) Type() *types.Type {
	for _, from := range n.Scope.Searched(n.Schema) {
		if t, ok := types.ByNameIn(from, n.Name); ok {
			return t
		}
	}
	return nil
}

// withTypesOf makes a plain operator of a stored text mean those of its operands' types as well:
// such a text has constructs that imply an operator, as CASE a WHEN b does, and these leave no
// place for a schema.
func (n Name) withTypesOf(args []*types.Type) Name {
	if n.Scope != nil || n.Schema != "" {
		return n
	}
	for _, t := range args {
		if name := types.ExtensionOf(t); name != "" {
			n.Scope = extension.With(name)
		}
	}
	return n
}

// written is the name as messages show it.
func (n Name) written() string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}
