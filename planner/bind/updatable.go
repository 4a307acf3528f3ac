package bind

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// updatable is an automatically updatable view: a select list, and perhaps a condition, over one
// table or view, its base.
type updatable struct {
	view  *table.Desc
	from  *ast.TableRef
	items []ast.SelectItem
	where ast.Expr
	base  *table.Desc
	// columns has, for each column of the view, the ordinal of the column of the base that it
	// shows; -1 for what cannot be assigned to, with the reason.
	columns []int
	reasons []string
}

// The reasons for which a view, or a column of one, is not updatable, as PostgreSQL words them.
const (
	severalTables = "Views that do not select from a single table or view are not automatically " +
		"updatable."
	notAColumn = "View columns that are not columns of their base relation are not updatable."
	systemCol  = "View columns that refer to system columns are not updatable."
	wholeRowOf = "View columns that return whole-row references are not updatable."
	noColumns  = "Views that have no updatable columns are not automatically updatable."
)

// updatable examines a view as PostgreSQL's view_query_is_auto_updatable does. It returns the
// reason why the view is not updatable, if it is not.
func (b *binder) updatable(view *table.Desc) (*updatable, string) {
	q := failure.Must(b.env.ParseQuery(view.View.Text))
	core, ok := q.Body.(*ast.SelectCore)
	if reason := notSimple(q, core); reason != "" {
		return nil, reason
	}
	if !ok || len(core.From) != 1 {
		return nil, severalTables
	}
	from, ok := core.From[0].(*ast.TableRef)
	if !ok {
		return nil, severalTables
	}
	u := &updatable{view: view, from: from, where: core.Where}
	saved := b.path
	b.path = pathOf(view)
	u.base = b.relation(from.Name, nil)
	b.path = saved
	if k := u.base.Kind; k != table.KindTable && k != table.KindView && k != table.KindVirtual {
		return nil, severalTables
	}
	if from.Sample != nil {
		return nil, "Views containing TABLESAMPLE are not automatically updatable."
	}
	u.items = core.Items[:len(view.Columns)]
	for i := range u.items {
		column, reason := u.column(u.items[i].Expr)
		u.columns, u.reasons = append(u.columns, column), append(u.reasons, reason)
	}
	return u, ""
}

// pathOf returns the search path of a view's text.
func pathOf(view *table.Desc) []string {
	if view.View.SearchPath == nil {
		return []string{}
	}
	return view.View.SearchPath
}

// notSimple returns the reason for which a query is more than a selection from FROM; core is nil
// for a set operation or VALUES.
func notSimple(q *ast.Select, core *ast.SelectCore) string {
	_, union := q.Body.(*ast.SetOp)
	containing := ""
	switch {
	case core != nil && (core.Distinct || core.DistinctOn != nil):
		containing = "DISTINCT"
	case core != nil && core.GroupBy != nil:
		containing = "GROUP BY"
	case core != nil && core.Having != nil:
		containing = "HAVING"
	case union:
		containing = "UNION, INTERSECT, or EXCEPT"
	case q.With != nil:
		containing = "WITH"
	case q.Limit != nil || q.Offset != nil:
		containing = "LIMIT or OFFSET"
	}
	if containing != "" {
		return "Views containing " + containing + " are not automatically updatable."
	}
	if core == nil {
		return ""
	}
	calls := callsIn(core.Items)
	for _, kind := range []string{"aggregate", "window", "set-returning"} {
		if calls[kind] {
			return "Views that return " + kind + " functions are not automatically updatable."
		}
	}
	return ""
}

// callsIn returns which kinds of calls that are not of one row a select list has.
func callsIn(items []ast.SelectItem) map[string]bool {
	found := map[string]bool{}
	for i := range items {
		ast.Inspect(items[i].Expr, func(n any) bool {
			call, ok := n.(*ast.FuncCall)
			switch {
			case !ok:
			case call.Over != nil:
				found["window"] = true
			case len(builtin.Aggregates(call.Name.Name)) > 0:
				found["aggregate"] = true
			case returnsSet(call.Name.Name):
				found["set-returning"] = true
			}
			_, sub := n.(*ast.Select)
			return !sub
		})
	}
	return found
}

func returnsSet(function string) bool {
	return slices.ContainsFunc(builtin.Functions(function),
		func(f *expr.Func) bool { return f.Set != nil })
}

// column returns the ordinal of the base's column that an expression of the select list is, or -1
// and the reason why it is none that can be assigned to.
func (u *updatable) column(e ast.Expr) (int, string) {
	ref, ok := e.(*ast.ColumnRef)
	if c, cast := e.(*ast.Cast); cast {
		if _, star := c.Operand.(*ast.Star); star {
			return -1, wholeRowOf
		}
	}
	if !ok {
		return -1, notAColumn
	}
	k := 0
	for i := range u.base.Columns {
		if u.base.Columns[i].Hidden {
			continue
		}
		name := u.base.Columns[i].Name
		if k < len(u.from.Columns) {
			name = u.from.Columns[k].Name
		}
		if name == ref.Name {
			return i, ""
		}
		k++
	}
	if builtin.SystemColumnType(ref.Name) != nil {
		return -1, systemCol
	}
	return -1, wholeRowOf
}

// assignable reports whether some column can be assigned to.
func (u *updatable) assignable() bool {
	for _, c := range u.columns {
		if c >= 0 {
			return true
		}
	}
	return false
}

// The commands that a relation may take, as pg_relation_is_updatable adds them up.
const (
	updatableBit  = 1 << 2
	insertableBit = 1 << 3
	deletableBit  = 1 << 4
	allEvents     = updatableBit | insertableBit | deletableBit
)

// NotUpdatable returns the reason why rows cannot be inserted into a view, or changed through it;
// "" if they can.
func NotUpdatable(ctx context.Context, env *opt.Env, view *table.Desc) (reason string, err error) {
	defer failure.Catch(&err)
	u, reason := newBinder(ctx, env).updatable(view)
	if reason == "" && !u.assignable() {
		reason = noColumns
	}
	return reason, nil
}

// UpdateEvents returns what pg_relation_is_updatable does: 4 for UPDATE, 8 for INSERT and 16 for
// DELETE. columns, if not nil, are the ordinals of the only columns to consider.
func UpdateEvents(ctx context.Context, env *opt.Env, d *table.Desc, columns []int) (events int,
	err error) {
	defer failure.Catch(&err)
	return newBinder(ctx, env).updateEvents(d, columns), nil
}

func (b *binder) updateEvents(d *table.Desc, columns []int) int {
	switch d.Kind {
	case table.KindTable, table.KindVirtual:
		return allEvents
	case table.KindView:
	default:
		return 0
	}
	u, reason := b.updatable(d)
	if reason != "" {
		return 0
	}
	below := []int{}
	for k, c := range u.columns {
		if c >= 0 && (columns == nil || slices.Contains(columns, k)) {
			below = append(below, c)
		}
	}
	events := allEvents
	if len(below) == 0 {
		events = deletableBit
	}
	return events & b.updateEvents(u.base, below)
}
