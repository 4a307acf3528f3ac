// Package builtin is the catalogue of functions, operators and aggregates: their signatures, the
// rules by which a call chooses one of them, and what they compute. It is PostgreSQL 15's catalogue
// as far as minidb's types go.
//
// The binder meets it first:
//
//	f, targets, err := builtin.ResolveFunction("substring", argTypes) // also set-returning ones
//	f, targets, err := builtin.ResolveOperator("+", left, right)      // left nil: prefix operator
//	a, targets, err := builtin.ResolveAggregate("sum", argTypes)
//	result := builtin.ReturnType(f, targets)
//	t, offender, err := builtin.CommonTypeFor("CASE", types)
//
// A literal whose type is not known yet has type types.TUnknown (so has NULL). targets has an entry
// per argument: the type that the argument must be cast to before the call, implicitly. Errors
// carry PostgreSQL's code, message and hint, and no position, which the caller adds.
//
// Parameters without a type are TUnknown too: their targets are the inferred types.
//
// What is not here, because it is syntax rather than a call: AND, OR, NOT, IS, CASE, COALESCE, IN,
// casts, ROW, ARRAY, and GREATEST and LEAST resolve by CommonType first (Greatest and Least then
// give the function), as does NULLIF (NullIf).
//
// Aggregation has two forms of one aggregate. An expr.Accumulator is one group's state and takes
// datums. A Grouped is the states of all groups of a hash aggregate, indexed by group number, and
// takes vectors; NewGrouped gives typed arrays of states for count, sum, avg, min, max and the
// boolean aggregates, and wraps accumulators for the rest, so that the executor has one loop:
//
//	g := builtin.NewGrouped(agg, argTypes)
//	g.Grow(nGroups)                                  // groups 0..nGroups-1 exist
//	err := g.Update(rt, groups, args, sel)           // groups[k] is the group of row sel[k]
//	err := g.Results(rt, from, to, out)              // out[0..to-from) = groups from..to
//
// Invariants:
//
//  1. Functions never change their arguments: datums share decimals, arrays and strings.
//  2. A strict function is never called with a NULL argument; one marked NotStrict may be.
//  3. Vector and Scalar of a function give the same value, or both an error, for each row.
//  4. Functions that ask rt.Session are Stable or Volatile, and answer a nil Session with an error.
package builtin
