package builtin

import (
	"maps"
	"slices"
	"sync"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/extension"
)

// catalogue is the index over all tables of functions.
type catalogue struct {
	functions  map[string][]*expr.Func
	binary     map[string][]*expr.Func
	prefix     map[string][]*expr.Func
	aggregates map[string][]*expr.Aggregate
}

// load builds the index on first use, so that it costs nothing in a program that only links this
// package.
var load = sync.OnceValue(func() *catalogue {
	c := newCatalogue(extension.Core, functionTable(), operatorTable(), aggregateTable())
	c.addOperatorFunctions()
	return c
})

// newCatalogue builds the index over tables of an extension's members, or of what is built in.
func newCatalogue(of string, functions, operators []def, aggregates []aggDef) *catalogue {
	c := &catalogue{
		functions:  map[string][]*expr.Func{},
		binary:     map[string][]*expr.Func{},
		prefix:     map[string][]*expr.Func{},
		aggregates: map[string][]*expr.Aggregate{},
	}
	for _, d := range functions {
		for _, sig := range overloads(d.sig) {
			fn := d.build(sig)
			fn.Extension = of
			c.functions[fn.Name] = append(c.functions[fn.Name], fn)
		}
	}
	for _, d := range operators {
		for _, sig := range overloads(d.sig) {
			fn := d.build(sig)
			fn.Extension = of
			if len(fn.Args) == 1 {
				c.prefix[fn.Name] = append(c.prefix[fn.Name], fn)
			} else {
				c.binary[fn.Name] = append(c.binary[fn.Name], fn)
			}
		}
	}
	c.negate()
	for _, d := range aggregates {
		for _, sig := range overloads(d.sig) {
			a := d.build(sig)
			a.Extension = of
			c.aggregates[a.Name] = append(c.aggregates[a.Name], a)
		}
	}
	return c
}

// Operators returns the overloads of a binary operator, or with unary of a prefix operator.
func Operators(name string, unary bool) []*expr.Func {
	if unary {
		return load().prefix[name]
	}
	return load().binary[name]
}

// Functions returns the overloads of a scalar or set-returning function.
func Functions(name string) []*expr.Func { return load().functions[name] }

// Aggregates returns the overloads of an aggregate function.
func Aggregates(name string) []*expr.Aggregate { return load().aggregates[name] }

// FunctionNames lists the names of all scalar and set-returning functions, sorted.
func FunctionNames() []string { return slices.Sorted(maps.Keys(load().functions)) }
