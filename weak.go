package minidb

import (
	"context"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
)

// Notify makes the commit of the transaction ask an observer to run on a row of its table, which
// need not have changed, nor exist: a weak notification (OSDI 2010, §2.4). key has the values of
// the table's primary key. The observer's function gets a Change with Weak set.
//
// No row is written, so transactions that notify of one row do not conflict, and several
// notifications of a row are one run. The run is after the commit, and may happen more than once.
//
// Errors are an [*Error]: 42704 when there is no such observer, 55000 when its table has no primary
// key, 22023 when key has not as many values as that.
func (t *Tx) Notify(ctx context.Context, observer string, key ...any) error {
	cols, err := t.h.observerKey(ctx, observer)
	if err != nil {
		return err
	}
	if len(cols) != len(key) {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"the table of observer \"%s\" has a primary key of %d columns, and %d are given",
			observer, len(cols), len(key))
	}
	var object strings.Builder
	for i, c := range cols {
		if i > 0 {
			object.WriteString(", ")
		}
		object.WriteString(sqlname.Literal(c.Name) + ", $" + strconv.Itoa(i+2) + "::" +
			c.Type.String())
	}
	_, err = t.Exec(ctx, "SELECT minidb_notify($1, jsonb_build_object("+object.String()+"))",
		append([]any{observer}, key...)...)
	return err
}
