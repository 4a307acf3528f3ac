package metrics

import (
	"context"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/txn"
)

// ofStatements are the numbers of statements of all sessions.
func (s *Sources) ofStatements() []family {
	return []family{
		counter("minidb_statements_total", "Statements by kind and SQLSTATE of their outcome, "+
			"00000 for success; a rise of one error is a change of a program, and of 40001 "+
			"that transactions meet.",
			func(_ context.Context, add add) {
				for _, c := range s.SQL.StatementCounts() {
					add(float64(c.Count), c.Kind, c.SQLState)
				}
			}, "kind", "sqlstate"),
		histogram("minidb_statement_duration_seconds", "Time from a statement's first message "+
			"until its client could have the outcome, its commit included, by kind; what is "+
			"above the usual waits for locks, the disk or a plan.",
			func() map[string]sql.Latencies {
				out := map[string]sql.Latencies{}
				for _, k := range s.SQL.StatementKinds() {
					out[k.Kind] = k.Latencies
				}
				return out
			}, "kind"),
		counter("minidb_statement_rows_total", "Rows that statements returned or changed, by "+
			"kind; many for each statement ask for a LIMIT, or a condition with an index.",
			func(_ context.Context, add add) {
				for _, k := range s.SQL.StatementKinds() {
					add(float64(k.Rows), k.Kind)
				}
			}, "kind"),
	}
}

// conflicts are the kinds of minidb_conflicts.
var conflicts = []string{"deadlock", "delete", "insert", "lock timeout", "read", "update"}

// ofTransactions are the numbers of transactions, and of what they do to each other.
func (s *Sources) ofTransactions() []family {
	reruns := func(of func(r *pgcatalog.Reruns) int64) func(_ context.Context, add add) {
		return func(_ context.Context, add add) {
			n := int64(0)
			for _, r := range s.SQL.Reruns() {
				n += of(&r)
			}
			add(float64(n))
		}
	}
	return []family{
		counter("minidb_commits_total", "Transactions that were committed, by the route: "+
			"one_phase, two_phase and async by their protocols, large ones that had streamed "+
			"writes out, and read_only ones of sessions; many large ones hold locks for long.",
			func(_ context.Context, add add) {
				n := s.Store.Counts().Commits
				add(float64(n.OnePhase), "one_phase")
				add(float64(n.TwoPhase), "two_phase")
				add(float64(n.Async), "async")
				add(float64(n.Large), "large")
				add(float64(s.SQL.TransactionCounts().ReadOnly), "read_only")
			}, "route"),
		counter("minidb_rollbacks_total", "Transactions of sessions that were rolled back, by "+
			"ROLLBACK, an error or a commit that failed, attempts that ran again among them; "+
			"compare with the commits.",
			func(_ context.Context, add add) {
				add(float64(s.SQL.TransactionCounts().RolledBack))
			}),
		counter("minidb_conflicts_total", "Conflicts and deadlocks between transactions, by "+
			"the kind of minidb_conflicts, also where the server ran the statement again; "+
			"look there for the rows that all of them write.",
			func(_ context.Context, add add) {
				n := s.SQL.ConflictCounts()
				for _, kind := range conflicts {
					add(float64(n[kind]), kind)
				}
			}, "kind"),
		counter("minidb_statement_reruns_total", "Times that a statement at READ COMMITTED "+
			"ran again on newer rows, as in minidb_reruns; many mean that transactions wait "+
			"for the same rows.",
			reruns(func(r *pgcatalog.Reruns) int64 { return r.Reruns })),
		counter("minidb_transaction_reruns_total", "Times that an implicit transaction ran "+
			"again after a conflict, as in minidb_reruns; many are work done twice.",
			reruns(func(r *pgcatalog.Reruns) int64 { return r.Transactions })),
		counter("minidb_rerun_refusals_total", "Statements that ran again as often as they "+
			"may and failed with 40001, as in minidb_reruns; any means that a row is written "+
			"all the time.",
			reruns(func(r *pgcatalog.Reruns) int64 { return r.Refused })),
		counter("minidb_lock_waits_total", "Waits for locks: in memory for rows, tables and "+
			"advisory locks, and in the store for those of commits; many with short durations "+
			"are a hot row.",
			func(_ context.Context, add add) {
				n := s.Store.Counts()
				add(float64(n.RowLocks.Number), "memory")
				add(float64(n.Locks.Number), "store")
			}, "where"),
		counter("minidb_lock_wait_seconds_total", "Time that waits for locks took; its rate "+
			"is how many sessions wait at once.",
			func(_ context.Context, add add) {
				n := s.Store.Counts()
				add(n.RowLocks.Time.Seconds(), "memory")
				add(n.Locks.Time.Seconds(), "store")
			}, "where"),
	}
}

// ofCollections are the numbers of the collection of old versions.
func (s *Sources) ofCollections() []family {
	of := func(read func(c txn.Collections) int64) func(_ context.Context, add add) {
		return func(_ context.Context, add add) {
			add(float64(read(s.Store.Counts().Collections)))
		}
	}
	return []family{
		counter("minidb_gc_passes_total", "Passes of the collection of old versions that came "+
			"to their end, those of VACUUM too; when it does not grow for long beside writes, "+
			"look for warnings in the log.",
			of(func(c txn.Collections) int64 { return c.Passes })),
		counter("minidb_gc_failures_total", "Steps of collections that failed and were taken "+
			"again; any is a reason to read the server's log.",
			of(func(c txn.Collections) int64 { return c.Failures })),
		counter("minidb_gc_rows_total", "Rows that collections have passed; many for few "+
			"versions dropped are reads for little.",
			of(func(c txn.Collections) int64 { return c.Rows })),
		counter("minidb_gc_versions_total", "Old versions that were dropped; its rate follows "+
			"that of updates and deletes, a retention later.",
			of(func(c txn.Collections) int64 { return c.Versions })),
		counter("minidb_gc_locks_total", "Locks of ended transactions that collections "+
			"settled; many are the traces of clients or processes that died.",
			of(func(c txn.Collections) int64 { return c.Locks })),
		gauge("minidb_gc_places", "Parts of the store, by the first bytes of keys, in which a "+
			"collection has something to look for; its growth while the safepoint moves means "+
			"that collections fall behind.",
			of(func(c txn.Collections) int64 { return int64(c.Places) })),
	}
}
