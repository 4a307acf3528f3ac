// Package statistics holds what a process keeps about its tables beside their rows: the statistics
// that ANALYZE stored, counters of changes since, and the background analysis that follows from
// both.
//
// It owns a [Registry] per database directory. How statistics are gathered and stored is
// table/stats'; the planner asks for them through the session.
//
// # Fresh row counts
//
// A session adds what its transaction inserted, updated and deleted to the tables' counters once
// the commit is through: a few additions in memory, nothing is read or written. So the planner sees
// the rows of now with the distribution of the last ANALYZE, as PostgreSQL does by the size of the
// file. The counters are stored at each tick of the background and at Close; a crash forgets what
// was counted since, and the next ANALYZE or VACUUM counts anew.
//
// # Background analysis
//
// Each tick analyses the tables of which 50 rows and a tenth have changed since their statistics
// were made (PostgreSQL's autovacuum_analyze_threshold and _scale_factor), one after the other,
// with pauses between batches. A table that was never analysed, and that changed too little, stays
// without statistics.
//
// # Plans
//
// Every change of a table's statistics raises the epoch, and notes it for the table. A cached plan
// is good while none of its tables has a later one than the plan; as long as the epoch itself is
// the plan's, that is one comparison. Counters alone raise no epoch.
//
// Simple on purpose: of a store that several processes share, each counts its own changes, and
// learns of the statistics that others stored at its next tick.
package statistics
