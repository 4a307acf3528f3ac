package pgcatalog

import "context"

// memoryTables are the relations that tell who holds how much memory.
func memoryTables() []relation {
	return []relation{{schema: "pg_catalog", name: "minidb_memory", view: true, rows: memoryRows,
		columns: "consumer text, pid int4, bytes int8, limit_bytes int8, most_bytes int8, ended " +
			"int8, ending bool"}}
}

func memoryRows(_ context.Context, r *reader, emit emitter) error {
	s := r.env.Memory()
	var limit, share, reserve any
	if s.Bound > 0 {
		limit, share, reserve = s.Bound, s.Share-s.Reserve, s.Reserve
	}
	beyond := max(s.Taken-(s.Share-s.Reserve), 0)
	rows := [][]any{
		{"consumer", "process", "pid", nil, "bytes", s.Bound - s.Heap + s.Taken, "limit_bytes",
			limit, "most_bytes", nil, "ended", nil, "ending", nil},
		{"consumer", "statements", "pid", nil, "bytes", s.Taken - beyond, "limit_bytes", share,
			"most_bytes", s.Peak, "ended", s.Ended, "ending", nil},
		{"consumer", "reserve", "pid", nil, "bytes", beyond, "limit_bytes", reserve, "most_bytes",
			nil, "ended", nil, "ending", nil},
	}
	for _, h := range s.Holders {
		if h.Name != "" {
			rows = append(rows, []any{"consumer", h.Name, "pid", nil, "bytes", h.Bytes,
				"limit_bytes", h.Bytes, "most_bytes", nil,
				"ended", nil, "ending", nil})
			continue
		}
		rows = append(rows, []any{"consumer", "session", "pid", h.PID, "bytes", h.Bytes,
			"limit_bytes", nil, "most_bytes", nil,
			"ended", nil, "ending", h.Ending})
	}
	for _, row := range rows {
		if err := emit(row...); err != nil {
			return err
		}
	}
	return nil
}
