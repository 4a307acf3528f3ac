package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// from binds the list of FROM into one node and adds its names to the scope.
func (b *binder) from(sc *scope, list []ast.TableExpr) (logical.Node, error) {
	var node logical.Node
	names := aliases{}
	for _, te := range list {
		it, err := b.tableExpr(sc, te)
		if err != nil {
			return nil, err
		}
		if err := names.add(sc.tables, it.tables); err != nil {
			return nil, err
		}
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
	return node, nil
}

// aliases indexes the tables of a FROM list by name, once there are so many that comparing each
// with all others would be slow.
type aliases map[string][]*fromTable

// manyAliases is the number of tables from which on they are indexed by name.
const manyAliases = 32

// add checks the names of further FROM entries, more, against those of the entries before them,
// have.
func (a aliases) add(have, more []*fromTable) error {
	if len(have)+len(more) < manyAliases {
		return checkAliases(have, more)
	}
	if len(a) == 0 {
		for _, t := range have {
			a[t.alias] = append(a[t.alias], t)
		}
	}
	for _, t := range more {
		if err := checkAliases(a[t.alias], []*fromTable{t}); err != nil {
			return err
		}
	}
	for _, t := range more {
		a[t.alias] = append(a[t.alias], t)
	}
	return nil
}

// checkAliases returns an error if two FROM entries of one query have the same name.
func checkAliases(have, more []*fromTable) error {
	for _, t := range more {
		for _, o := range have {
			if t.alias != o.alias || t.alias == "" {
				continue
			}
			if !t.aliased && !o.aliased && t.desc != nil && o.desc != nil &&
				t.desc.ID != o.desc.ID {
				continue // same name in two schemas: a qualifier distinguishes them
			}
			return sqlerr.New(sqlerr.DuplicateAlias, "table name \"%s\" specified more than once",
				t.alias)
		}
	}
	return nil
}

func (b *binder) tableExpr(sc *scope, te ast.TableExpr) (*fromItem, error) {
	if err := b.interrupt.Step(); err != nil {
		return nil, err
	}
	var it *fromItem
	var err error
	switch te := te.(type) {
	case *ast.TableRef:
		it, err = b.tableRef(sc, te)
	case *ast.SubqueryRef:
		it, err = b.subqueryRef(sc, te)
	case *ast.FuncRef:
		it, err = b.funcRef(sc, te)
	case *ast.Join:
		if err := b.enter(te.Pos); err != nil {
			return nil, err
		}
		defer b.leave()
		return b.joinExpr(sc, te)
	default:
		return nil, sqlerr.New(sqlerr.InternalError, "planner: unexpected FROM entry %T", te)
	}
	if err == nil {
		b.noteEntry(te, it.tables[0])
	}
	return it, err
}

// tableRef binds the name of a WITH query, a view, or a relation.
func (b *binder) tableRef(sc *scope, ref *ast.TableRef) (*fromItem, error) {
	if ref.Sample != nil {
		return nil, sqlerr.Unsupported(int(ref.Sample.Pos), "TABLESAMPLE")
	}
	if ref.Name.Schema == "" {
		if cte := sc.with.find(ref.Name.Name); cte != nil {
			return b.cteRef(sc, ref, cte)
		}
	}
	d, err := b.relation(ref.Name)
	if err != nil {
		return nil, laterCTE(err, sc.with, ref.Name.Name)
	}
	switch {
	case d.IsQuery() && b.notes == nil:
		return b.viewRef(sc, ref, d)
	case d.Kind == table.KindSequence:
		return b.sequenceRef(sc, ref, d)
	}
	return b.scan(sc, d, ref.Alias, ref.Columns, ref.Name.Pos)
}

func (b *binder) subqueryRef(sc *scope, ref *ast.SubqueryRef) (*fromItem, error) {
	saved := sc.sel.clause
	sc.sel.clause = clauseLateral
	q, err := b.query(ref.Query, b.fromOuter(sc, ref.Lateral), false)
	sc.sel.clause = saved
	if err != nil {
		return nil, err
	}
	if ref.Alias == "" {
		return nil, withHint(sqlerr.New(sqlerr.SyntaxError,
			"subquery in FROM must have an alias").At(int(ref.Pos)),
			"For example, FROM (SELECT ...) [AS] foo.")
	}
	it, err := b.derived(sc, q, ref.Alias, ref.Columns)
	if err == nil {
		it.tables[0].source = q.Node
	}
	return it, err
}

// typedColumn is a column of a FROM function and its type.
type typedColumn struct {
	name string
	t    *types.Type
}

// funcRef binds a function in FROM: a set-returning function, or a scalar function, which gives one
// row.
func (b *binder) funcRef(sc *scope, ref *ast.FuncRef) (*fromItem, error) {
	saved := sc.sel.clause
	sc.sel.clause = clauseFrom
	call, err := b.tableFunction(sc, ref.Call)
	sc.sel.clause = saved
	if err != nil {
		return nil, err
	}
	name := ref.Call.Name.Name
	alias := name
	if ref.Alias != "" {
		alias = ref.Alias
	}
	cols, err := b.functionColumns(ref, call, name)
	if err != nil {
		return nil, err
	}
	node := &logical.FuncScan{Func: call.fn, Args: call.args, Scalar: call.scalar,
		Ordinality: ref.Ordinality, Alias: alias}
	t := &fromTable{alias: alias, aliased: true, source: node}
	for _, c := range cols {
		id := b.newColumn(c.name, c.t, sc.level())
		node.Cols = append(node.Cols, id)
		t.cols = append(t.cols, visible{name: c.name, id: id})
	}
	if err := b.renameColumns(t, ref.Columns); err != nil {
		return nil, err
	}
	return &fromItem{node: node, tables: []*fromTable{t}, cols: t.cols}, nil
}

// functionColumns returns the names and types of a function's columns. A single unnamed column gets
// the name of the alias.
func (b *binder) functionColumns(ref *ast.FuncRef, call *setCall, name string) ([]typedColumn,
	error) {
	var cols []typedColumn
	switch {
	case call.fn == nil || len(call.fn.Columns) == 0:
		cols = []typedColumn{{name: name, t: call.t}}
	default:
		for _, c := range call.fn.Columns {
			cols = append(cols, typedColumn{name: c.Name, t: call.columnType(c)})
		}
	}
	if len(cols) == 1 && cols[0].name == name && ref.Alias != "" {
		cols[0].name = ref.Alias
	}
	if ref.ColumnDefs != nil {
		return nil, sqlerr.New(sqlerr.SyntaxError,
			"a column definition list is only allowed for functions returning \"record\"").At(
			int(ref.ColumnDefs[0].Name.Pos))
	}
	if ref.Ordinality {
		cols = append(cols, typedColumn{name: "ordinality", t: types.TInt8})
	}
	return cols, nil
}
