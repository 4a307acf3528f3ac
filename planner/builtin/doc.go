// Package builtin is the catalogue of functions, operators and aggregates: their signatures, the
// rules that choose an overload for a call, and their implementations. It is the catalogue of
// PostgreSQL 15, for the types that minidb has.
//
// The binder calls it first:
//
//	f, targets, err := builtin.ResolveFunction("substring", argTypes) // also set-returning ones
//	f, targets, err := builtin.ResolveOperator("+", left, right)      // left nil: prefix operator
//	a, targets, err := builtin.ResolveAggregate("sum", argTypes)
//	result := builtin.ReturnType(f, targets)
//	t, offender, err := builtin.CommonTypeFor("CASE", types)
//
// A literal whose type is still unknown has type types.TUnknown, and so has NULL. targets has an
// entry per argument: the type to which the caller must implicitly cast it before the call. Errors
// have PostgreSQL's code, message and hint, but no position, which the caller adds.
//
// Parameters without a type have TUnknown too: their targets are the inferred types.
//
// Constructs that are syntax rather than calls are not in the catalogue: AND, OR, NOT, IS, CASE,
// COALESCE, IN, casts, ROW and ARRAY. For GREATEST and LEAST the binder finds the common type
// first, and then asks Greatest and Least for the function; for NULLIF it asks NullIf.
//
// An aggregate has two forms. An expr.Accumulator is the state of one group and takes datums. A
// Grouped is the states of all groups of a hash aggregate, indexed by group number, and takes
// vectors. NewGrouped returns typed arrays of states for count, sum, avg, min, max and the boolean
// aggregates, and wraps accumulators for the others, so that the executor has one loop:
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
