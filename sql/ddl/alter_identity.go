package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/catalog"
)

// identity is ADD GENERATED, SET GENERATED and its sequence options, DROP IDENTITY.
func (a *alteration) identity(ctx context.Context, o int, act *ast.AlterAction) error {
	c := &a.d.Columns[o]
	if act.Kind == "add identity" {
		return a.addIdentity(ctx, o, act)
	}
	if c.Identity == "" {
		if act.Kind == "drop identity" && act.IfExists {
			a.env.notice("00000", "column \"%s\" of relation \"%s\" is not an identity column, "+
				"skipping", c.Name, a.d.Name)
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"column \"%s\" of relation \"%s\" is not an identity column", c.Name, a.d.Name)
	}
	seq, err := a.env.View.RelationByID(ctx, c.SequenceID)
	if err != nil {
		return err
	}
	next := a.d.Clone()
	if act.Kind == "drop identity" {
		next.Columns[o].Identity, next.Columns[o].SequenceID = "", 0
		if err := a.update(ctx, next); err != nil || seq == nil {
			return err
		}
		return a.env.View.DropRelation(ctx, seq)
	}
	if kind := identityKind(act); kind != "" && kind != c.Identity {
		next.Columns[o].Identity = kind
		if err := a.update(ctx, next); err != nil {
			return err
		}
	}
	if seq == nil || act.Sequence == (ast.SequenceOptions{}) {
		return nil
	}
	return a.env.changeSequence(ctx, seq, &act.Sequence)
}

// identityKind is what SET GENERATED says; "" when only sequence options were given.
func identityKind(act *ast.AlterAction) string {
	if act.Always {
		return "always"
	}
	if act.Sequence == (ast.SequenceOptions{}) {
		return "by default"
	}
	return ""
}

func (a *alteration) addIdentity(ctx context.Context, o int, act *ast.AlterAction) error {
	c := &a.d.Columns[o]
	state := func(format string) error {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, format, c.Name, a.d.Name)
	}
	switch {
	case !isSequenceType(c.Type):
		return badSequence("identity column type must be smallint, integer, or bigint")
	case !c.NotNull:
		return state("column \"%s\" of relation \"%s\" must be declared NOT NULL before identity " +
			"can be added")
	case c.Identity != "":
		return state("column \"%s\" of relation \"%s\" is already an identity column")
	case c.DefaultText != "":
		return state("column \"%s\" of relation \"%s\" already has a default value")
	}
	next := a.d.Clone()
	sc := catalog.Schema{ID: next.SchemaID, Database: next.DatabaseID, Name: next.Schema}
	if _, err := a.env.columnSequence(ctx, sc, next, &next.Columns[o], &act.Sequence); err != nil {
		return err
	}
	next.Columns[o].Identity = "by default"
	if act.Always {
		next.Columns[o].Identity = "always"
	}
	return a.update(ctx, next)
}
