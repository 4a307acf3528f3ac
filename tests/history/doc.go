// Package history lets coordinators run transactions that pause, die and come back, writes down
// what each of them saw, and checks the whole afterwards.
//
// It owns the generator of workloads (workload.go), the statements that they are made of
// (statement.go), the order in which coordinators move (scheduler.go), the engine that watches what
// is written (engine.go) and holds syncs (early.go), a run (run.go) and the checker (check.go). It
// uses the transaction layer as any layer above does.
//
// # A run
//
// A few coordinators share one store, or have a store each on a shared engine. One of them moves at
// a time: wherever the protocol touches the engine, and at every crash point, a coordinator stops
// at the scheduler, and dice decide which one goes on. So one seed gives one interleaving, as far
// as none blocks: a coordinator that waits inside (for a latch, a lock, a sync) keeps its turn for
// two milliseconds of real time, and then another one moves beside it.
//
// A coordinator pauses by staying at the scheduler for many turns, while the clock, which the
// scheduler moves too, passes the time to live of its locks. It dies at a crash point and goes on
// with its next transaction, on a shared engine with a new store. On the crashable file system
// everything dies at once: what was not synced is lost in part, and the coordinators go on with
// what was left; the power likes to fail while a commit is visible and its sync is held. Updates
// lose their answers. A collector drops old versions.
//
// # Levels
//
// Transactions read a snapshot, purely optimistic or with row locks taken before each write; or
// each statement of theirs reads at a timestamp of its own (READ COMMITTED), and looks again at a
// key that was changed while its lock was waited for; or they are serializable. Some lock what they
// read too. A statement that writes may run once in vain before: its transaction goes back to a
// savepoint. Of those of READ COMMITTED some go on from commits that are not durable yet (txn:
// I18): what they read counts once they have published it.
//
// # The checker
//
// Every value names the transaction that wrote it. The truth is the list of write records: those
// that were applied, or after a power failure those found in the end. Against it the checker
// recomputes each read at its timestamp, and holds each transaction's answer. The verdicts are
// listed with their meaning in verdict.go. Cycles alone would not do: half a commit that is never
// read has none.
package history
