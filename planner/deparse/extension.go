package deparse

import (
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// extensions returns what finds the members of extensions by the session's search path.
func (r *resolver) extensions() *extension.Scope {
	if !r.scoped && r.env.Extensions != nil {
		scope, err := r.env.Extensions(r.ctx)
		if err != nil {
			r.fail(err)
		}
		r.members = scope
	}
	r.scoped = true
	return r.members
}

// in is the scope of the names in the text: none in a stored one.
func (r *resolver) in() *extension.Scope {
	if r.opts.Stored {
		return nil
	}
	return r.extensions()
}

func (r *resolver) named(n ast.Name) builtin.Name {
	return builtin.Name{Scope: r.in(), Schema: n.Schema, Name: n.Name}
}

func (r *resolver) operatorNamed(op string) builtin.Name {
	return builtin.OperatorName(r.in(), op)
}

// memberSchema is the schema to print before the name of an extension's function; "": none, since
// its plain name means it.
func (r *resolver) memberSchema(fn *expr.Func) string {
	if r.opts.Member != nil {
		r.opts.Member(fn)
	}
	plain := builtin.Name{Scope: r.extensions(), Name: fn.Name}
	return r.schemaUnless(fn.Extension, func() bool { return means(plain.Functions(), fn) })
}

func means(found []*expr.Func, fn *expr.Func) bool {
	for _, f := range found {
		if f == fn {
			return true
		}
	}
	return false
}

func (r *resolver) aggregateSchema(a *expr.Aggregate) string {
	if a.Extension == "" {
		return ""
	}
	if r.opts.Member != nil {
		r.opts.Member(&expr.Func{Name: a.Name, Args: a.Args, Extension: a.Extension})
	}
	plain := builtin.Name{Scope: r.extensions(), Name: a.Name}
	return r.schemaUnless(a.Extension, func() bool {
		for _, f := range plain.Aggregates() {
			if f == a {
				return true
			}
		}
		return false
	})
}

// schemaUnless is the schema of an extension in a text, unless the plain name of the member is
// enough there. The catalog's own texts always have one.
func (r *resolver) schemaUnless(name string, plain func() bool) string {
	if r.opts.Source {
		return extension.StoredSchema(name)
	}
	c := r.extensions().Find(name)
	if c == nil || plain() {
		return ""
	}
	return c.Schema
}

// operatorText is the spelling of an operator, with its schema where its plain spelling does not
// mean it.
func (r *resolver) operatorText(fn *expr.Func) string {
	if fn.Extension == "" {
		return fn.Name
	}
	if r.opts.Member != nil {
		r.opts.Member(fn)
	}
	plain := builtin.Name{Scope: r.extensions(), Name: fn.Name}
	schema := r.schemaUnless(fn.Extension,
		func() bool { return means(plain.Operators(len(fn.Args) == 1), fn) })
	if schema == "" {
		return fn.Name
	}
	return schema + "." + fn.Name
}

// memberType writes a type, or one of arrays of it, of an extension.
func (p *printer) memberType(t, elem *types.Type, name string) string {
	if p.opts.MemberType != nil {
		p.opts.MemberType(elem)
	}
	text := sqlname.Qualified(extension.StoredSchema(name), elem.Name)
	if !p.opts.Source && p.opts.Type != nil {
		text = p.opts.Type(elem)
	}
	if t.Nests() {
		text += "[]"
	}
	return text
}
