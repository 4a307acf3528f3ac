package pgcatalog

func memoryRows(r *reader, emit emitter) {
	s := r.env.Memory()
	var limit, share, reserve any
	if s.Bound > 0 {
		limit, share, reserve = s.Bound, s.Share-s.Reserve, s.Reserve
	}
	beyond := max(s.Taken-(s.Share-s.Reserve), 0)
	row := func(consumer string, pid, bytes, limit, most, ended, ending any) {
		emit("consumer", consumer, "pid", pid, "bytes", bytes, "limit_bytes", limit,
			"most_bytes", most, "ended", ended, "ending", ending)
	}
	row("process", nil, s.Bound-s.Heap+s.Taken, limit, nil, nil, nil)
	row("statements", nil, s.Taken-beyond, share, s.Peak, s.Ended, nil)
	row("reserve", nil, beyond, reserve, nil, nil, nil)
	for _, h := range s.Holders {
		if h.Name != "" {
			row(h.Name, nil, h.Bytes, h.Bytes, nil, nil, nil)
		} else {
			row("session", h.PID, h.Bytes, nil, nil, nil, h.Ending)
		}
	}
}
