package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) comment(ctx context.Context, s *ast.Comment) error {
	text := ""
	if s.Text != nil {
		text = *s.Text
	}
	switch s.Kind {
	case ast.TableObject, ast.ViewObject, ast.MaterializedViewObject, ast.SequenceObject,
		ast.IndexObject, ast.ColumnObject, ast.ConstraintObject, ast.PolicyObject:
		return env.commentRelation(ctx, s, text)
	case ast.TypeObject, ast.DomainObject, ast.DomainConstraintObject:
		return env.commentType(ctx, s, text)
	case ast.ExtensionObject:
		return env.commentExtension(ctx, s, text)
	case ast.RoleObject:
		return env.commentRole(ctx, s, text)
	case ast.LargeObject:
		return env.commentLargeObject(ctx, s.Name, text)
	case ast.SchemaObject:
		sc, ok, err := env.View.Schema(ctx, env.Database, s.Name.Name)
		if err != nil {
			return err
		}
		if !ok {
			return noSchema(s.Name.Name)
		}
		if a, err := env.authority(ctx); err != nil {
			return err
		} else if !a.Has(sc.OwnedBy()) {
			return notOwner(ast.SchemaObject, sc.Name)
		}
		sc.Comment = text
		return env.View.UpdateSchema(ctx, sc)
	case ast.DatabaseObject:
		db, ok, err := env.View.Database(ctx, s.Name.Name)
		if err != nil {
			return err
		}
		if !ok {
			return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist",
				s.Name.Name)
		}
		if a, err := env.authority(ctx); err != nil {
			return err
		} else if !a.Has(db.OwnedBy()) {
			return notOwner(ast.DatabaseObject, db.Name)
		}
		db.Comment = text
		return env.View.UpdateDatabase(ctx, db)
	}
	return sqlerr.Unsupported(int(s.Pos), "COMMENT ON "+string(s.Kind))
}

// commentRole is COMMENT ON ROLE.
func (env *Env) commentRole(ctx context.Context, s *ast.Comment, text string) error {
	a, err := env.authority(ctx)
	if err != nil {
		return err
	}
	r, err := namedRole(a, ast.RoleSpec{Name: s.Name.Name})
	switch {
	case err != nil:
		return err
	case r.Superuser && !a.Superuser():
		return denied("must be superuser")
	case !a.CreatesRoles():
		return denied("must have CREATEROLE privilege")
	case acl.Reserved(r.Name):
		return sqlerr.Unsupported(int(s.Name.Pos), "COMMENT ON ROLE "+r.Name)
	}
	next := *r
	next.Comment = text
	return env.View.UpdateRole(ctx, next)
}

func (env *Env) commentRelation(ctx context.Context, s *ast.Comment, text string) error {
	old, ix, err := env.lookup(ctx, s.Name)
	if err != nil {
		return err
	}
	if old == nil && s.Kind == ast.ColumnObject {
		d, err := env.composite(ctx, s.Name)
		if err != nil {
			return err
		}
		if d != nil {
			return env.commentAttribute(ctx, d, s.Column, text)
		}
	}
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(s.Name))
	}
	if err := env.mayComment(ctx, s, old, ix); err != nil {
		return err
	}
	if err := env.lock(ctx, old, rowlock.ShareUpdateExclusive); err != nil {
		return err
	}
	d := old.Clone()
	if s.Kind == ast.ConstraintObject {
		if err := commentConstraint(d, ix, s, text); err != nil {
			return err
		}
		return env.View.RelabelRelation(ctx, old, d)
	}
	if s.Kind == ast.PolicyObject {
		p := d.Policy(s.Column)
		if p == nil || ix != nil {
			return noPolicy(s.Column, s.Name.Name)
		}
		p.Comment = text
		return env.View.RelabelRelation(ctx, old, d)
	}
	switch {
	case s.Kind == ast.IndexObject && ix != nil:
		d.Index(ix.ID).Comment = text
	case s.Kind == ast.IndexObject || ix != nil:
		return wrongKind(s.Name.Name, s.Kind)
	case s.Kind == ast.ColumnObject:
		if d.Kind == table.KindSequence {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot set comment on relation \"%s\"",
				d.Name).
				WithDetail("This operation is not supported for sequences.")
		}
		c, err := column(d, ast.Ident{Name: s.Column})
		if err != nil {
			return err
		}
		d.Columns[c].Comment = text
	case s.Kind != kindOf(d):
		return wrongKind(s.Name.Name, s.Kind)
	default:
		d.Comment = text
	}
	return env.View.RelabelRelation(ctx, old, d)
}

func commentConstraint(d *table.Desc, ix *table.Index, s *ast.Comment, text string) error {
	if ix != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", s.Name.Name)
	}
	c := d.ConstraintComment(s.Column)
	if c == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not "+
			"exist", s.Column, s.Name.Name)
	}
	*c = text
	return nil
}

func wrongKind(name string, kind ast.ObjectKind) *sqlerr.Error {
	return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not %s", name, withArticle(kind))
}

func withArticle(kind ast.ObjectKind) string {
	if kind == ast.IndexObject {
		return "an index"
	}
	return "a " + string(kind)
}

// mayComment checks that the session owns what it comments on.
func (env *Env) mayComment(ctx context.Context, s *ast.Comment, d *table.Desc,
	ix *table.Index) error {
	a, err := env.authority(ctx)
	switch {
	case err != nil || a.Has(d.OwnedBy()):
		return err
	case ix != nil:
		return notOwner(ast.IndexObject, ix.Name)
	case s.Kind == ast.ColumnObject, s.Kind == ast.ConstraintObject, s.Kind == ast.PolicyObject:
		return denied("must be owner of relation %s", d.Name)
	}
	return notOwner(kindOf(d), d.Name)
}
