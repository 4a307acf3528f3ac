package builtin

import (
	"sync"

	"github.com/minidb/minidb/planner/expr"
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
	c := &catalogue{
		functions:  map[string][]*expr.Func{},
		binary:     map[string][]*expr.Func{},
		prefix:     map[string][]*expr.Func{},
		aggregates: map[string][]*expr.Aggregate{},
	}
	for _, d := range functionTable() {
		for _, sig := range overloads(d.sig) {
			fn := d.build(sig)
			c.functions[fn.Name] = append(c.functions[fn.Name], fn)
		}
	}
	for _, d := range operatorTable() {
		for _, sig := range overloads(d.sig) {
			fn := d.build(sig)
			if len(fn.Args) == 1 {
				c.prefix[fn.Name] = append(c.prefix[fn.Name], fn)
			} else {
				c.binary[fn.Name] = append(c.binary[fn.Name], fn)
			}
		}
	}
	for _, d := range aggregateTable() {
		for _, sig := range overloads(d.sig) {
			a := d.build(sig)
			c.aggregates[a.Name] = append(c.aggregates[a.Name], a)
		}
	}
	return c
})

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
