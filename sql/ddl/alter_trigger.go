package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// setTriggers is DISABLE and ENABLE TRIGGER. The only triggers that there are are those of foreign
// keys: with ALL, changes of the table's rows are no longer checked and have no actions, until they
// are enabled again. That does not look at what was written meanwhile.
func (a *alteration) setTriggers(ctx context.Context, act *ast.AlterAction) error {
	if act.Name.Name != "" {
		return sqlerr.New(sqlerr.UndefinedObject, "trigger \"%s\" for table \"%s\" does not exist",
			act.Name.Name, a.d.Name)
	}
	disabled := act.Kind == "disable trigger"
	if !act.AllTriggers || a.d.TriggersDisabled == disabled {
		return nil
	}
	auth, err := a.env.authority(ctx)
	if err != nil {
		return err
	}
	if r := auth.Roles.ByID(auth.Current); a.d.References() && (r == nil || !r.Superuser) {
		return denied("permission denied: \"RI_ConstraintTrigger\" is a system trigger")
	}
	next := a.d.Clone()
	next.TriggersDisabled = disabled
	return a.update(ctx, next)
}
