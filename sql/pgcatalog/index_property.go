package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/table"
)

// indexProperty is pg_index_has_property and pg_index_column_has_property: "t", "f", or nothing
// where PostgreSQL gives NULL. extra is the property, or the number of a column and the property.
// All indexes are what PostgreSQL's btree is, but those of GIN.
func (r *reader) indexProperty(id table.ID, extra string) (string, bool) {
	d, ix := r.find(id)
	if ix == nil || d.IsQuery() {
		return "", false
	}
	column, property, ofColumn := strings.Cut(extra, " ")
	if !ofColumn {
		property := strings.ToLower(extra)
		has, known := map[string]bool{"clusterable": true, "index_scan": true,
			"bitmap_scan": true, "backward_scan": true}[property]
		return letter(has && (!ix.GIN() || property == "bitmap_scan")), known
	}
	n, err := strconv.Atoi(column)
	if err != nil || n < 1 || n > len(ix.Columns)+len(ix.Include) {
		return "", false
	}
	key := n <= len(ix.Columns)
	var c table.IndexColumn
	if key {
		c = ix.Columns[n-1]
	}
	property = strings.ToLower(property)
	if ix.GIN() {
		return letter(false), slices.Contains([]string{"asc", "desc", "nulls_first", "nulls_last",
			"orderable", "distance_orderable", "returnable", "search_array", "search_nulls"},
			property)
	}
	switch property {
	case "asc":
		return letter(!c.Desc), key
	case "desc":
		return letter(c.Desc), key
	case "nulls_first":
		return letter(c.NullsFirst), key
	case "nulls_last":
		return letter(!c.NullsFirst), key
	case "orderable":
		return letter(key), true
	case "distance_orderable":
		return letter(false), true
	case "returnable":
		return letter(true), true
	case "search_array", "search_nulls":
		return letter(true), key
	}
	return "", false
}

func letter(b bool) string {
	if b {
		return "t"
	}
	return "f"
}
