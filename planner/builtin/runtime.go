package builtin

import (
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// location returns the session's time zone.
func location(rt *expr.Runtime) *time.Location {
	if rt.Location != nil {
		return rt.Location
	}
	if rt.Format.Location != nil {
		return rt.Format.Location
	}
	return time.UTC
}

// session returns the session, or an error where a function runs without one.
func session(rt *expr.Runtime) (expr.Session, error) {
	if rt.Session == nil {
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "there is no session to ask")
	}
	return rt.Session, nil
}

// textOf returns a value's text output.
func textOf(rt *expr.Runtime, t *types.Type, d types.Datum) string {
	if t.Family == types.String {
		return padded(t, d.S)
	}
	return types.Text(t, d, &rt.Format)
}
