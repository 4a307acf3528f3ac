package pgcatalog

import (
	"context"
	"slices"
	"time"

	"github.com/minidb/minidb/table"
)

// Progress is how far a running statement is.
type Progress struct {
	PID               int32
	DatabaseID        uint32
	Database, Query   string
	Begun             time.Time // the statement
	Phase             string    // "running", "committing", "rolling back"
	Rows, Keys, Bytes int64     // rows written; keys and bytes streamed out by the transaction
	Reruns            int64     // how often the statement was run again on a newer snapshot
	Copy              *CopyProgress
	Upkeep            *UpkeepProgress
}

// UpkeepProgress is how far VACUUM, ANALYZE, CREATE INDEX or REINDEX is with a table.
type UpkeepProgress struct {
	Command         string
	Relation, Index table.ID
	Phase           string // PostgreSQL's name for it
	// rows read, of so many by the counters (0: not known); versions dropped
	Rows, Total, Dropped int64
}

// Reruns is how often the sessions of a database ran something again.
type Reruns struct {
	Database string
	// Statements were run again at least once, Reruns times in all, one of them Most times; Refused
	// of them ended with 40001 because they had been run again as often as they may be.
	Statements, Reruns, Most, Refused int64
	Transactions                      int64 // implicit ones that were repeated after a conflict
}

// CopyProgress is how far a COPY is.
type CopyProgress struct {
	Relation    table.ID // 0: a query
	From        bool
	Bytes, Rows int64
}

// progressTables are the relations that tell how far running statements are.
func progressTables() []relation {
	return []relation{
		{schema: "pg_catalog", name: "minidb_progress", view: true, rows: progressRows,
			columns: "pid int4, datname text, query text, query_start timestamptz, phase text, " +
				"rows_written int8, keys_streamed int8, bytes_streamed int8, reruns int8, " +
				"rows_read int8, rows_expected int8"},
		{schema: "pg_catalog", name: "minidb_reruns", view: true, rows: rerunRows,
			columns: "datname text, statements int8, reruns int8, most int8, refused int8, " +
				"transactions int8"},
		{schema: "pg_catalog", name: "pg_stat_progress_copy", view: true, rows: copyProgressRows,
			columns: "pid int4, datid oid, datname name, relid oid, command text, type text, " +
				"bytes_processed int8, bytes_total int8, tuples_processed int8, tuples_excluded " +
				"int8"},
		{schema: "pg_catalog", name: "pg_stat_progress_vacuum", view: true,
			rows: vacuumProgressRows,
			columns: "pid int4, datid oid, datname name, relid oid, phase text, heap_blks_total " +
				"int8, heap_blks_scanned int8, heap_blks_vacuumed int8, index_vacuum_count int8, " +
				"max_dead_tuples int8, num_dead_tuples int8"},
		{schema: "pg_catalog", name: "pg_stat_progress_analyze", view: true,
			rows: analyzeProgressRows,
			columns: "pid int4, datid oid, datname name, relid oid, phase text, " +
				"sample_blks_total int8, sample_blks_scanned int8, ext_stats_total int8, " +
				"ext_stats_computed int8, child_tables_total int8, child_tables_done int8, " +
				"current_child_table_relid oid"},
		{schema: "pg_catalog", name: "pg_stat_progress_create_index", view: true,
			rows: indexProgressRows,
			columns: "pid int4, datid oid, datname name, relid oid, index_relid oid, command " +
				"text, phase text, lockers_total int8, lockers_done int8, current_locker_pid " +
				"int8, blocks_total int8, blocks_done int8, tuples_total int8, tuples_done int8, " +
				"partitions_total int8, partitions_done int8"},
	}
}

// upkeeps calls emit for each session that runs one of the commands, with what all such views begin
// with.
func (r *reader) upkeeps(emit emitter, rest func(u *UpkeepProgress) []any,
	commands ...string) error {
	for _, p := range r.env.Progress() {
		u := p.Upkeep
		if u == nil || !slices.Contains(commands, u.Command) {
			continue
		}
		row := []any{"pid", p.PID, "datid", int64(p.DatabaseID), "datname", p.Database, "relid",
			u.Relation, "phase", u.Phase}
		if err := emit(append(row, rest(u)...)...); err != nil {
			return err
		}
	}
	return nil
}

// There are no blocks: what counts them is NULL.
func vacuumProgressRows(_ context.Context, r *reader, emit emitter) error {
	return r.upkeeps(emit, func(u *UpkeepProgress) []any {
		return []any{"heap_blks_total", nil, "heap_blks_scanned", nil, "heap_blks_vacuumed", nil,
			"index_vacuum_count", int64(0),
			"max_dead_tuples", nil, "num_dead_tuples", u.Dropped}
	}, "VACUUM")
}

func analyzeProgressRows(_ context.Context, r *reader, emit emitter) error {
	return r.upkeeps(emit, func(*UpkeepProgress) []any {
		return []any{"sample_blks_total", nil, "sample_blks_scanned", nil, "ext_stats_total",
			int64(0), "ext_stats_computed", int64(0),
			"child_tables_total", int64(0), "child_tables_done", int64(0),
			"current_child_table_relid", int64(0)}
	}, "ANALYZE")
}

func indexProgressRows(_ context.Context, r *reader, emit emitter) error {
	return r.upkeeps(emit, func(u *UpkeepProgress) []any {
		return []any{"index_relid", u.Index, "command", u.Command, "lockers_total", int64(0),
			"lockers_done", int64(0),
			"current_locker_pid", int64(0), "blocks_total", nil, "blocks_done", nil, "tuples_total",
			u.Total, "tuples_done", u.Rows,
			"partitions_total", int64(0), "partitions_done", int64(0)}
	}, "CREATE INDEX", "REINDEX")
}

func progressRows(_ context.Context, r *reader, emit emitter) error {
	for _, p := range r.env.Progress() {
		var read, expected any
		if u := p.Upkeep; u != nil {
			if read = u.Rows; u.Total > 0 {
				expected = u.Total
			}
		}
		if err := emit("rows_read", read, "rows_expected", expected, "pid", p.PID, "datname",
			p.Database, "query", p.Query, "query_start", p.Begun, "phase", p.Phase,
			"rows_written", p.Rows, "keys_streamed", p.Keys, "bytes_streamed", p.Bytes, "reruns",
			p.Reruns); err != nil {
			return err
		}
	}
	return nil
}

func rerunRows(_ context.Context, r *reader, emit emitter) error {
	for _, n := range r.env.Reruns() {
		if err := emit("datname", n.Database, "statements", n.Statements, "reruns", n.Reruns,
			"most", n.Most,
			"refused", n.Refused, "transactions", n.Transactions); err != nil {
			return err
		}
	}
	return nil
}

func copyProgressRows(_ context.Context, r *reader, emit emitter) error {
	for _, p := range r.env.Progress() {
		c := p.Copy
		if c == nil {
			continue
		}
		command := "COPY TO"
		if c.From {
			command = "COPY FROM"
		}
		if err := emit("pid", p.PID, "datid", int64(p.DatabaseID), "datname", p.Database, "relid",
			c.Relation, "command", command,
			"type", "PIPE", "bytes_processed", c.Bytes, "bytes_total", int64(0), "tuples_processed",
			c.Rows,
			"tuples_excluded", int64(0)); err != nil {
			return err
		}
	}
	return nil
}
