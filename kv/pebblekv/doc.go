// Package pebblekv is the embedded engine: kv.Engine on one Pebble store in one directory.
//
// It owns everything that is Pebble's: options, comparer, filters, write-ahead log, file system.
// Of the rest of the module only internal/bench imports Pebble, to measure beside it.
//
// An Update takes latches on its rows in sorted slot order, runs the step, hands the batch to
// Pebble's commit pipeline, releases the latches as soon as the batch is applied, and only then
// waits for the log to be synced. So Updates of the same row are ordered (kv I2) without a sync
// inside the latch, and Updates that are under way together share a sync. Order in the log makes up
// for the early release: whatever a step read lies before its own batch in the log, so a batch that
// survives a crash has everything below it (kv I3, I4). A step that wrote nothing has no place in
// the log; if anything is still being synced, or was written lazily since the last sync, it waits
// for a sync of its own before it returns (lazy.go). After a sync the log's flush loop lets the
// committers that it woke run, so that the next sync takes their next updates too
// (group_commit.go).
//
// A Snapshot is one Pebble iterator, of which others are clones: they share its state, and none of
// this takes the store's mutex as a Pebble snapshot does. A snapshot may show an Update that has
// not returned yet; the layer above decides what waits (docs/adr/0002).
//
// A failure to write the log ends the engine (kv.ErrFailed): after a failed sync Pebble does not
// know how much of the log is on disk; recovery at the next start finds out. The process goes on
// (stop.go).
//
// On disk: Pebble's own files, and a marker file with the number of minidb's format.
package pebblekv
