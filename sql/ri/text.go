package ri

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
)

// Orphans is a query for a row whose values of a foreign key's columns no referenced row has, or
// that breaks MATCH FULL: its result are these values.
func Orphans(child, parent *table.Desc, fk *table.ForeignKey) string {
	cols := make([]string, len(fk.Columns))
	var on, set []string
	for i, id := range fk.Columns {
		cols[i] = "c." + sqlname.Quote(child.Columns[child.ColumnByID(id)].Name)
		on = append(on, "p."+sqlname.Quote(
			parent.Columns[parent.ColumnByID(fk.RefColumns[i])].Name)+" = "+cols[i])
		set = append(set, cols[i]+" IS NOT NULL")
	}
	cond := strings.Join(set, " AND ")
	if fk.MatchFull {
		cond = strings.Join(set, " OR ")
	}
	return "SELECT " + strings.Join(cols, ", ") + " FROM " + name(child) + " c WHERE (" + cond +
		") AND NOT EXISTS (SELECT 1 FROM " +
		name(parent) + " p WHERE " + strings.Join(on, " AND ") + ") LIMIT 1"
}

func name(d *table.Desc) string { return sqlname.Qualified(d.Schema, d.Name) }

// where compares columns with the parameters from $n on.
func where(d *table.Desc, cols []table.ColumnID, n int) string {
	return strings.Join(pairs(d, cols, n), " AND ")
}

// assign sets columns to the parameters from $n on.
func assign(d *table.Desc, cols []table.ColumnID, n int) string {
	return strings.Join(pairs(d, cols, n), ", ")
}

// assignWord sets columns to NULL or DEFAULT.
func assignWord(d *table.Desc, cols []table.ColumnID, word string) string {
	out := make([]string, len(cols))
	for i, id := range cols {
		out[i] = sqlname.Quote(d.Columns[d.ColumnByID(id)].Name) + " = " + word
	}
	return strings.Join(out, ", ")
}

func pairs(d *table.Desc, cols []table.ColumnID, n int) []string {
	out := make([]string, len(cols))
	for i, id := range cols {
		out[i] = sqlname.Quote(d.Columns[d.ColumnByID(id)].Name) + " = $" + strconv.Itoa(n+i)
	}
	return out
}
