package expr

// VolatilityOf returns the volatility of the most volatile function in e. Parameters, variables and
// subqueries count as stable: they are fixed while a statement runs, and unknown during planning.
func VolatilityOf(e Expr) Volatility {
	v := Immutable
	Walk(e, func(n Expr) bool {
		switch n := n.(type) {
		case *Call:
			v = max(v, n.Func.Volatility)
		case *Param, *Var, *Subquery:
			v = max(v, Stable)
		}
		return true
	})
	return v
}

// HasSubquery reports whether an expression contains a subquery.
func HasSubquery(e Expr) bool {
	found := false
	Walk(e, func(n Expr) bool {
		if _, ok := n.(*Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}
