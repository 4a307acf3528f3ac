package expr

import "github.com/minidb/minidb/table/types"

// VolatilityOf returns the volatility of the most volatile function in e. Parameters, variables and
// subqueries count as stable: they are fixed while a statement runs, and unknown during planning.
func VolatilityOf(e Expr) Volatility {
	v := Immutable
	Walk(e, func(n Expr) bool {
		switch n := n.(type) {
		case *Call:
			v = max(v, n.Volatility())
		case *Cast:
			v = max(v, CastVolatility(n.Arg.Type(), n.T))
		case *Param, *Var, *Subquery:
			v = max(v, Stable)
		}
		return true
	})
	return v
}

// Volatility returns that of the function, or of what PostgreSQL makes of the call.
func (e *Call) Volatility() Volatility {
	if e.Func.BySetting {
		return Immutable
	}
	if !e.Func.Inlined {
		return e.Func.Volatility
	}
	v := Immutable
	for _, a := range e.Args {
		v = max(v, CastVolatility(a.Type(), types.TText))
	}
	return v
}

// CastVolatility returns what PostgreSQL declares of the functions behind a cast: it is stable if
// the result depends on the time zone, on the style of dates, on the locale, or on the catalog.
func CastVolatility(from, to *types.Type) Volatility {
	from, to = from.Base(), to.Base()
	switch {
	case from.OID == to.OID, from.Family == types.Record && to.OID == types.OIDRecord:
		return Immutable
	case from.Def != nil || to.Def != nil: // by way of the catalog
		return Stable
	case from.Family == types.Array && to.Family == types.Array:
		return CastVolatility(from.Elem, to.Elem)
	case from.OID == types.OIDTimestampTZ && isMoment(to),
		to.OID == types.OIDTimestampTZ && isMoment(from):
		return Stable
	case from.Family == types.Time && to.Family == types.TimeTZ:
		return Stable
	case from.Family == types.Money || to.Family == types.Money:
		return Stable
	case to.Category() == 'S' && writtenBySession(from),
		from.Category() == 'S' && readBySession(to):
		return Stable
	}
	return Immutable
}

func isMoment(t *types.Type) bool {
	return t.Family == types.Date || t.Family == types.Timestamp ||
		t.Family == types.Time || t.Family == types.TimeTZ
}

// writtenBySession reports whether the text of a value depends on settings or the catalog.
func writtenBySession(t *types.Type) bool {
	switch t.OID {
	case types.OIDInt2Vector, types.OIDOidVector:
		return false
	case types.TACLItem.OID:
		return true
	}
	switch t.Family {
	case types.Date, types.Timestamp, types.Interval, types.Money, types.Array, types.Record,
		types.Range, types.MultiRange:
		return true
	}
	return namesObject(t)
}

// readBySession reports whether the value of a text depends on settings or the catalog.
func readBySession(t *types.Type) bool {
	return writtenBySession(t) || t.Family == types.Time || t.Family == types.TimeTZ ||
		t.Family == types.XML
}

// namesObject reports whether values of a type are written as names of objects.
func namesObject(t *types.Type) bool {
	if t.Family != types.Int {
		return false
	}
	switch t.OID {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDOid, types.TXid.OID, types.TCid.OID,
		types.TXid8.OID:
		return false
	}
	return true
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

// subqueryCalls is what a subquery counts for in Calls.
const subqueryCalls = 1000

// Calls returns about how many functions the evaluation of an expression calls for a row, as
// PostgreSQL's cost_qual_eval counts them: an IN calls for half of its list, a cast by way of text
// for both types.
func Calls(e Expr) float64 {
	calls := 0.0
	Walk(e, func(n Expr) bool {
		switch n := n.(type) {
		case *Call:
			calls++
		case *InList:
			calls += float64(len(n.List)) / 2
		case *Quantified:
			calls += 5
		case *Cast:
			calls += castCalls(n.Arg.Type().Base(), n.T.Base())
		case *Subquery:
			calls += subqueryCalls
		}
		return true
	})
	return calls
}

func castCalls(from, to *types.Type) float64 {
	switch text, alsoText := from.Category() == 'S', to.Category() == 'S'; {
	case text && alsoText && to.OID != types.OIDName && from.OID != types.OIDName:
		return 0
	case text != alsoText:
		return 2
	}
	return 1
}
