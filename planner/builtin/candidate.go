package builtin

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// candidate is an overload that accepts a number of arguments, with its declared types expanded to
// that number.
type candidate struct {
	args []*types.Type
	fn   *expr.Func
	agg  *expr.Aggregate
}

// targets returns the types to which the arguments must be cast, or the error that no candidate was
// chosen.
func (c candidate) targets(name string, args []*types.Type, o outcome) ([]*types.Type, error) {
	if o != chosen {
		return nil, functionError(name, args, o)
	}
	return concrete(c.args, args)
}

func choose(cands []candidate, args []*types.Type) (candidate, outcome) {
	var fit []candidate
	for _, c := range cands {
		if allEqual(c.args, args) {
			return c, chosen
		}
		if accepts(c.args, args) {
			fit = append(fit, c)
		}
	}
	switch len(fit) {
	case 0:
		return candidate{}, nothingFits
	case 1:
		return fit[0], chosen
	}
	return selectCandidate(fit, args)
}

func allEqual(decl, args []*types.Type) bool {
	return slices.EqualFunc(decl, args, (*types.Type).Equal)
}

// accepts reports whether the arguments may be implicitly coerced to the declared types.
func accepts(decl, args []*types.Type) bool {
	generic := false
	for i, d := range decl {
		if isPolymorphic(d) {
			generic = true
		} else if !CanCoerce(args[i], d) {
			return false
		}
	}
	if !generic {
		return true
	}
	_, ok := bindGenerics(decl, args)
	return ok
}

// selectCandidate reduces several candidates step by step to the best one, like PostgreSQL's
// func_select_candidate.
func selectCandidate(cands []candidate, args []*types.Type) (candidate, outcome) {
	exact := func(decl, a *types.Type) bool { return decl.OID == a.OID }
	preferred := func(decl, a *types.Type) bool {
		return exact(decl, a) || isPreferred(decl) && category(decl) == category(a)
	}
	for _, fits := range []func(decl, a *types.Type) bool{exact, preferred} {
		cands = keepBest(cands, func(c candidate) (n int) {
			for i, a := range args {
				if !isUnknown(a) && fits(c.args[i], a) {
					n++
				}
			}
			return n
		})
		if len(cands) == 1 {
			return cands[0], chosen
		}
	}
	unknowns := countUnknown(args)
	if unknowns == 0 {
		return candidate{}, ambiguous
	}
	cands = guessUnknowns(cands, args)
	if len(cands) == 1 {
		return cands[0], chosen
	}
	if c, ok := assumeOneType(cands, args, unknowns); ok {
		return c, chosen
	}
	return candidate{}, ambiguous
}

func countUnknown(args []*types.Type) (n int) {
	for _, a := range args {
		if isUnknown(a) {
			n++
		}
	}
	return n
}

// keepBest keeps the candidates with the highest score.
func keepBest(cands []candidate, score func(candidate) int) []candidate {
	best := -1
	var out []candidate
	for _, c := range cands {
		switch n := score(c); {
		case n > best:
			best, out = n, append(out[:0:0], c)
		case n == best:
			out = append(out, c)
		}
	}
	return out
}

// guessUnknowns assigns a category to every argument of unknown type: string if any candidate
// accepts that there, else the category that all candidates have. It keeps the candidates of these
// categories, and if there are any only those with preferred types.
func guessUnknowns(cands []candidate, args []*types.Type) []candidate {
	guesses := make([]guess, len(args))
	for i, a := range args {
		if !isUnknown(a) {
			continue
		}
		g, ok := guessArgument(cands, i)
		if !ok {
			return cands
		}
		guesses[i] = g
	}
	var out []candidate
	for _, c := range cands {
		fits := true
		for i, a := range args {
			fits = fits && (!isUnknown(a) || guesses[i].fits(c.args[i]))
		}
		if fits {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return cands
	}
	return out
}

// guess is the category that an argument of unknown type is assumed to have. preferred is set if a
// candidate accepts a preferred type of it.
type guess struct {
	category  byte
	preferred bool
}

func (g guess) fits(t *types.Type) bool {
	return category(t) == g.category && (!g.preferred || isPreferred(t))
}

// guessArgument guesses the category of argument i. It returns false if the candidates have
// different categories there, and none of them is string.
func guessArgument(cands []candidate, i int) (g guess, ok bool) {
	conflict := false
	for _, c := range cands {
		next := guess{category(c.args[i]), isPreferred(c.args[i])}
		switch {
		case g.category == 0 || next.category == 'S' && g.category != 'S':
			conflict = conflict || g.category != 0
			g = next
		case next.category == g.category:
			g.preferred = g.preferred || next.preferred
		default:
			conflict = true
		}
	}
	return g, !conflict || g.category == 'S'
}

// assumeOneType assumes that all unknown arguments have the type of the known arguments, if these
// have only one.
func assumeOneType(cands []candidate, args []*types.Type, unknowns int) (candidate, bool) {
	if unknowns == len(args) {
		return candidate{}, false
	}
	var known *types.Type
	for _, a := range args {
		if isUnknown(a) {
			continue
		}
		if known != nil && known.OID != a.OID {
			return candidate{}, false
		}
		known = a
	}
	same := make([]*types.Type, len(args))
	for i := range same {
		same[i] = known
	}
	var found []candidate
	for _, c := range cands {
		if accepts(c.args, same) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return candidate{}, false
	}
	return found[0], true
}

// expand returns the declared types for n arguments; false if there may not be n.
func expand(decl []*types.Type, variadic bool, n int) ([]*types.Type, bool) {
	if !variadic {
		return decl, len(decl) == n
	}
	if n < len(decl) {
		return nil, false
	}
	out := make([]*types.Type, n)
	for i := range out {
		out[i] = declared(decl, true, i)
	}
	return out, true
}
