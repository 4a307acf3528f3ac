package pgcatalog

import (
	"strconv"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// negativeDistinct is the share of rows from which on PostgreSQL shows the number of different
// values as a negated share of the rows: that number is then expected to grow with the table.
const negativeDistinct = 0.1

// statsRows are the rows of pg_stats. They hold values of columns: each is for roles that may read
// the column, and from which no policy hides rows.
func statsRows(r *reader, emit emitter) {
	for d := range r.relations() {
		if !d.HasRows() {
			continue
		}
		a, now := r.authority(), r.present(d)
		if a == nil || now == nil {
			return
		}
		t := r.statistics(d)
		if t == nil || now.Secured(a) {
			continue
		}
		for _, c := range visibleColumns(d) {
			s := t.Columns[c.ID]
			i := now.ColumnByID(c.ID)
			if s == nil || s.Type.OID != c.Type.OID || i < 0 || !now.Readable(a, &now.Columns[i]) {
				continue
			}
			distinct := s.Distinct
			if t.Rows > 0 && distinct > negativeDistinct*t.Rows {
				distinct = -min(1, distinct/t.Rows)
			}
			var correlation any
			if len(s.Bounds) > 0 || len(s.Common) > 1 {
				correlation = s.Correlation
			}
			emit("schemaname", d.Schema, "tablename", d.Name, "attname", c.Name, "inherited", false,
				"null_frac", s.NullFraction, "avg_width", int(s.Width+0.5), "n_distinct", distinct,
				"most_common_vals", r.values(s.Type, s.Common),
				"most_common_freqs", floats(s.Frequencies),
				"histogram_bounds", r.values(s.Type, s.Bounds), "correlation", correlation)
		}
	}
}

// values is the text of an array; NULL for none. PostgreSQL has a pseudo-type here, which can be
// cast to text, and from there to an array of the column's type, like this one.
func (r *reader) values(t *types.Type, vs []types.Datum) any {
	if len(vs) == 0 {
		return nil
	}
	return string(types.AppendText(nil, types.ArrayOf(t), types.NewArray(vs), r.env.Format()))
}

func floats(fs []float64) any {
	if len(fs) == 0 {
		return nil
	}
	elems := make([]types.Datum, len(fs))
	for i, f := range fs {
		elems[i] = types.NewFloat(float64(float32(f)))
	}
	return types.NewArray(elems)
}

// counterRows are the rows of pg_stat_all_tables. Row versions are not counted by table.
func counterRows(r *reader, emit emitter) {
	for d := range r.relations() {
		if !d.HasRows() {
			continue
		}
		c := r.counters(d)
		rows, byIndex := scansOf(d, &c)
		emit("relid", d.ID, "schemaname", d.Schema, "relname", d.Name, "seq_scan", rows.Scans,
			"seq_tup_read", rows.Read, "idx_scan", byIndex.Scans,
			"idx_tup_fetch", byIndex.Fetched, "n_tup_ins", c.Inserted,
			"n_tup_upd", c.Updated, "n_tup_del", c.Deleted, "n_tup_hot_upd", 0,
			"n_live_tup", c.Live, "n_dead_tup", nil, "n_mod_since_analyze", c.Modified,
			"n_ins_since_vacuum", c.InsertedSince, "last_vacuum", c.LastVacuum,
			"last_analyze", c.LastAnalyze, "last_autoanalyze", c.LastAutoanalyze,
			"vacuum_count", c.Vacuums, "analyze_count", c.Analyzes,
			"autoanalyze_count", c.Autoanalyzes)
	}
}

// scansOf adds up the scans of a table without an index, and those by the indexes that it has.
func scansOf(d *table.Desc, c *stats.Counters) (rows, byIndex stats.Scans) {
	rows = c.ScansOf(0)
	for i := range d.Indexes {
		s := c.ScansOf(d.Indexes[i].ID)
		byIndex.Scans += s.Scans
		byIndex.Fetched += s.Fetched
	}
	return rows, byIndex
}

// scans is how a table was read without an index, or by an index: the number of scans, of what they
// read, or of the rows that they fetched.
func (r *reader) scans(id table.ID, what string) (string, bool) {
	d, ix := r.find(id)
	if d == nil || !d.HasRows() {
		return "0", true
	}
	index := table.IndexID(0)
	if ix != nil {
		index = ix.ID
	}
	c := r.counters(d)
	s := c.ScansOf(index)
	n := s.Scans
	switch what {
	case "read":
		n = s.Read
	case "fetched":
		n = s.Fetched
	}
	return strconv.FormatInt(n, 10), r.err == nil
}

// size is the size of a relation in pg_class: rows, and PostgreSQL's blocks; -1 and 0 if the rows
// were never counted.
func size(t *stats.Table, entry func(*stats.Table) float64) (tuples float64, pages int64) {
	if t == nil {
		return -1, 0
	}
	return float64(float32(t.Rows)), stats.Pages(t.Rows, entry(t))
}

// entryBytes is the size of an index's entries.
func entryBytes(ix *table.Index) func(*stats.Table) float64 {
	return func(t *stats.Table) (bytes float64) {
		for _, id := range append(indexColumnIDs(ix), ix.Include...) {
			if c := t.Columns[id]; c != nil {
				bytes += c.Width * (1 - c.NullFraction)
			}
		}
		return bytes
	}
}

// bytes is the size of what: "" of a relation or an index, "indexes" of a table's indexes, "total"
// of both, "database" and "tablespace" of all that is in one. ANALYZE counts it; without that it is
// estimated from the counters of rows.
func (r *reader) bytes(id table.ID, what string) (string, bool) {
	switch what {
	case "database":
		n, ok := r.databaseBytes(func(db table.ID) bool { return db == id })
		return strconv.FormatInt(n, 10), ok
	case "tablespace": // what databases share is in pg_global, and is no table here
		_, ok := tablespaceName(id)
		n, _ := r.databaseBytes(func(table.ID) bool { return id == defaultTablespace })
		return strconv.FormatInt(n, 10), ok && r.err == nil
	}
	d, ix := r.find(id)
	if d == nil || d.Kind == table.KindVirtual || d.Kind == table.KindView {
		return "0", d != nil
	}
	n := r.sizes(d, ix, what)
	return strconv.FormatInt(n, 10), r.err == nil
}

// sizes is the size of an index, of a table's rows, of its indexes, or of both.
func (r *reader) sizes(d *table.Desc, ix *table.Index, what string) (n int64) {
	if d.Kind == table.KindSequence {
		return stats.PageBytes
	}
	t := r.statistics(d)
	if t == nil {
		t = r.guessed(d)
	}
	of := func(entry func(*stats.Table) float64) int64 {
		_, pages := size(t, entry)
		return pages * stats.PageBytes
	}
	if ix != nil {
		return of(entryBytes(ix))
	}
	if what != "indexes" {
		n = of(rowBytes)
	}
	if what == "indexes" || what == "total" {
		for i := range d.Indexes {
			n += of(entryBytes(&d.Indexes[i]))
		}
	}
	return n
}

// guessedWidth is the assumed size of a value whose type has no fixed size, as PostgreSQL assumes
// it.
const guessedWidth = 32

// guessed returns statistics of a table that was never analysed: as many rows as counted, as wide
// as their types.
func (r *reader) guessed(d *table.Desc) *stats.Table {
	rows := float64(max(r.counters(d).Live, 0))
	t := &stats.Table{Rows: rows, Columns: map[table.ColumnID]*stats.Column{}}
	for i := range d.Columns {
		width := float64(guessedWidth)
		if n := d.Columns[i].Type.Len; n > 0 {
			width = float64(n)
		}
		t.Columns[d.Columns[i].ID] = &stats.Column{Width: width}
		t.RowBytes += width
	}
	return t
}

// databaseBytes is the size of some databases: of all their relations. found reports whether there
// is one.
func (r *reader) databaseBytes(of func(db table.ID) bool) (n int64, found bool) {
	for _, db := range r.databases() {
		if !of(db.ID) {
			continue
		}
		found = true
		all, err := r.env.View().Relations(r.ctx, db.ID)
		r.fail(err)
		for _, d := range all {
			if d.HasRows() {
				n += r.sizes(d, nil, "total")
			}
		}
	}
	return n, found && r.err == nil
}

func rowBytes(t *stats.Table) float64 { return t.RowBytes }
