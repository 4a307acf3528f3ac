// Package settings is the table of configuration parameters, PostgreSQL 15's names, types, defaults
// and messages, and the values that one session gives them.
//
// The table is parameters.json; the context of a parameter is "user" unless it says otherwise.
//
// A parameter is here only if every value that it accepts has its effect. That is so if it
//
//   - does what its name says (enable_seqscan, random_page_cost, lock_timeout);
//   - permits, prices or bounds something that is never done. Allowing merge joins, JIT or four
//     parallel workers promises none of them, and forbidding them is obeyed (enable_mergejoin, jit,
//     max_parallel_workers_per_gather, parallel_setup_cost);
//   - has one value that is true here: such a parameter is Fixed, and SET to anything else fails
//     with 0A000 (synchronous_commit, force_parallel_mode, enable_material).
//
// PostgreSQL's hints for memory and plans that minidb has no use for (temp_buffers, cpu_tuple_cost)
// are accepted and change nothing; those of its server, which are listed for clients that read them
// (shared_buffers, wal_level) show PostgreSQL's default and cannot be set. docs/additions.md has
// both kinds. PostgreSQL's other parameters are refused with 0A000; other names are unknown, 42704.
//
// Values follow transactions: SET is undone by ROLLBACK and ROLLBACK TO, SET LOCAL ends with the
// transaction. Every change inside a transaction leaves an entry in an undo log; a savepoint is a
// length of that log.
//
// A Values belongs to its session's goroutine.
package settings
