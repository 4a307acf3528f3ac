package pgcatalog

import (
	"context"
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
}

// Reruns is how often the sessions of a database ran something again.
type Reruns struct {
	Database string
	// Statements were run again at least once, Reruns times in all, one of them Most times; Refused of them
	// ended with 40001 because they had been run again as often as they may be.
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
			columns: "pid int4, datname text, query text, query_start timestamptz, phase text, rows_written int8, keys_streamed int8, " +
				"bytes_streamed int8, reruns int8"},
		{schema: "pg_catalog", name: "minidb_reruns", view: true, rows: rerunRows,
			columns: "datname text, statements int8, reruns int8, most int8, refused int8, transactions int8"},
		{schema: "pg_catalog", name: "pg_stat_progress_copy", view: true, rows: copyProgressRows,
			columns: "pid int4, datid oid, datname name, relid oid, command text, type text, bytes_processed int8, bytes_total int8, " +
				"tuples_processed int8, tuples_excluded int8"},
	}
}

func progressRows(_ context.Context, r *reader, emit emitter) error {
	for _, p := range r.env.Progress() {
		if err := emit("pid", p.PID, "datname", p.Database, "query", p.Query, "query_start", p.Begun, "phase", p.Phase,
			"rows_written", p.Rows, "keys_streamed", p.Keys, "bytes_streamed", p.Bytes, "reruns", p.Reruns); err != nil {
			return err
		}
	}
	return nil
}

func rerunRows(_ context.Context, r *reader, emit emitter) error {
	for _, n := range r.env.Reruns() {
		if err := emit("datname", n.Database, "statements", n.Statements, "reruns", n.Reruns, "most", n.Most,
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
		if err := emit("pid", p.PID, "datid", int64(p.DatabaseID), "datname", p.Database, "relid", c.Relation, "command", command,
			"type", "PIPE", "bytes_processed", c.Bytes, "bytes_total", int64(0), "tuples_processed", c.Rows,
			"tuples_excluded", int64(0)); err != nil {
			return err
		}
	}
	return nil
}
