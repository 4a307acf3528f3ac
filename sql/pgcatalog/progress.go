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
	Copy              *CopyProgress
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
				"bytes_streamed int8"},
		{schema: "pg_catalog", name: "pg_stat_progress_copy", view: true, rows: copyProgressRows,
			columns: "pid int4, datid oid, datname name, relid oid, command text, type text, bytes_processed int8, bytes_total int8, " +
				"tuples_processed int8, tuples_excluded int8"},
	}
}

func progressRows(_ context.Context, r *reader, emit emitter) error {
	for _, p := range r.env.Progress() {
		if err := emit("pid", p.PID, "datname", p.Database, "query", p.Query, "query_start", p.Begun, "phase", p.Phase,
			"rows_written", p.Rows, "keys_streamed", p.Keys, "bytes_streamed", p.Bytes); err != nil {
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
