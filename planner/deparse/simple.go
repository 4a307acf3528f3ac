package deparse

import "strings"

// isSimple reports whether n needs no parentheses as a part of parent. It is for pretty printing,
// and knows only the precedence of + - * / %.
func isSimple(n, parent node) bool {
	switch n := n.(type) {
	case *column, *wholeRow, *constant, *keyword, *call, *special, *arrayExpr, *rowExpr, *subscript,
		*caseExpr, *xmlExpr, *documentTest:
		return true
	case *field:
		_, within := parent.(*field)
		return !within
	case *coercion:
		return n.kind == byFunction || isSimple(n.arg, n)
	case *operator:
		if outer, ok := parent.(*operator); ok {
			return bindsTighter(n, outer)
		}
		return delimits(parent)
	case *subquery, *test, *distinctTest:
		return delimits(parent)
	case *logic:
		if outer, ok := parent.(*logic); ok {
			return outer.op == "OR" || outer.op == "AND" && n.op != "OR"
		}
		_, isLogic := parent.(*logic)
		return !isLogic && delimits(parent)
	}
	return false
}

// delimits reports whether a node separates its parts from each other, or has a lower precedence
// than any of them.
func delimits(parent node) bool {
	switch p := parent.(type) {
	case *logic, *subscript, *arrayExpr, *rowExpr, *special, *caseExpr:
		return true
	case *call:
		return !p.words
	}
	return false
}

// bindsTighter reports whether an arithmetic operator within another needs no parentheses.
func bindsTighter(n, outer *operator) bool {
	high := func(o *operator) (bool, bool) {
		if o.left == nil || len(o.op) != 1 || !strings.Contains("+-*/%", o.op) {
			return false, false
		}
		return strings.Contains("*/%", o.op), true
	}
	inner, known := high(n)
	around, knownToo := high(outer)
	switch {
	case !known || !knownToo:
		return false
	case inner != around:
		return inner
	}
	return outer.left == node(n)
}
