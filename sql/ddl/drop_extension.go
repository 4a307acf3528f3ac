package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) dropExtensions(ctx context.Context, s *ast.Drop) error {
	dr := newDropper(env)
	for _, n := range s.Names {
		e, err := env.View.Extension(ctx, env.Database, n.Name)
		if err != nil {
			return err
		}
		if e == nil {
			if err := env.absent(s, sqlerr.UndefinedObject, n.Name); err != nil {
				return err
			}
			continue
		}
		if err := env.ownsExtension(ctx, e); err != nil {
			return err
		}
		if !dr.dropsExtension(e) {
			dr.what = append(dr.what, "extension "+e.Name)
			dr.extensions = append(dr.extensions, *e)
		}
	}
	for i := range dr.extensions {
		if err := dr.followExtension(ctx, &dr.extensions[i]); err != nil {
			return err
		}
	}
	return dr.run(ctx, s.Cascade)
}

func (dr *dropper) dropsExtension(e *catalog.Extension) bool {
	return slices.ContainsFunc(dr.extensions,
		func(o catalog.Extension) bool { return o.ID == e.ID })
}

// extensionsIn makes the extensions of a schema targets that depend on it.
func (dr *dropper) extensionsIn(ctx context.Context, sc catalog.Schema) error {
	return dr.extensionsThat(ctx, func(e *catalog.Extension) bool {
		if e.SchemaID != sc.ID || dr.dropsExtension(e) {
			return false
		}
		dr.depends("extension "+e.Name, "schema "+sqlname.Quote(sc.Name))
		return true
	})
}

// extensionsThat makes extensions of the database targets.
func (dr *dropper) extensionsThat(ctx context.Context,
	chosen func(e *catalog.Extension) bool) error {
	all, err := dr.env.View.Extensions(ctx, dr.env.Database)
	if err != nil {
		return err
	}
	for i := range all {
		e := all[i]
		if !chosen(&e) || dr.dropsExtension(&e) {
			continue
		}
		dr.extensions = append(dr.extensions, e)
		if err := dr.followExtension(ctx, &e); err != nil {
			return err
		}
	}
	return nil
}

// followExtension notes all that rests on members of an extension.
func (dr *dropper) followExtension(ctx context.Context, e *catalog.Extension) error {
	rels, err := dr.env.View.Relations(ctx, dr.env.Database)
	if err != nil {
		return err
	}
	for _, r := range rels {
		if !slices.Contains(catalog.UsedExtensions(r), e.Name) {
			continue
		}
		u := &extensionUser{dr: dr, e: e, r: r}
		if err := u.follow(ctx); err != nil {
			return err
		}
	}
	return dr.followTypesOver(ctx, e)
}

// followTypesOver notes the domains over an extension's types, and the attributes of them.
func (dr *dropper) followTypesOver(ctx context.Context, e *catalog.Extension) error {
	all, err := dr.env.View.Types(ctx, dr.env.Database)
	if err != nil {
		return err
	}
	for _, o := range all {
		if dr.going[o.ID] {
			continue
		}
		if o.Kind == types.KindDomain && ofExtension(o.Base.OID, e) {
			dr.going[o.ID] = true
			dr.depends(dr.env.describeType(o), dr.env.describeMemberType(o.Base.OID, e))
			if err := dr.followType(ctx, o); err != nil {
				return err
			}
			continue
		}
		for _, a := range o.Attributes {
			if ofExtension(a.Type.OID, e) {
				dr.depends("column "+sqlname.Quote(a.Name)+" of composite type "+
					dr.env.visibleTypeName(o), dr.env.describeMemberType(a.Type.OID, e))
				dr.parts = append(dr.parts, typePart{of: o.ID, attribute: a.Name})
			}
		}
	}
	return nil
}

func ofExtension(oid types.OID, e *catalog.Extension) bool {
	of := extension.Of(uint32(oid))
	return of != nil && of.Name == e.Name
}

// describeMemberType names a type of an extension, with the schema unless the search path has it.
func (env *Env) describeMemberType(oid types.OID, e *catalog.Extension) string {
	return "type " + env.memberPrefix(e) + types.TypeName(oid)
}

// memberPrefix is the schema before the name of a member, "" where the search path has it.
func (env *Env) memberPrefix(e *catalog.Extension) string {
	if e.Schema == "pg_catalog" || slices.Contains(env.SearchPath, e.Schema) {
		return ""
	}
	return sqlname.Quote(e.Schema) + "."
}

// describeMember names a function or an operator of an extension.
func (env *Env) describeMember(fn *expr.Func, e *catalog.Extension) string {
	args := make([]string, len(fn.Args))
	for i, t := range fn.Args {
		args[i] = t.SQLName()
	}
	kind := "function "
	if fn.Name == "" || strings.ContainsRune("+-*/<>=~!@#%^&|`?", rune(fn.Name[0])) {
		if kind = "operator "; len(args) == 1 {
			args = []string{"NONE", args[0]}
		}
		return kind + env.memberPrefix(e) + fn.Name + "(" + strings.Join(args, ",") + ")"
	}
	return kind + env.memberPrefix(e) + sqlname.Quote(fn.Name) + "(" + strings.Join(args, ",") + ")"
}

// extensionUser is a relation that needs an extension.
type extensionUser struct {
	dr *dropper
	e  *catalog.Extension
	r  *table.Desc
}

// follow notes what of the relation rests on the extension: a view goes, a table loses columns,
// defaults, constraints and indexes.
func (u *extensionUser) follow(ctx context.Context) error {
	dr, r := u.dr, u.r
	if dr.going[r.ID] {
		return nil
	}
	if r.Kind != table.KindTable {
		on, err := u.viewMember(ctx)
		if err != nil {
			return err
		}
		dr.going[r.ID] = true
		dr.depends(dr.env.describe(r), on)
		return dr.follow(ctx, r)
	}
	if err := dr.env.lock(ctx, r, rowlock.AccessExclusive); err != nil {
		return err
	}
	if err := dr.env.unused("DROP EXTENSION", r); err != nil {
		return err
	}
	for i := range r.Columns {
		if err := u.column(ctx, &r.Columns[i]); err != nil {
			return err
		}
	}
	return u.constraintsAndIndexes(ctx)
}

func (u *extensionUser) column(ctx context.Context, c *table.Column) error {
	dr := u.dr
	part := tableColumn{table: u.r.ID, column: c.ID, part: "column"}
	what := "column " + sqlname.Quote(c.Name) + " of " + dr.env.describe(u.r)
	for t := c.Type; t != nil; t = t.Elem {
		if ofExtension(t.OID, u.e) {
			dr.depends(what, dr.env.describeMemberType(c.Type.OID, u.e))
			dr.columns = append(dr.columns, part)
			return u.viewsOf(ctx, c.Name)
		}
	}
	found, err := u.text(ctx, part, what, u.r, c.Generated, c.Type)
	if found || err != nil {
		return err
	}
	part.part = "default"
	_, err = u.text(ctx, part, "default value for "+what, nil, c.DefaultText, c.Type)
	return err
}

// viewsOf notes the views that cannot do without a column.
func (u *extensionUser) viewsOf(ctx context.Context, column string) error {
	a := &alteration{env: u.dr.env, d: u.r}
	views, err := a.viewsOf(ctx, column)
	if err != nil {
		return err
	}
	for _, v := range views {
		if u.dr.going[v.ID] {
			continue
		}
		u.dr.going[v.ID] = true
		u.dr.depends(u.dr.env.describe(v), "column "+sqlname.Quote(column)+" of "+
			u.dr.env.describe(u.r))
		if err := u.dr.follow(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

func (u *extensionUser) constraintsAndIndexes(ctx context.Context) error {
	r := u.r
	for i := range r.Checks {
		name := r.Checks[i].Name
		part := tableColumn{table: r.ID, part: "check", name: name}
		what := "constraint " + sqlname.Quote(name) + " on " + u.dr.env.describe(r)
		if _, err := u.text(ctx, part, what, r, r.Checks[i].Text, types.TBool); err != nil {
			return err
		}
	}
	for i := range r.Indexes {
		if err := u.index(ctx, &r.Indexes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (u *extensionUser) index(ctx context.Context, ix *table.Index) error {
	part := tableColumn{table: u.r.ID, part: "index", name: ix.Name}
	what := "index " + sqlname.Quote(ix.Name)
	if ix.Exclusion() {
		what = "constraint " + sqlname.Quote(ix.Name) + " on " + u.dr.env.describe(u.r)
	}
	if t := u.r.ScalarInGist(ix); t != nil && u.e.Name == extension.BtreeGist {
		u.dr.depends(what, "operator class "+u.dr.env.memberPrefix(u.e)+gistClass(t)+
			" for access method gist")
		u.dr.columns = append(u.dr.columns, part)
		return nil
	}
	found, err := u.text(ctx, part, what, u.r, ix.WhereText, types.TBool)
	if found || err != nil {
		return err
	}
	for _, k := range ix.Columns {
		if ix.GIN() && gin.Extension(k.OpClass) == u.e.Name {
			u.dr.depends(what, "operator class "+u.dr.env.memberPrefix(u.e)+k.OpClass+
				" for access method "+ix.Method)
			u.dr.columns = append(u.dr.columns, part)
			return nil
		}
		for j := range u.r.Exprs {
			x := &u.r.Exprs[j]
			if x.ID != k.ColumnID {
				continue
			}
			if found, err := u.text(ctx, part, what, u.r, x.Text, x.Type); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// text notes a part of the table if its text names a member of the extension.
func (u *extensionUser) text(ctx context.Context, part tableColumn, what string, row *table.Desc,
	text string, want *types.Type) (found bool, err error) {
	if !slices.Contains(extension.NamedIn(text), u.e.Name) {
		return false, nil
	}
	on := u.member(func(opts deparse.Options) error {
		_, err = deparse.Stored(ctx, u.dr.env.Planner, row, text, want, opts)
		return err
	})
	if err != nil || on == "" {
		return false, err
	}
	u.dr.depends(what, on)
	u.dr.columns = append(u.dr.columns, part)
	return true, nil
}

// viewMember names the member that a view rests on.
func (u *extensionUser) viewMember(ctx context.Context) (on string, err error) {
	for i := range u.r.Columns {
		if t := u.r.Columns[i].Type; ofExtension(t.OID, u.e) {
			on = u.dr.env.describeMemberType(t.OID, u.e)
		}
	}
	if named := u.member(func(opts deparse.Options) error {
		_, err = deparse.View(ctx, u.dr.env.Planner, u.r, opts)
		return err
	}); named != "" {
		on = named
	}
	return on, err
}

// member names the first member that a stored text names, which print prints.
func (u *extensionUser) member(print func(deparse.Options) error) (on string) {
	opts := deparse.Options{Source: true, Member: func(fn *expr.Func) {
		if fn.Extension == u.e.Name && on == "" {
			on = u.dr.env.describeMember(fn, u.e)
		}
	}, MemberType: func(t *types.Type) {
		if ofExtension(t.OID, u.e) && on == "" {
			on = u.dr.env.describeMemberType(t.OID, u.e)
		}
	}}
	if print(opts) != nil {
		return ""
	}
	return on
}
