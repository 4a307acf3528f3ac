package bind

import (
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// selecting is a SELECT that is being bound and planned.
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
	on      []int // DISTINCT ON, as indexes of targets
	later   postponed
	locking []ast.Locking
	locks   []logical.LockTarget
	// positioned is set for the query of a cursor, and positions are the tables of which a row of
	// the cursor shows one row.
	positioned bool
	positions  []logical.LockTarget
}

// target is an entry of the select list, or an expression that only ORDER BY or DISTINCT ON has.
type target struct {
	name string
	e    expr.Expr
	src  ast.Expr // nil for columns from *
	id   logical.ColID
	junk bool
	// given is the collation of the expression as it was written, if the statement has COLLATE.
	given collation
}

// collated reports whether a COLLATE clause gave the target its collation.
func (t *target) collated() bool { return t.given.strength == explicitCollation }

// newTarget adds the column of a target that is computed.
func (b *binder) newTarget(t *target, level int) logical.ColID {
	id := b.newColumn(t.name, t.e.Type(), level)
	b.meta.Cols[id].From = t.e
	if t.given.strength != noCollation {
		b.setCollation(id, t.given)
	}
	return id
}

// orderKey is an ORDER BY item and the target that it sorts by.
type orderKey struct {
	target int
	item   ast.OrderItem
}

// groupBy is a bound GROUP BY: its distinct expressions, and the indexes of the expressions in each
// grouping set.
type groupBy struct {
	exprs []expr.Expr
	sets  [][]int
	given bool
}

// postponed is the part of a select list that is computed after sorting, as in PostgreSQL.
// Expressions with volatile functions are, so that these run in the order of the rows, and not for
// rows that LIMIT drops. So are set-returning calls, whose rows LIMIT counts and DISTINCT ON does
// not see. All other expressions that the rows are not sorted by are postponed with them, so that
// the expressions of a row are computed in their order.
type postponed struct {
	targets map[int]bool
	sets    bool // all set-returning calls
}

// sortKey returns the sort key of an ORDER BY item. NULLs are larger than every value.
func sortKey(e expr.Expr, it ast.OrderItem) opt.SortKey {
	requireOrder(e.Type(), exprPos(it.Expr))
	k := opt.SortKey{Expr: e, Desc: it.Desc, NullsFirst: it.Desc}
	if it.NullsFirst != nil {
		k.NullsFirst = *it.NullsFirst
	}
	return k
}

// ordinal recognises a constant in ORDER BY, GROUP BY or DISTINCT ON. An integer is a position in
// the select list, counted from 1; any other constant is refused.
func ordinal(e ast.Expr, n int, c clause) (index int, ok bool) {
	lit, isLit := e.(*ast.Literal)
	if !isLit {
		return 0, false
	}
	if lit.Kind != ast.LiteralInt {
		panic(failure.At(lit.Pos, sqlerr.SyntaxError, "non-integer constant in %s", c))
	}
	i := 0
	digits, negative := strings.CutPrefix(lit.Text, "-")
	for _, d := range digits {
		if i = i*10 + int(d-'0'); i > 1<<30 {
			panic(failure.At(lit.Pos, sqlerr.SyntaxError, "non-integer constant in %s", c))
		}
	}
	if negative {
		i = -i
	}
	if i < 1 || i > n {
		panic(failure.At(lit.Pos, sqlerr.InvalidColumnReference,
			"%s position %d is not in select list", c, i))
	}
	return i - 1, true
}

// condition binds an expression that must be boolean.
func (b *binder) condition(sc *scope, e ast.Expr, construct string) expr.Expr {
	return b.coerceBool(b.expr(sc, e), construct, e)
}

// conjuncts splits a condition at its ANDs and appends the parts to dst.
func conjuncts(dst []expr.Expr, e expr.Expr) []expr.Expr {
	if a, ok := e.(*expr.And); ok {
		for _, arg := range a.Args {
			dst = conjuncts(dst, arg)
		}
		return dst
	}
	return append(dst, e)
}

// resolveUnknown gives a literal or parameter of unknown type the type text.
func (b *binder) resolveUnknown(e expr.Expr) expr.Expr {
	if e.Type().OID != types.OIDUnknown {
		return e
	}
	return b.coerce(e, types.TText, implicit, 0)
}

// namedTarget returns the index of the result column with a name, -1 for none.
func (s *selecting) namedTarget(ref *ast.ColumnRef, c clause) int {
	found := -1
	for i := range s.targets {
		t := &s.targets[i]
		if t.junk || t.name != ref.Name {
			continue
		}
		if found >= 0 && !logical.Equal(s.targets[found].e, t.e) {
			panic(failure.At(ref.Pos, sqlerr.AmbiguousColumn, "%s \"%s\" is ambiguous", c,
				ref.Name))
		}
		if found < 0 {
			found = i
		}
	}
	return found
}
