package metrics

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
)

// ofMemory are the rows of minidb_memory, without those of sessions.
func (s *Sources) ofMemory() []family {
	return []family{
		gauge("minidb_memory_bytes", "Bytes that consumers hold of what the process may hold, "+
			"as in minidb_memory; when statements near their limit, the largest of them end "+
			"(53200).",
			func(_ context.Context, add add) {
				m := memory.Process().Stats()
				beyond := max(m.Taken-(m.Share-m.Reserve), 0)
				add(float64(m.Bound-m.Heap+m.Taken), "process")
				add(float64(m.Taken-beyond), "statements")
				add(float64(beyond), "reserve")
				for name, bytes := range fixed(m) {
					add(float64(bytes), name)
				}
			}, "consumer"),
		gauge("minidb_memory_limit_bytes", "Bytes that consumers may hold; raise --memory "+
			"when statements end for want of it.",
			func(_ context.Context, add add) {
				m := memory.Process().Stats()
				if m.Bound > 0 {
					add(float64(m.Bound), "process")
					add(float64(m.Share-m.Reserve), "statements")
					add(float64(m.Reserve), "reserve")
				}
			}, "consumer"),
		gauge("minidb_memory_peak_bytes", "The most that statements held together since the "+
			"start; near the limit, the next load may have statements ended.",
			func(_ context.Context, add add) { add(float64(memory.Process().Stats().Peak)) }),
		counter("minidb_memory_ended_statements_total", "Statements that ended with 53200 "+
			"because the process could hold no more; look for those without a LIMIT, or raise "+
			"--memory.",
			func(_ context.Context, add add) { add(float64(memory.Process().Stats().Ended)) }),
	}
}

// fixed adds up what is held as long as stores are open, by name: several handles may have a block
// cache each.
func fixed(m memory.Stats) map[string]int64 {
	out := map[string]int64{}
	for _, h := range m.Holders {
		if h.Name != "" {
			out[h.Name] += h.Bytes
		}
	}
	return out
}

// states are those of pg_stat_activity.
var states = []string{"active", "idle", "idle in transaction", "idle in transaction (aborted)"}

// ofClients are the numbers of connections and sessions.
func (s *Sources) ofClients() []family {
	return []family{
		gauge("minidb_sessions", "Sessions by their state in pg_stat_activity, those of the "+
			"program and of background work too; many idle in transaction hold locks and old "+
			"versions.",
			func(_ context.Context, add add) {
				count := map[string]int{}
				for _, a := range s.SQL.Activities() {
					count[a.State]++
				}
				for _, state := range states {
					add(float64(count[state]), state)
				}
			}, "state"),
		gauge("minidb_client_connections", "Connections with a session; near the limit, "+
			"clients are about to be refused.",
			func(_ context.Context, add add) { add(float64(s.Server.Connections().Sessions)) }),
		gauge("minidb_client_connections_limit", "How many sessions clients may have "+
			"(--max-connections), those reserved for superusers included.",
			func(_ context.Context, add add) { add(float64(s.Server.Connections().Most)) }),
		gauge("minidb_starting_connections", "Connections without a start-up packet, or not "+
			"authenticated yet; many that stay are a scanner, or guess passwords.",
			func(_ context.Context, add add) { add(float64(s.Server.Connections().Starting)) }),
		counter("minidb_refused_connections_total", "Connections that got no session, by "+
			"reason; too_many asks for a pool or a higher --max-connections, authentication "+
			"for a look at the server's log.",
			func(_ context.Context, add add) {
				for _, r := range s.Server.Refused() {
					add(float64(r.Count), r.Reason)
				}
			}, "reason"),
		gauge("minidb_draining", "1 while the server lets clients finish and accepts no "+
			"others: it is about to end.",
			func(_ context.Context, add add) {
				add(flag(s.Server.Connections().Draining))
			}),
	}
}
