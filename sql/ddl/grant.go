package ddl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// grantTo is a GRANT or REVOKE with its roles and privileges resolved.
type grantTo struct {
	*ast.Grant
	grantees []acl.RoleID
	all      bool                      // ALL PRIVILEGES
	whole    acl.Privileges            // on the whole object
	columns  map[string]acl.Privileges // by column
}

// grant is GRANT and REVOKE of privileges on objects.
func (env *Env) grant(ctx context.Context, s *ast.Grant) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	if s.By != nil {
		by, err := namedRole(a, *s.By)
		if err != nil {
			return err
		}
		if by.ID != a.Current {
			return sqlerr.New(sqlerr.FeatureNotSupported, "grantor must be current user")
		}
	}
	class, ok := grantedClasses[s.Kind]
	if !ok {
		return sqlerr.Unsupported(int(s.KindPos), verb(s.Revoke)+" ON "+s.Kind)
	}
	changes, err := env.granted(ctx, s, class)
	if err != nil {
		return err
	}
	g, err := resolveGrant(a, s, class)
	if err != nil {
		return err
	}
	for _, change := range changes {
		if err := change(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// changeGrants changes what is granted on one object.
type changeGrants func(ctx context.Context, g *grantTo) error

// granted finds the objects of a statement: an error of theirs comes before one of its roles, and
// that before one of its privileges.
func (env *Env) granted(ctx context.Context, s *ast.Grant, class acl.Class) ([]changeGrants,
	error) {
	switch class {
	case acl.Database:
		return env.grantedDatabases(ctx, s)
	case acl.Schema:
		return env.grantedSchemas(ctx, s)
	case acl.Type:
		return env.grantedTypes(ctx, s)
	case acl.Function:
		return env.grantedRoutines(ctx, s)
	case acl.Relation, acl.Sequence:
		return env.grantedRelations(ctx, s)
	case acl.LargeObject:
		return env.grantedLargeObjects(ctx, s)
	}
	return env.grantedNamed(ctx, s, class)
}

func verb(revoke bool) string {
	if revoke {
		return "REVOKE"
	}
	return "GRANT"
}

// grantedClasses are the kinds of objects whose privileges can be granted.
var grantedClasses = map[string]acl.Class{"table": acl.Relation, "tables": acl.Relation,
	"sequence": acl.Sequence, "sequences": acl.Sequence, "database": acl.Database,
	"schema": acl.Schema, "schemas": acl.Schema, "type": acl.Type, "domain": acl.Type,
	"function": acl.Function, "procedure": acl.Function, "routine": acl.Function,
	"functions": acl.Function, "procedures": acl.Function, "routines": acl.Function,
	"language": acl.Language, "tablespace": acl.Tablespace, "parameter": acl.Parameter,
	"foreign-data wrapper": acl.ForeignDataWrapper, "foreign server": acl.ForeignServer,
	"large object": acl.LargeObject}

// resolveGrant finds the roles and privileges of a statement on objects of a class.
func resolveGrant(a *acl.Authority, s *ast.Grant, class acl.Class) (*grantTo, error) {
	g := &grantTo{Grant: s, columns: map[string]acl.Privileges{}}
	for _, r := range s.Roles {
		if r.Keyword == "public" {
			g.grantees = append(g.grantees, acl.Public)
			continue
		}
		role, err := namedRole(a, r)
		if err != nil {
			return nil, err
		}
		g.grantees = append(g.grantees, role.ID)
	}
	for _, p := range s.Privileges {
		if err := g.addPrivilege(p, class); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *grantTo) addPrivilege(p ast.GrantedPrivilege, class acl.Class) error {
	if p.Columns != nil && class != acl.Relation {
		return sqlerr.New(sqlerr.InvalidGrantOperation,
			"column privileges are only valid for relations")
	}
	if p.Name == "" {
		if p.Columns == nil {
			g.all, g.whole = true, class.All()
		}
		for _, c := range p.Columns {
			g.columns[c.Name] |= acl.Column.All()
		}
		return nil
	}
	one := acl.Named(p.Name)
	if one == 0 {
		return sqlerr.New(sqlerr.SyntaxError, "unrecognized privilege type \"%s\"", p.Name)
	}
	on, valid := class, class.All()
	if p.Columns != nil {
		on, valid = acl.Column, acl.Column.All()
	} else if g.Kind == "table" {
		valid |= acl.Sequence.All() // a sequence may be named as a table
	}
	if one&valid == 0 {
		noun := on.Noun()
		if g.Kind == string(ast.DomainObject) {
			noun = g.Kind
		}
		return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for %s",
			one, noun)
	}
	if p.Columns == nil {
		g.whole |= one
	}
	for _, c := range p.Columns {
		g.columns[c.Name] |= one
	}
	return nil
}

// target is one object, or column, whose list is to change.
type target struct {
	class   acl.Class
	kind    string // in messages, of a relation
	name    string
	of      string // the relation of a column
	owner   acl.RoleID
	list    acl.List // nil: the default
	parent  acl.List // of a column: the list of its relation
	all     bool
	granted acl.Privileges
}

// denied is the error for a session without any right on the object.
func (t *target) denied() error {
	if t.of != "" {
		return denied("permission denied for column \"%s\" of relation \"%s\"", t.name, t.of)
	}
	return denied("permission denied for %s %s", t.kind, t.name)
}

// apply returns the list of an object after a GRANT or REVOKE.
func (env *Env) apply(ctx context.Context, g *grantTo, t target) (acl.List, error) {
	a, err := env.authority(ctx)
	if err != nil {
		return nil, err
	}
	old := t.list.Or(t.class, t.owner)
	merged := append(t.parent[:len(t.parent):len(t.parent)], old...)
	grantor, can := a.Grantor(t.owner, merged, t.granted)
	if can == 0 && a.Granted(t.class, t.owner, merged, t.class.All()) == 0 &&
		a.As(grantor).Options(t.class, t.owner, merged, t.class.All()) == 0 {
		return nil, t.denied()
	}
	env.warnUngranted(g, &t, can)
	rules, list := a.Object(t.owner), old
	for _, grantee := range g.grantees {
		it := acl.Item{Grantee: grantee, Grantor: grantor}
		switch {
		case !g.Revoke:
			it.Granted = can
			if g.Option {
				it.Options = can
			}
			if err := g.mayHaveOptions(grantee); err != nil {
				return nil, err
			}
			list, err = rules.Grant(list, it)
		case g.Option:
			it.Options = can
			list, err = rules.Revoke(list, it, g.Cascade)
		default:
			it.Granted, it.Options = can, can
			list, err = rules.Revoke(list, it, g.Cascade)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.class == acl.Column && len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// mayHaveOptions refuses to grant PUBLIC what it could grant on.
func (g *grantTo) mayHaveOptions(grantee acl.RoleID) error {
	if grantee == acl.Public && g.Option && !g.Revoke {
		return sqlerr.New(sqlerr.InvalidGrantOperation,
			"grant options can only be granted to roles")
	}
	return nil
}

// warnUngranted says which privileges the session could not grant or revoke.
func (env *Env) warnUngranted(g *grantTo, t *target, can acl.Privileges) {
	if env.Notice == nil || can == t.granted || can != 0 && t.all {
		return
	}
	code, what := "01007", "no privileges were granted for"
	switch {
	case g.Revoke && can == 0:
		code, what = "01006", "no privileges could be revoked for"
	case g.Revoke:
		code, what = "01006", "not all privileges could be revoked for"
	case can != 0:
		what = "not all privileges were granted for"
	}
	text := fmt.Sprintf("%s \"%s\"", what, t.name)
	if t.of != "" {
		text = fmt.Sprintf("%s column \"%s\" of relation \"%s\"", what, t.name, t.of)
	}
	env.Notice("WARNING", code, text, "")
}

func (env *Env) grantedDatabases(ctx context.Context, s *ast.Grant) (out []changeGrants,
	err error) {
	for _, n := range s.Names {
		db, err := env.database(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, func(ctx context.Context, g *grantTo) error {
			db.ACL, err = env.apply(ctx, g, target{class: acl.Database, kind: "database",
				name: db.Name, owner: db.OwnedBy(), list: db.ACL, all: g.all, granted: g.whole})
			if err != nil {
				return err
			}
			return env.View.UpdateDatabase(ctx, db)
		})
	}
	return out, nil
}

func (env *Env) grantedSchemas(ctx context.Context, s *ast.Grant) (out []changeGrants, err error) {
	for _, n := range s.Names {
		sc, ok, err := env.View.Schema(ctx, env.Database, n.Name)
		switch {
		case err != nil:
			return nil, err
		case !ok && isSystemSchema(n.Name):
			return nil, sqlerr.Unsupported(int(n.Pos), verb(s.Revoke)+" ON SCHEMA "+n.Name)
		case !ok:
			return nil, noSchema(n.Name)
		}
		out = append(out, func(ctx context.Context, g *grantTo) error {
			sc.ACL, err = env.apply(ctx, g, target{class: acl.Schema, kind: "schema",
				name: sc.Name, owner: sc.OwnedBy(), list: sc.Privileges(), all: g.all,
				granted: g.whole})
			if err != nil {
				return err
			}
			return env.View.UpdateSchema(ctx, sc)
		})
	}
	return out, nil
}

// grantedRelations finds tables, views and sequences.
func (env *Env) grantedRelations(ctx context.Context, s *ast.Grant) (out []changeGrants,
	err error) {
	relations, err := env.relationsOf(ctx, s)
	for _, d := range relations {
		out = append(out, func(ctx context.Context, g *grantTo) error {
			if err := env.lock(ctx, d, rowlock.ShareUpdateExclusive); err != nil {
				return err
			}
			return env.grantRelation(ctx, g, d)
		})
	}
	return out, err
}

// relationsOf finds the relations that a statement names, or those in its schemas.
func (env *Env) relationsOf(ctx context.Context, g *ast.Grant) (out []*table.Desc, err error) {
	if g.InSchemas {
		for _, n := range g.Names {
			sc, ok, err := env.View.Schema(ctx, env.Database, n.Name)
			if err != nil {
				return nil, err
			}
			if !ok && !isSystemSchema(n.Name) {
				return nil, noSchema(n.Name)
			}
			all, err := env.relationsIn(ctx, sc)
			if err != nil {
				return nil, err
			}
			for _, d := range all {
				if (d.Kind == table.KindSequence) == (g.Kind == "sequences") {
					out = append(out, d)
				}
			}
		}
		return out, nil
	}
	for _, n := range g.Names {
		d, err := env.relation(ctx, n)
		if err != nil {
			return nil, err
		}
		if g.Kind == "sequence" && d.Kind != table.KindSequence {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", d.Name)
		}
		out = append(out, d)
	}
	return out, nil
}

func (env *Env) relationsIn(ctx context.Context, sc catalog.Schema) (out []*table.Desc, err error) {
	all, err := env.View.Relations(ctx, env.Database)
	for _, d := range all {
		if d.SchemaID == sc.ID {
			out = append(out, d)
		}
	}
	return out, err
}

func (env *Env) grantRelation(ctx context.Context, g *grantTo, old *table.Desc) error {
	d := old.Clone()
	class, whole := old.Class(), g.whole
	if g.all {
		whole = class.All()
	} else if class == acl.Sequence && whole&^class.All() != 0 {
		env.warn("0LP01", "sequence \"%s\" only supports USAGE, SELECT, and UPDATE privileges",
			d.Name)
		whole &= class.All()
	} else if class == acl.Relation && whole&^class.All() != 0 {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for table",
			whole&^class.All())
	}
	kind, err := "table", error(nil) // as PostgreSQL calls views here, too
	if class == acl.Sequence {
		kind = "sequence"
	}
	if whole != 0 || g.all {
		d.ACL, err = env.apply(ctx, g, target{class: class, kind: kind, name: d.Name,
			owner: d.OwnedBy(), list: d.ACL, all: g.all, granted: whole})
		if err != nil {
			return err
		}
	}
	if err := env.grantColumns(ctx, g, old, d, whole); err != nil {
		return err
	}
	return env.View.RelabelRelation(ctx, old, d)
}

// grantColumns changes the lists of a relation's columns. Privileges that are revoked on the whole
// relation are revoked on its columns too.
func (env *Env) grantColumns(ctx context.Context, g *grantTo, old, d *table.Desc,
	whole acl.Privileges) error {
	for name := range g.columns {
		if i := d.Column(name); i < 0 || d.Columns[i].Hidden {
			return noColumn(d, name)
		}
	}
	implied := acl.Privileges(0)
	if g.Revoke {
		implied = whole & acl.Column.All()
	}
	change := func(name string, list acl.List, granted acl.Privileges) (acl.List, error) {
		return env.apply(ctx, g, target{class: acl.Column, name: name, of: d.Name,
			owner: d.OwnedBy(), list: list, parent: old.ACL.Or(acl.Relation, d.OwnedBy()),
			all: granted == acl.Column.All(), granted: granted})
	}
	if implied != 0 && d.Kind != table.KindView {
		for _, name := range systemColumns { // they have no lists, but there may be a warning
			if _, err := change(name, nil, implied); err != nil {
				return err
			}
		}
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		granted := cmp.Or(g.columns[c.Name], implied)
		if granted == 0 || c.Hidden {
			continue
		}
		var err error
		if c.ACL, err = change(c.Name, c.ACL, granted); err != nil {
			return err
		}
	}
	return nil
}

// systemColumns are those of a relation with rows, in the order of their numbers.
var systemColumns = []string{"tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"}

func (env *Env) warn(code, format string, args ...any) {
	if env.Notice != nil {
		env.Notice("WARNING", code, fmt.Sprintf(format, args...), "")
	}
}
