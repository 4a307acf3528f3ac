package sql

import (
	"strconv"

	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// updatable returns the commands that a relation takes, as pg_relation_is_updatable does. column is
// the number of the only column to consider, "" for all.
func (f *accessor) updatable(oid types.OID, column string) (string, bool) {
	d := pgcatalog.ByID(table.ID(oid))
	if d != nil && pgcatalog.KindName(d) == "view" {
		return "0", true
	}
	if d == nil {
		var err error
		if d, err = f.s.tx.view.RelationByID(f.ctx, table.ID(oid)); err != nil || d == nil {
			return "0", err == nil
		}
	}
	var columns []int
	if column != "" {
		n, err := strconv.Atoi(column)
		i := d.ColumnByID(table.ColumnID(n))
		if err != nil || n <= 0 || i < 0 {
			return "0", true
		}
		columns = []int{i}
	}
	events, err := bind.UpdateEvents(f.ctx, f.s.plannerEnv(f.ctx), d, columns)
	return strconv.Itoa(events), err == nil
}
