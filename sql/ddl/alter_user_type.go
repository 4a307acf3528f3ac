package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// alterType is ALTER TYPE and ALTER DOMAIN.
func (env *Env) alterType(ctx context.Context, s *ast.AlterType) (tag string, err error) {
	tag = "ALTER " + s.Kind.Upper()
	if s.Kind == ast.TypeObject && onAttributes(s) {
		return tag, env.alterAttributes(ctx, s)
	}
	d, err := env.userType(ctx, s.Name)
	if err != nil {
		return "", err
	}
	if s.Kind == ast.DomainObject && d.Kind != types.KindDomain {
		return "", sqlerr.New(sqlerr.WrongObjectType, "%s is not a domain", env.visibleTypeName(d))
	}
	if s.Actions[0].Kind != "owner" { // which asks for the role first
		if err := env.ownsType(ctx, d); err != nil {
			return "", err
		}
	}
	if err := env.lockType(ctx, d, rowlock.AccessExclusive); err != nil {
		return "", err
	}
	for i := range s.Actions {
		if d, err = env.View.UserType(ctx, d.ID); err != nil {
			return "", err
		}
		if err := env.alterTypeAction(ctx, d, &s.Actions[i]); err != nil {
			return "", err
		}
	}
	return tag, nil
}

func (env *Env) alterTypeAction(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	switch a.Kind {
	case "rename":
		next := d.Clone()
		next.Name = a.NewName.Name
		return env.renameType(ctx, d, next)
	case "set schema":
		return env.moveType(ctx, d, a)
	case "owner":
		return env.giveType(ctx, d, a.Owner)
	case "add value", "rename value":
		if d.Kind != types.KindEnum {
			return sqlerr.New(sqlerr.WrongObjectType, "%s is not an enum", env.visibleTypeName(d))
		}
		if a.Kind == "add value" {
			return env.addValue(ctx, d, a)
		}
		return env.renameValue(ctx, d, a)
	}
	if d.Kind == types.KindDomain {
		return env.alterDomain(ctx, d, a)
	}
	return sqlerr.Unsupported(int(a.Pos), "ALTER TYPE action "+a.Kind)
}

func (env *Env) moveType(ctx context.Context, d *catalog.TypeDesc, a *ast.AlterTypeAction) error {
	sc, ok, err := env.View.Schema(ctx, env.Database, a.NewName.Name)
	if err != nil {
		return err
	}
	if !ok {
		return noSchema(a.NewName.Name)
	}
	if sc.ID == d.SchemaID {
		return nil
	}
	taken, err := env.View.TypeTaken(ctx, d.DatabaseID, sc.ID, d.Name)
	if err != nil {
		return err
	}
	if taken {
		return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists in schema \"%s\"",
			d.Name, sc.Name)
	}
	next := d.Clone()
	next.SchemaID, next.Schema = sc.ID, sc.Name
	return env.renameType(ctx, d, next)
}

// renameType gives a type another name or schema. Texts that mention it are printed anew.
func (env *Env) renameType(ctx context.Context, d, next *catalog.TypeDesc) error {
	if d.Kind == types.KindComposite {
		if err := env.relationFree(ctx, next); err != nil {
			return err
		}
	}
	if d.Name == next.Name && d.SchemaID == next.SchemaID {
		return catalog.DuplicateType(d.Name)
	}
	return env.relabelType(ctx, d, next)
}

// relationFree refuses a name for a composite type that a relation or another such type has: to
// PostgreSQL both are relations.
func (env *Env) relationFree(ctx context.Context, next *catalog.TypeDesc) error {
	taken, err := env.View.Taken(ctx, env.Database, next.Schema, next.Name)
	if err != nil {
		return err
	}
	if !taken {
		t, err := env.composite(ctx, ast.Name{Schema: next.Schema, Name: next.Name})
		if err != nil || t == nil {
			return err
		}
	}
	return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", next.Name)
}

// relabelType replaces a type by one whose name, or the names of whose parts, differ. Texts that
// mention these are printed anew; they are read while the old names still hold.
func (env *Env) relabelType(ctx context.Context, d, next *catalog.TypeDesc) error {
	u, err := env.naming(ctx, d)
	if err != nil {
		return err
	}
	return env.relabel(ctx, u, d, next, false)
}

// relabel is relabelType with what may mention the type; exclude is that of catalog.UpdateType.
func (env *Env) relabel(ctx context.Context, u *users, d, next *catalog.TypeDesc,
	exclude bool) error {
	to, err := env.View.Built(ctx, next)
	if err != nil {
		return err
	}
	list, domains, err := u.reprinted(ctx, renamingType(to))
	if err != nil {
		return err
	}
	if err := env.putReprinted(ctx, list, domains); err != nil {
		return err
	}
	return env.View.UpdateType(ctx, d, next, exclude)
}

// naming lists what may name a type or its parts: a field is named without its type.
func (env *Env) naming(ctx context.Context, d *catalog.TypeDesc) (u *users, err error) {
	if d.Kind == types.KindComposite {
		return env.usersOf(ctx, d.ID)
	}
	u = &users{env: env}
	u.relations, u.types, err = env.View.TypeDependents(ctx, d.ID)
	return u, err
}

// addValue gives an enum another label. No row changes.
func (env *Env) addValue(ctx context.Context, d *catalog.TypeDesc, a *ast.AlterTypeAction) error {
	if err := checkLabel(a.Label); err != nil {
		return err
	}
	if labelNamed(d, a.Label.Text) >= 0 {
		if a.IfNotExists {
			env.notice(sqlerr.DuplicateObject, "enum label \"%s\" already exists, skipping",
				a.Label.Text)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", a.Label.Text)
	}
	at := len(d.Labels)
	if a.Neighbor != nil {
		if at = labelNamed(d, a.Neighbor.Text); at < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue,
				"\"%s\" is not an existing enum label", a.Neighbor.Text)
		}
		if !a.Before {
			at++
		}
	}
	var after, before string
	if at > 0 {
		after = string(d.Labels[at-1].Key)
	}
	if at < len(d.Labels) {
		before = string(d.Labels[at].Key)
	}
	id, err := env.View.NewID(ctx)
	if err != nil {
		return err
	}
	next := d.Clone()
	next.Labels = slices.Insert(next.Labels, at, catalog.TypeLabel{OID: id, Name: a.Label.Text,
		Key: []byte(types.EnumKeyBetween(after, before))})
	sortLabel(next.Labels, at)
	return env.View.UpdateType(ctx, d, next, false)
}

// sortLabel gives a new label a number in pg_enum: one beside the first or last, or the middle
// between its neighbors. Where there is none all labels are numbered anew.
func sortLabel(labels []catalog.TypeLabel, at int) {
	switch {
	case len(labels) == 1:
		labels[at].Sort = 1
	case at == 0:
		labels[at].Sort = labels[1].Sort - 1
	case at == len(labels)-1:
		labels[at].Sort = labels[at-1].Sort + 1
	default:
		low, high := labels[at-1].Sort, labels[at+1].Sort
		labels[at].Sort = (low + high) / 2
		if labels[at].Sort > low && labels[at].Sort < high {
			return
		}
		for i := range labels {
			labels[i].Sort = float32(i + 1)
		}
	}
}

func (env *Env) renameValue(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	at := labelNamed(d, a.Label.Text)
	if at < 0 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "\"%s\" is not an existing enum label",
			a.Label.Text)
	}
	if err := checkLabel(a.NewLabel); err != nil {
		return err
	}
	if labelNamed(d, a.NewLabel.Text) >= 0 {
		return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists",
			a.NewLabel.Text)
	}
	next := d.Clone()
	next.Labels[at].Name = a.NewLabel.Text
	return env.relabelType(ctx, d, next)
}

// commentAttribute is COMMENT ON COLUMN of a composite type.
func (env *Env) commentAttribute(ctx context.Context, d *catalog.TypeDesc, name,
	text string) error {
	if err := env.ownsType(ctx, d); err != nil {
		return err
	}
	if err := env.lockType(ctx, d, rowlock.ShareUpdateExclusive); err != nil {
		return err
	}
	i := attributeNamed(d, name)
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist",
			name, env.visibleTypeName(d))
	}
	next := d.Clone()
	next.Attributes[i].Comment = text
	return env.View.UpdateType(ctx, d, next, false)
}

// commentType is COMMENT ON TYPE and ON DOMAIN.
func (env *Env) commentType(ctx context.Context, s *ast.Comment, text string) error {
	d, err := env.userType(ctx, s.Name)
	if err != nil {
		return err
	}
	if s.Kind != ast.TypeObject && d.Kind != types.KindDomain {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", s.Name.Name)
	}
	if err := env.ownsType(ctx, d); err != nil {
		return err
	}
	if err := env.lockType(ctx, d, rowlock.ShareUpdateExclusive); err != nil {
		return err
	}
	next := d.Clone()
	if s.Kind != ast.DomainConstraintObject {
		next.Comment = text
		return env.View.UpdateType(ctx, d, next, false)
	}
	i := slices.IndexFunc(next.Checks,
		func(c catalog.DomainCheck) bool { return c.Name == s.Column })
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedObject,
			"constraint \"%s\" for domain %s does not exist", s.Column, sqlname.Quote(d.Name))
	}
	next.Checks[i].Comment = text
	return env.View.UpdateType(ctx, d, next, false)
}
