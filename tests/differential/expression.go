package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator makes statements at random.
type generator struct {
	rng    *rand.Rand
	lib    *library
	names  map[string]string // columns that expressions may name, by type
	types  []string
	scenes []*scene
	coming []string // the rest of a sequence
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// literal returns a value of a type; extremes, which come last, in few cases.
func (g *generator) literal(t string) string {
	all := values[t]
	n := len(all)
	if g.rng.IntN(3) > 0 {
		n = min(n, 5)
	}
	if g.rng.IntN(12) == 0 {
		return "NULL::" + t
	}
	return "'" + all[g.rng.IntN(n)] + "'::" + t
}

// columnOf is the name of the column of a type.
func columnOf(t string) string {
	return "c_" + strings.NewReplacer(" ", "_", "[]", "_array").Replace(t)
}

func (g *generator) leaf(t string) string {
	if name := g.names[t]; name != "" && g.rng.IntN(3) > 0 {
		return name
	}
	return g.literal(t)
}

// expression returns an expression of a type, of so many levels at most.
func (g *generator) expression(t string, depth int) string {
	calls := g.lib.scalars[t]
	if depth == 0 || len(calls) == 0 || g.rng.IntN(6) == 0 {
		return g.leaf(t)
	}
	switch g.rng.IntN(14) {
	case 0:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.expression("boolean", depth-1),
			g.expression(t, depth-1), g.expression(t, depth-1))
	case 1:
		return fmt.Sprintf("COALESCE(%s, %s)", g.expression(t, depth-1), g.leaf(t))
	case 2:
		if t == "boolean" {
			return g.predicate(depth)
		}
	}
	for range 5 {
		c := calls[g.rng.IntN(len(calls))]
		if args, ok := c.bind(g.rng, t); ok {
			return g.call(c, args, depth)
		}
	}
	return g.leaf(t)
}

func (g *generator) call(c *call, args []string, depth int) string {
	texts := make([]any, len(args))
	for i, a := range args {
		texts[i] = g.expression(a, depth-1)
	}
	return fmt.Sprintf(c.form, texts...)
}

// predicate returns what the grammar has beside functions and operators.
func (g *generator) predicate(depth int) string {
	t := g.types[g.rng.IntN(len(g.types))]
	a, b := g.expression(t, depth-1), g.leaf(t)
	switch g.rng.IntN(8) {
	case 0:
		return fmt.Sprintf("(%s IS NULL)", a)
	case 1:
		return fmt.Sprintf("(%s IS DISTINCT FROM %s)", a, b)
	case 2:
		return fmt.Sprintf("(%s IN (%s, %s))", a, b, g.leaf(t))
	case 3:
		return fmt.Sprintf("(%s NOT BETWEEN %s AND %s)", a, b, g.leaf(t))
	case 4:
		return fmt.Sprintf("(%s = ANY (ARRAY[%s, %s]))", a, b, g.leaf(t))
	case 5:
		return fmt.Sprintf("(NOT %s)", g.expression("boolean", depth-1))
	case 6:
		return fmt.Sprintf("(ROW(%s, %s) < ROW(%s, %s))", a, g.leaf("integer"), b,
			g.leaf("integer"))
	}
	return fmt.Sprintf("(%s AND %s)", g.expression("boolean", depth-1),
		g.expression("boolean", depth-1))
}
