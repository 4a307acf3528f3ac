package deparse

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
)

// tableExpr resolves an entry of FROM.
func (r *resolver) tableExpr(te ast.TableExpr) any {
	switch te := te.(type) {
	case *ast.TableRef:
		rel := &relation{alias: te.Alias, only: te.Only, listed: len(te.Columns) > 0}
		if r.enter(te, rel); rel.desc == nil {
			rel.cte = te.Name.Name
		}
		return rel
	case *ast.SubqueryRef:
		rel := &relation{alias: te.Alias, lateral: te.Lateral, listed: len(te.Columns) > 0}
		rel.sub = r.query(te.Query)
		r.enter(te, rel)
		return rel
	case *ast.FuncRef:
		rel := &relation{alias: te.Alias, lateral: te.Lateral, ordinal: te.Ordinality, listed: true}
		for _, f := range te.Funcs {
			rel.calls = append(rel.calls,
				tableCall{node: r.expr(f.Call), defs: r.notes.Definitions[f.Call]})
			rel.lateral = rel.lateral || r.reads(f.Call)
		}
		if rel.alias == "" {
			rel.alias = te.Funcs[0].Call.Name.Name
		}
		r.enter(te, rel)
		return rel
	case *ast.Join:
		return r.join(te)
	}
	r.fail(fmt.Errorf("deparse: FROM entry %T", te))
	return &relation{}
}

// enter adds an entry to those that the names of its query refer to.
func (r *resolver) enter(te ast.TableExpr, rel *relation) {
	r.tables[te] = rel
	r.scope.own[te] = true
	r.scope.rels = append(r.scope.rels, rel)
	note := r.notes.Tables[te]
	if note == nil {
		r.fail(fmt.Errorf("deparse: an entry of FROM without a note"))
		return
	}
	rel.desc, rel.columns = note.Desc, unique(note.Names)
	if rel.desc == nil {
		rel.real = note.Names
		for i := range note.Names {
			rel.listed = rel.listed || rel.columns[i] != note.Names[i]
		}
		return
	}
	for _, c := range visibleColumns(rel.desc) {
		rel.real = append(rel.real, c.Name)
	}
}

// unique adds a number to names that occur before.
func unique(names []string) []string {
	seen := map[string]bool{}
	for _, n := range names {
		seen[n] = true
	}
	if len(seen) == len(names) {
		return names
	}
	used := map[string]bool{}
	out := make([]string, len(names))
	for i, n := range names {
		name := n
		for k := 1; used[name] || k > 1 && seen[name]; k++ {
			name = n + "_" + position(k)
		}
		used[name] = true
		out[i] = name
	}
	return out
}

func visibleColumns(d *table.Desc) []*table.Column {
	var out []*table.Column
	for i := range d.Columns {
		if !d.Columns[i].Hidden {
			out = append(out, &d.Columns[i])
		}
	}
	return out
}

func (r *resolver) join(j *ast.Join) any {
	out := &joinExpr{kind: j.Kind, usingAlias: j.UsingAlias, left: r.tableExpr(j.Left),
		right: r.tableExpr(j.Right), combines: r.notes.Combined[j]}
	r.joins[j] = out
	for _, u := range j.Using {
		out.using = append(out.using, u.Name)
	}
	if j.Natural {
		out.using = common(columnsOf(out.left), columnsOf(out.right))
	}
	if j.On != nil {
		out.on = r.condition(j.On)
	}
	if j.Alias != "" {
		out.alias = &relation{alias: j.Alias, listed: len(j.Columns) > 0}
		r.enter(j, out.alias)
	}
	return out
}

// columnsOf returns the names of the columns of an entry of FROM, merged columns once.
func columnsOf(item any) []string {
	switch it := item.(type) {
	case *relation:
		return it.columns
	case *joinExpr:
		if it.alias != nil {
			return it.alias.columns
		}
		out := append([]string(nil), it.using...)
		for _, side := range []any{it.left, it.right} {
			for _, name := range columnsOf(side) {
				if !slices.Contains(it.using, name) {
					out = append(out, name)
				}
			}
		}
		return out
	}
	return nil
}

func common(left, right []string) []string {
	var out []string
	for _, name := range left {
		if slices.Contains(right, name) {
			out = append(out, name)
		}
	}
	return out
}
