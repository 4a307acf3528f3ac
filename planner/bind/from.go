package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// from binds the list of FROM into one node and adds its names to the scope.
func (b *binder) from(sc *scope, list []ast.TableExpr) logical.Node {
	var node logical.Node
	names := aliases{}
	for _, te := range list {
		it := b.tableExpr(sc, te)
		names.add(sc.tables, it.tables)
		sc.add(it)
		if node == nil {
			node = it.node
		} else {
			node = b.join(opt.Inner, node, it.node, nil)
		}
	}
	if node == nil {
		node = &logical.Values{Rows: [][]expr.Expr{{}}}
	}
	return node
}

// aliases indexes the tables of a FROM list by name, once there are so many that comparing each
// with all others would be slow.
type aliases map[string][]*fromTable

// manyAliases is the number of tables from which on they are indexed by name.
const manyAliases = 32

// add checks the names of further FROM entries, more, against those of the entries before them,
// have.
func (a aliases) add(have, more []*fromTable) {
	if len(have)+len(more) < manyAliases {
		checkAliases(have, more)
		return
	}
	if len(a) == 0 {
		for _, t := range have {
			a[t.alias] = append(a[t.alias], t)
		}
	}
	for _, t := range more {
		checkAliases(a[t.alias], []*fromTable{t})
	}
	for _, t := range more {
		a[t.alias] = append(a[t.alias], t)
	}
}

// checkAliases returns an error if two FROM entries of one query have the same name.
func checkAliases(have, more []*fromTable) {
	for _, t := range more {
		for _, o := range have {
			if t.alias != o.alias || t.alias == "" {
				continue
			}
			if !t.aliased && !o.aliased && t.desc != nil && o.desc != nil &&
				t.desc.ID != o.desc.ID {
				continue // same name in two schemas: a qualifier distinguishes them
			}
			panic(failure.At(0, sqlerr.DuplicateAlias, "table name \"%s\" specified more than once",
				t.alias))
		}
	}
}

func (b *binder) tableExpr(sc *scope, te ast.TableExpr) *fromItem {
	failure.Check(b.interrupt.Step())
	var it *fromItem
	switch te := te.(type) {
	case *ast.TableRef:
		it = b.tableRef(sc, te)
	case *ast.SubqueryRef:
		it = b.subqueryRef(sc, te)
	case *ast.FuncRef:
		it = b.funcRef(sc, te)
	case *ast.Join:
		b.enter(te.Pos)
		defer b.leave()
		return b.joinExpr(sc, te)
	default:
		panic(failure.At(0, sqlerr.InternalError, "planner: unexpected FROM entry %T", te))
	}
	b.noteEntry(te, it.tables[0])
	return it
}

// tableRef binds the name of a WITH query, a view, or a relation.
func (b *binder) tableRef(sc *scope, ref *ast.TableRef) *fromItem {
	if ref.Sample != nil {
		panic(failure.Unsupported(ref.Sample.Pos, "TABLESAMPLE"))
	}
	if ref.Name.Schema == "" {
		if cte := sc.with.find(ref.Name.Name); cte != nil {
			return b.cteRef(sc, ref, cte)
		}
	}
	d := b.relation(ref.Name, sc.with)
	switch {
	case d.IsQuery() && b.notes == nil:
		return b.viewRef(sc, ref, d)
	case d.Kind == table.KindSequence:
		return b.sequenceRef(sc, ref, d)
	}
	it, _ := b.scanGuarded(sc, d, ref.Alias, ref.Columns, "select", b.need(d, acl.Select))
	return it
}

func (b *binder) subqueryRef(sc *scope, ref *ast.SubqueryRef) *fromItem {
	saved := sc.sel.clause
	sc.sel.clause = clauseLateral
	q := b.query(ref.Query, b.fromOuter(sc, ref.Lateral), false)
	sc.sel.clause = saved
	if ref.Alias == "" {
		panic(failure.Of(sqlerr.New(sqlerr.SyntaxError, "subquery in FROM must have an alias").
			At(int(ref.Pos)).WithHint("For example, FROM (SELECT ...) [AS] foo.")))
	}
	it := b.derived(sc, q, ref.Alias, ref.Columns)
	it.tables[0].source = q.Node
	return it
}
