package bind

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// selecting is a SELECT on its way to a plan.
type selecting struct {
	b       *binder
	sc      *scope
	core    *ast.SelectCore
	node    logical.Node
	targets []target
	where   []expr.Expr
	having  []expr.Expr
	order   []orderKey
	group   groupBy
	on      []int // DISTINCT ON, as targets
	later   postponed
	locking []ast.Locking
	locks   []logical.LockTarget
}

// target is an entry of the select list, or an expression that only ORDER BY or DISTINCT ON has.
type target struct {
	name string
	e    expr.Expr
	src  ast.Expr // nil for the columns of *
	id   logical.ColID
	junk bool
}

// orderKey is an ORDER BY item: the target that it sorts by.
type orderKey struct {
	target int
	item   ast.OrderItem
}

// groupBy is a bound GROUP BY: its distinct expressions, and with grouping sets which of them each
// set has.
type groupBy struct {
	exprs []expr.Expr
	sets  [][]int
	given bool
}

// postponed is the part of a select list that PostgreSQL computes after ORDER BY: what calls
// volatile functions, so that these run for the rows in their order and for none that LIMIT cuts
// off, and set-returning calls, whose rows LIMIT counts and DISTINCT ON does not see. What is not
// sorted by goes with them, so that a row's expressions are computed in their order.
type postponed struct {
	targets map[int]bool
	sets    bool // all set-returning calls
}

// sortKey gives a key its direction: NULLs are larger than every value.
func sortKey(e expr.Expr, it ast.OrderItem) opt.SortKey {
	k := opt.SortKey{Expr: e, Desc: it.Desc, NullsFirst: it.Desc}
	if it.NullsFirst != nil {
		k.NullsFirst = *it.NullsFirst
	}
	return k
}

// ordinal reads a constant in ORDER BY, GROUP BY or DISTINCT ON: an integer is a position in the
// select list, counted from 1; other constants are refused.
func ordinal(e ast.Expr, n int, c clause) (index int, ok bool, err error) {
	lit, isLit := e.(*ast.Literal)
	if !isLit {
		return 0, false, nil
	}
	if lit.Kind != ast.LiteralInt {
		return 0, false, sqlerr.New(sqlerr.SyntaxError, "non-integer constant in %s",
			c).At(int(lit.Pos))
	}
	i := 0
	digits, negative := strings.CutPrefix(lit.Text, "-")
	for _, d := range digits {
		if i = i*10 + int(d-'0'); i > 1<<30 {
			return 0, false, sqlerr.New(sqlerr.SyntaxError, "non-integer constant in %s",
				c).At(int(lit.Pos))
		}
	}
	if negative {
		i = -i
	}
	if i < 1 || i > n {
		return 0, false, sqlerr.New(sqlerr.InvalidColumnReference,
			"%s position %d is not in select list", c, i).At(int(lit.Pos))
	}
	return i - 1, true, nil
}

// condition binds an expression that must be boolean.
func (b *binder) condition(sc *scope, e ast.Expr, construct string) (expr.Expr, error) {
	bound, err := b.expr(sc, e)
	if err != nil {
		return nil, err
	}
	return b.coerceBool(bound, construct, e)
}

// conjuncts splits a condition at its ANDs.
func conjuncts(dst []expr.Expr, e expr.Expr) []expr.Expr {
	if a, ok := e.(*expr.And); ok {
		for _, arg := range a.Args {
			dst = conjuncts(dst, arg)
		}
		return dst
	}
	return append(dst, e)
}

// resolveUnknown makes a literal or parameter whose type nothing decided text.
func (b *binder) resolveUnknown(e expr.Expr) (expr.Expr, error) {
	if e.Type().OID != types.OIDUnknown {
		return e, nil
	}
	return b.coerce(e, types.TText, implicit, 0)
}

// namedTarget finds the result column of a name; -1 for none.
func (s *selecting) namedTarget(ref *ast.ColumnRef, c clause) (int, error) {
	found := -1
	for i := range s.targets {
		t := &s.targets[i]
		if t.junk || t.name != ref.Name {
			continue
		}
		if found >= 0 && !logical.Equal(s.targets[found].e, t.e) {
			return 0, sqlerr.New(sqlerr.AmbiguousColumn, "%s \"%s\" is ambiguous", c,
				ref.Name).At(int(ref.Pos))
		}
		if found < 0 {
			found = i
		}
	}
	return found, nil
}
