package pgcatalog

import (
	"slices"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// Progress is the progress of a running statement.
type Progress struct {
	PID               int32
	DatabaseID        uint32
	Role              acl.RoleID
	Database, Query   string
	Begun             time.Time // the statement
	Phase             string    // "running", "committing", "rolling back"
	Rows, Keys, Bytes int64     // rows written; keys and bytes already in the store
	Reruns            int64     // how often the statement was run again on a newer snapshot
	Copy              *CopyProgress
	Upkeep            *UpkeepProgress
	Backup            *BackupProgress
}

// BackupProgress is the progress of minidb_backup.
type BackupProgress struct {
	Phase string
	Bytes int64 // of keys and values
}

// UpkeepProgress is the progress of VACUUM, ANALYZE, CREATE INDEX or REINDEX on a table.
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
	// Statements is how many statements were run again at least once, Reruns how often in all, Most
	// how often one of them was. Refused is how many failed with 40001 after as many attempts as
	// allowed.
	Statements, Reruns, Most, Refused int64
	Transactions                      int64 // implicit ones that were repeated after a conflict
}

// CopyProgress is the progress of a COPY.
type CopyProgress struct {
	Relation    table.ID // 0: a query
	From        bool
	Bytes, Rows int64
}

// upkeeps calls emit for each session that runs one of the commands, with the columns that all
// views of progress share.
func (r *reader) upkeeps(emit emitter, rest func(u *UpkeepProgress) []any, commands ...string) {
	for _, p := range r.env.Progress() {
		u := p.Upkeep
		if u == nil || !slices.Contains(commands, u.Command) {
			continue
		}
		row := []any{"pid", p.PID, "datid", int64(p.DatabaseID), "datname", p.Database, "relid",
			u.Relation, "phase", u.Phase}
		emit(append(row, rest(u)...)...)
	}
}

// There are no blocks: columns that count them are NULL.
func vacuumProgressRows(r *reader, emit emitter) {
	r.upkeeps(emit, func(u *UpkeepProgress) []any {
		return []any{"heap_blks_total", nil, "heap_blks_scanned", nil, "heap_blks_vacuumed", nil,
			"index_vacuum_count", 0, "max_dead_tuples", nil, "num_dead_tuples", u.Dropped}
	}, "VACUUM")
}

func analyzeProgressRows(r *reader, emit emitter) {
	r.upkeeps(emit, func(*UpkeepProgress) []any {
		return []any{"sample_blks_total", nil, "sample_blks_scanned", nil}
	}, "ANALYZE")
}

func indexProgressRows(r *reader, emit emitter) {
	r.upkeeps(emit, func(u *UpkeepProgress) []any {
		return []any{"index_relid", u.Index, "command", u.Command, "blocks_total", nil,
			"blocks_done", nil, "tuples_total", u.Total, "tuples_done", u.Rows}
	}, "CREATE INDEX", "REINDEX")
}

func progressRows(r *reader, emit emitter) {
	who := r.authority()
	if who == nil {
		return
	}
	for _, p := range r.env.Progress() {
		if !sees(who, p.Role) {
			p.Query = concealed
		}
		var read, expected any
		if u := p.Upkeep; u != nil {
			if read = u.Rows; u.Total > 0 {
				expected = u.Total
			}
		}
		emit("rows_read", read, "rows_expected", expected, "pid", p.PID, "datname", p.Database,
			"query", p.Query, "query_start", p.Begun, "phase", p.Phase, "rows_written", p.Rows,
			"keys_streamed", p.Keys, "bytes_streamed", p.Bytes, "reruns", p.Reruns)
	}
}

func rerunRows(r *reader, emit emitter) {
	for _, n := range r.env.Reruns() {
		emit("datname", n.Database, "statements", n.Statements, "reruns", n.Reruns, "most", n.Most,
			"refused", n.Refused, "transactions", n.Transactions)
	}
}

func backupProgressRows(r *reader, emit emitter) {
	for _, p := range r.env.Progress() {
		if b := p.Backup; b != nil {
			emit("pid", p.PID, "phase", b.Phase, "backup_total", nil, "backup_streamed", b.Bytes,
				"tablespaces_total", 1, "tablespaces_streamed", 0)
		}
	}
}

// holdRows shows what backups and copies keep of the store's past.
func holdRows(r *reader, emit emitter) {
	all, err := r.env.Holds(r.ctx)
	r.fail(err)
	for _, h := range all {
		emit("since", h.Since.Time(), "oldest", h.Oldest.Time(), "until", h.Until.Time(),
			"notifications", h.Keep != 0)
	}
}

func copyProgressRows(r *reader, emit emitter) {
	for _, p := range r.env.Progress() {
		c := p.Copy
		if c == nil {
			continue
		}
		command := "COPY TO"
		if c.From {
			command = "COPY FROM"
		}
		emit("pid", p.PID, "datid", int64(p.DatabaseID), "datname", p.Database, "relid", c.Relation,
			"command", command, "type", "PIPE", "bytes_processed", c.Bytes,
			"tuples_processed", c.Rows)
	}
}
