package expr

import (
	"reflect"
	"slices"
)

// Walk calls fn for e and, if fn returns true, for its children. It does not enter the plans of
// subqueries, but their Args and Left.
func Walk(e Expr, fn func(Expr) bool) {
	if e == nil || !fn(e) {
		return
	}
	switch e := e.(type) {
	case *Call:
		walkAll(e.Args, fn)
	case *And:
		walkAll(e.Args, fn)
	case *Or:
		walkAll(e.Args, fn)
	case *Not:
		Walk(e.Arg, fn)
	case *IsNull:
		Walk(e.Arg, fn)
	case *IsBool:
		Walk(e.Arg, fn)
	case *Case:
		if e.Operand != nil {
			Walk(e.Operand, fn)
		}
		for _, w := range e.Whens {
			Walk(w.Cond, fn)
			Walk(w.Result, fn)
		}
		if e.Else != nil {
			Walk(e.Else, fn)
		}
	case *Coalesce:
		walkAll(e.Args, fn)
	case *InList:
		Walk(e.Arg, fn)
		walkAll(e.List, fn)
	case *Cast:
		Walk(e.Arg, fn)
	case *ArrayExpr:
		walkAll(e.Elems, fn)
	case *RowExpr:
		walkAll(e.Elems, fn)
	case *Quantified:
		Walk(e.Left, fn)
		Walk(e.Array, fn)
	case *Subquery:
		walkAll(e.Args, fn)
		walkAll(e.Left, fn)
	}
}

func walkAll(es []Expr, fn func(Expr) bool) {
	for _, e := range es {
		Walk(e, fn)
	}
}

// Rewrite rebuilds e from the leaves up: fn is called with each node after its children were
// rewritten, and returns the node's replacement. Nodes without changes below them are kept.
func Rewrite(e Expr, fn func(Expr) Expr) Expr {
	return fn(Children(e, func(c Expr) Expr { return Rewrite(c, fn) }))
}

// Copy returns a node of its own that means the same.
func Copy(e Expr) Expr {
	from := reflect.ValueOf(e).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	return to.Interface().(Expr)
}

// Children replaces the children of e by the results of fn. It returns e itself when nothing
// changed, else a copy.
func Children(e Expr, fn func(Expr) Expr) Expr {
	switch e := e.(type) {
	case *Call:
		if args, changed := mapAll(e.Args, fn); changed {
			c := *e
			c.Args = args
			return &c
		}
	case *And:
		if args, changed := mapAll(e.Args, fn); changed {
			return &And{Args: args}
		}
	case *Or:
		if args, changed := mapAll(e.Args, fn); changed {
			return &Or{Args: args}
		}
	case *Not:
		if arg := fn(e.Arg); arg != e.Arg {
			return &Not{Arg: arg}
		}
	case *IsNull:
		if arg := fn(e.Arg); arg != e.Arg {
			return &IsNull{Arg: arg, Not: e.Not}
		}
	case *IsBool:
		if arg := fn(e.Arg); arg != e.Arg {
			return &IsBool{Arg: arg, Want: e.Want, Not: e.Not}
		}
	case *Case:
		return caseChildren(e, fn)
	case *Coalesce:
		if args, changed := mapAll(e.Args, fn); changed {
			return &Coalesce{T: e.T, Args: args}
		}
	case *InList:
		arg := fn(e.Arg)
		if list, changed := mapAll(e.List, fn); changed || arg != e.Arg {
			return &InList{Arg: arg, List: list, Eq: e.Eq, Not: e.Not}
		}
	case *Cast:
		if arg := fn(e.Arg); arg != e.Arg {
			c := *e
			c.Arg = arg
			return &c
		}
	case *ArrayExpr:
		if elems, changed := mapAll(e.Elems, fn); changed {
			return &ArrayExpr{T: e.T, Elems: elems}
		}
	case *RowExpr:
		if elems, changed := mapAll(e.Elems, fn); changed {
			return &RowExpr{T: e.T, Elems: elems, Names: e.Names}
		}
	case *Quantified:
		left, array := fn(e.Left), fn(e.Array)
		if left != e.Left || array != e.Array {
			c := *e
			c.Left, c.Array = left, array
			return &c
		}
	case *Subquery:
		args, changedArgs := mapAll(e.Args, fn)
		left, changedLeft := mapAll(e.Left, fn)
		if changedArgs || changedLeft {
			c := *e
			c.Args, c.Left = args, left
			return &c
		}
	}
	return e
}

func caseChildren(e *Case, fn func(Expr) Expr) Expr {
	c := *e
	changed := false
	if e.Operand != nil {
		c.Operand = fn(e.Operand)
		changed = c.Operand != e.Operand
	}
	c.Whens = slices.Clone(e.Whens)
	for i, w := range e.Whens {
		c.Whens[i] = When{Cond: fn(w.Cond), Result: fn(w.Result)}
		changed = changed || c.Whens[i] != w
	}
	if e.Else != nil {
		c.Else = fn(e.Else)
		changed = changed || c.Else != e.Else
	}
	if !changed {
		return e
	}
	return &c
}

func mapAll(es []Expr, fn func(Expr) Expr) (out []Expr, changed bool) {
	out = es
	for i, e := range es {
		n := fn(e)
		if n == e {
			continue
		}
		if !changed {
			out, changed = slices.Clone(es), true
		}
		out[i] = n
	}
	return out, changed
}
