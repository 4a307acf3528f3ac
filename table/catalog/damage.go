package catalog

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/mvcc"
)

// Within names what has cells in the spans of raw keys: tables, indexes, and the schema.
func (ds *Describer) Within(raw []kv.Span) (names []string) {
	touched := func(span kv.Span) bool {
		return slices.ContainsFunc(mvcc.RawSpans(span),
			func(s kv.Span) bool { return slices.ContainsFunc(raw, s.Overlaps) })
	}
	for _, d := range ds.tables {
		if touched(d.IndexSpan(table.RowIndexID)) {
			names = append(names, "table "+ds.names[d.ID])
		}
		for i := range d.Indexes {
			if ix := &d.Indexes[i]; ix.ID != table.RowIndexID && touched(d.IndexSpan(ix.ID)) {
				names = append(names, "index "+ix.Name)
			}
		}
	}
	slices.SortFunc(names, strings.Compare)
	if touched(table.PrefixSpan([]byte{table.PrefixCatalog})) {
		names = append([]string{"the schema"}, names...)
	}
	return names
}
