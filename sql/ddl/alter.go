package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) alter(ctx context.Context, s *ast.AlterTable) (tag string, err error) {
	tag = "ALTER " + s.Kind.Upper()
	if s.Name.Schema != "" && s.IfExists && !isSystemSchema(s.Name.Schema) {
		if _, ok, err := env.View.Schema(ctx, env.Database, s.Name.Schema); err != nil {
			return "", err
		} else if !ok {
			env.notice("00000", "relation \"%s\" does not exist, skipping", s.Name.Name)
			return tag, nil
		}
	}
	d, ix, err := env.lookup(ctx, s.Name)
	if err != nil {
		return "", err
	}
	if d == nil {
		if t, err := env.composite(ctx, s.Name); err != nil {
			return "", err
		} else if t != nil {
			return "", env.alterAsTable(ctx, s, t)
		}
		if s.IfExists {
			env.notice("00000", "relation \"%s\" does not exist, skipping", s.Name.Name)
			return tag, nil
		}
		return "", sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			display(s.Name))
	}
	if err := env.mayAlter(ctx, d, ix); err != nil {
		return "", err
	}
	if err := env.lock(ctx, d, alterMode(s, ix != nil)); err != nil {
		return "", err
	}
	if ix != nil {
		if s.Kind != ast.IndexObject && s.Kind != ast.TableObject {
			return "", wrongKind(ix.Name, s.Kind)
		}
		return tag, env.alterIndex(ctx, s, d, ix)
	}
	if err := alterKind(s, d); err != nil {
		return "", err
	}
	if !onlyNames(s) {
		if err := env.unused("ALTER TABLE", d); err != nil {
			return "", err
		}
	}
	a := &alteration{env: env, d: d}
	actions := inPasses(s.Actions)
	for i := range actions {
		if err := a.action(ctx, &actions[i]); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// mayAlter checks that the session owns what a statement alters.
func (env *Env) mayAlter(ctx context.Context, d *table.Desc, ix *table.Index) error {
	a, err := env.authority(ctx)
	if err != nil || a.Has(d.OwnedBy()) {
		return err
	}
	if ix != nil {
		return notOwner(ast.IndexObject, ix.Name)
	}
	return notOwner(kindOf(d), d.Name)
}

// inPasses returns actions in PostgreSQL's order: what is dropped goes before types change, these
// before columns are added, then columns get their properties, then come indexes and other
// constraints. Actions of one pass keep their order.
func inPasses(actions []ast.AlterAction) []ast.AlterAction {
	out := slices.Clone(actions)
	slices.SortStableFunc(out, func(a, b ast.AlterAction) int { return pass(&a) - pass(&b) })
	return out
}

func pass(a *ast.AlterAction) int {
	switch a.Kind {
	case "drop column", "drop constraint", "drop not null", "drop default", "drop identity",
		"drop expression":
		return 0
	case "set type":
		return 1
	case "add column":
		return 2
	case "set not null", "set identity":
		return 3
	case "add constraint":
		if c := a.Constraint; c != nil && (c.Kind == "primary key" || c.Kind == "unique" ||
			c.Kind == "exclude") {
			return 4
		}
		return 5
	case "set default", "add identity":
		return 5
	}
	return 6
}

// alterMode is the lock that the strongest action needs.
func alterMode(s *ast.AlterTable, index bool) rowlock.Mode {
	if index {
		return rowlock.ShareUpdateExclusive
	}
	mode := rowlock.ShareUpdateExclusive
	for i := range s.Actions {
		switch a := &s.Actions[i]; {
		case a.Kind == "set options", a.Kind == "reset options", a.Kind == "validate constraint",
			a.Kind == "cluster on", a.Kind == "set without cluster", a.Kind == "set statistics",
			a.Kind == "set column options", a.Kind == "reset column options":
		case a.Kind == "disable trigger", a.Kind == "enable trigger":
			mode = rowlock.ShareRowExclusive
		case a.Kind == "add constraint" && a.Constraint != nil &&
			a.Constraint.Kind == "foreign key":
			mode = rowlock.ShareRowExclusive
		default:
			return rowlock.AccessExclusive
		}
	}
	return mode
}

// onlyNames reports whether the statement changes only names.
func onlyNames(s *ast.AlterTable) bool {
	return !slices.ContainsFunc(s.Actions, func(a ast.AlterAction) bool {
		return !strings.HasPrefix(a.Kind, "rename") && a.Kind != "set schema"
	})
}

// alterKind verifies that the statement's kind fits the relation: ALTER TABLE may rename anything.
func alterKind(s *ast.AlterTable, d *table.Desc) error {
	if s.Kind == ast.IndexObject {
		return wrongKind(d.Name, ast.IndexObject)
	}
	if is := kindOf(d); s.Kind != is && s.Kind != ast.TableObject {
		return wrongKind(d.Name, s.Kind)
	}
	if d.Kind == table.KindTable {
		return nil
	}
	for i := range s.Actions {
		switch a := &s.Actions[i]; a.Kind {
		case "rename", "set schema", "owner":
		case "rename column":
			if d.View != nil {
				continue
			}
			return wrongKind(d.Name, ast.TableObject)
		case "set options", "reset options", "rename constraint":
			if d.Kind == table.KindMaterializedView || d.Kind == table.KindView &&
				a.Kind != "rename constraint" {
				continue
			}
			return unfit(a, d)
		case "set statistics", "set storage", "set compression", "set column options",
			"reset column options", "cluster on", "set without cluster":
			if d.Kind == table.KindMaterializedView {
				continue
			}
			return unfit(a, d)
		case "set default", "drop default":
			if d.Kind == table.KindView {
				continue
			}
			return unfit(a, d)
		default:
			return unfit(a, d)
		}
	}
	return nil
}

// unfit is the error for an action that relations of d's kind do not have.
func unfit(a *ast.AlterAction, d *table.Desc) error {
	action := strings.ToUpper(a.Kind)
	switch {
	case a.Kind == "set type":
		action = "ALTER COLUMN ... SET DATA TYPE"
	case a.AllTriggers:
		action += " ALL"
	case strings.HasSuffix(a.Kind, "able trigger") && a.Name.Name == "":
		action += " USER"
	case strings.HasPrefix(action, "SET "), strings.HasPrefix(action, "DROP ") &&
		a.Column.Name != "" && a.Kind != "drop column":
		action = "ALTER COLUMN ... " + action
	}
	return sqlerr.New(sqlerr.WrongObjectType,
		"ALTER action %s cannot be performed on relation \"%s\"", action, d.Name).
		WithDetail("This operation is not supported for %ss.", kindOf(d))
}

func (env *Env) alterIndex(ctx context.Context, s *ast.AlterTable, old *table.Desc,
	ix *table.Index) error {
	d := old
	for i := range s.Actions {
		a := &s.Actions[i]
		switch a.Kind {
		case "rename":
			if a.NewName.Name == ix.Name {
				return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", ix.Name)
			}
			next := d.Clone()
			next.Index(ix.ID).Name = a.NewName.Name
			if err := env.View.RelabelRelation(ctx, d, next); err != nil {
				return err
			}
			d = next
		case "set options", "reset options":
			next := d.Clone()
			to := next.Index(ix.ID)
			var err error
			if a.Kind == "set options" {
				to.Options, err = setIndexOptions(to.Method, to.Options, a.Options)
			} else {
				to.Options = resetIndexOptions(to.Options, a.Options)
			}
			if err != nil {
				return err
			}
			if err := env.View.RelabelRelation(ctx, d, next); err != nil {
				return err
			}
			d = next
		case "set statistics":
			next := d.Clone()
			if err := env.indexStatistics(next, next.Index(ix.ID), a); err != nil {
				return err
			}
			if err := env.View.RelabelRelation(ctx, d, next); err != nil {
				return err
			}
			d = next
		default:
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", ix.Name)
		}
	}
	return nil
}

// alteration is ALTER TABLE under way: d is the descriptor as the transaction has it after the
// actions so far.
type alteration struct {
	env *Env
	d   *table.Desc
	// withType is set where the columns of a typed table change with its type.
	withType bool
}

// update stores a changed descriptor.
func (a *alteration) update(ctx context.Context, next *table.Desc) error {
	if err := a.env.View.UpdateRelation(ctx, a.d, next); err != nil {
		return err
	}
	a.d = next
	return nil
}

func (a *alteration) action(ctx context.Context, act *ast.AlterAction) error {
	switch act.Kind {
	case "add column":
		return a.addColumn(ctx, act)
	case "drop column":
		return a.dropColumn(ctx, act)
	case "rename column":
		return a.renameColumn(ctx, act)
	case "rename":
		return a.rename(ctx, act)
	case "set schema":
		return a.setSchema(ctx, act)
	case "owner":
		return a.changeOwner(ctx, act.Owner)
	case "set options", "reset options":
		if a.d.Kind == table.KindView {
			return a.setViewOptions(ctx, act)
		}
		return a.setOptions(ctx, act)
	case "cluster on", "set without cluster":
		return a.clusterOn(ctx, act)
	case "set logged", "set unlogged":
		return a.setLogged(ctx, act)
	case "replica identity":
		return a.replicaIdentity(ctx, act)
	case "set without oids":
		return nil // there are none
	case "set statistics", "set storage", "set compression", "set column options",
		"reset column options":
		return a.alterColumnProperty(ctx, act)
	case "disable trigger", "enable trigger":
		return a.setTriggers(ctx, act)
	case "enable row security", "disable row security", "force row security",
		"no force row security":
		return a.setRowSecurity(ctx, act.Kind)
	case "add constraint":
		return a.addConstraint(ctx, act)
	case "drop constraint":
		return a.dropConstraint(ctx, act)
	case "rename constraint":
		return a.renameConstraint(ctx, act)
	case "validate constraint":
		return a.validateConstraint(ctx, act)
	case "alter constraint":
		return a.alterForeignKey(ctx, act)
	case "set type":
		return a.setType(ctx, act)
	case "of":
		return a.setOf(ctx, act)
	case "not of":
		return a.setNotOf(ctx)
	case "set default", "drop default", "set not null", "drop not null", "set identity",
		"add identity", "drop identity", "drop expression":
		return a.alterColumn(ctx, act)
	}
	return sqlerr.Unsupported(int(act.Pos), "ALTER TABLE action "+strings.ToUpper(act.Kind))
}

func (a *alteration) rename(ctx context.Context, act *ast.AlterAction) error {
	if act.NewName.Name == a.d.Name {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", a.d.Name)
	}
	next := a.d.Clone()
	next.Name = act.NewName.Name
	return a.replaceNames(ctx, next)
}

func (a *alteration) setSchema(ctx context.Context, act *ast.AlterAction) error {
	sc, ok, err := a.env.View.Schema(ctx, a.env.Database, act.NewName.Name)
	if err != nil {
		return err
	}
	if !ok {
		return noSchema(act.NewName.Name)
	}
	if err := a.env.mustCreateIn(ctx, sc); err != nil {
		return err
	}
	if sc.ID == a.d.SchemaID {
		return nil
	}
	if err := notTemporary(a.d.SchemaID, sc.ID); err != nil {
		return err
	}
	if a.d.Kind == table.KindSequence && a.d.Sequence.OwnerTable != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot move an owned sequence into another schema").
			WithDetail("Sequence \"%s\" is linked to a table.", a.d.Name)
	}
	if taken, err := a.env.View.Taken(ctx, a.env.Database, sc.Name, a.d.Name); err != nil {
		return err
	} else if taken {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists in schema \"%s\"",
			a.d.Name, sc.Name)
	}
	next := a.d.Clone()
	next.SchemaID, next.Schema = sc.ID, sc.Name
	if err := a.replaceNames(ctx, next); err != nil {
		return err
	}
	for i := range next.Columns {
		if err := a.moveSequence(ctx, next.Columns[i].SequenceID, next); err != nil {
			return err
		}
	}
	a.d, err = a.env.View.RelationByID(ctx, next.ID)
	return err
}

// moveSequence takes an owned sequence along to its table's schema.
func (a *alteration) moveSequence(ctx context.Context, id table.ID, t *table.Desc) error {
	if id == 0 {
		return nil
	}
	seq, err := a.env.View.RelationByID(ctx, id)
	if err != nil || seq == nil {
		return err
	}
	next := seq.Clone()
	next.SchemaID, next.Schema = t.SchemaID, t.Schema
	of := &alteration{env: a.env, d: seq}
	return of.replaceNames(ctx, next)
}
