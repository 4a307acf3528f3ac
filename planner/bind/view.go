package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// viewRef expands a view: its query is bound with the search path with which the view was created,
// and cannot refer to the statement around it.
func (b *binder) viewRef(sc *scope, ref *ast.TableRef, d *table.Desc) *fromItem {
	if slices.Contains(b.views, d.ID) {
		panic(failure.At(0, sqlerr.InvalidObjectDefinition,
			"infinite recursion detected in rules for relation \"%s\"", d.Name))
	}
	right := b.need(d, acl.Select)
	q := b.viewQuery(d, sc.level())
	if len(q.Cols) < len(d.Columns) {
		panic(failure.At(0, sqlerr.InternalError, "view \"%s\" has lost columns", d.Name))
	}
	alias := d.Name
	if ref.Alias != "" {
		alias = ref.Alias
	}
	q.Cols = q.Cols[:len(d.Columns)]
	for i := range d.Columns {
		b.coerceOutput(q, i, d.Columns[i].Type, explicit, 0)
		q.Cols[i].Name = d.Columns[i].Name
	}
	if d.SecurityBarrier() {
		q.Node = &logical.Barrier{Child: q.Node}
	}
	it := b.derived(sc, q, alias, ref.Columns)
	t := it.tables[0]
	t.source = q.Node
	t.schema, t.aliased = d.Schema, ref.Alias != ""
	t.desc, t.right = d, right
	noteReads(t.cols, d, right)
	return it
}

func (b *binder) viewQuery(d *table.Desc, level int) *logical.Query {
	defer failure.Amend(withoutPosition)
	text := failure.Must(b.env.ParseQuery(d.View.Text))
	saved := b.path
	b.path = d.View.SearchPath
	if b.path == nil {
		b.path = []string{}
	}
	b.views = append(b.views, d.ID)
	as := b.as
	if b.as = d.OwnedBy(); d.SecurityInvoker() {
		b.as = 0
	}
	q := b.query(text, &scope{sel: &selectState{level: level}}, false)
	b.path, b.views, b.as = saved, b.views[:len(b.views)-1], as
	return q
}

// withoutPosition removes the position from an error, since it refers to the text of a view.
func withoutPosition(err error) error {
	if e, ok := err.(*sqlerr.Error); ok {
		c := *e
		c.Position = 0
		return &c
	}
	return err
}

// sequenceRef binds a sequence as a relation with columns last_value, log_cnt and is_called.
func (b *binder) sequenceRef(sc *scope, ref *ast.TableRef, d *table.Desc) *fromItem {
	if len(d.Columns) > 0 {
		return b.scan(sc, d, ref.Alias, ref.Columns, b.need(d, acl.Select))
	}
	panic(failure.Unsupported(ref.Name.Pos, "reading a sequence as a table"))
}
