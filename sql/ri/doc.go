// Package ri checks the constraints that PostgreSQL checks after the rows of a statement have been
// written: referential integrity, which is what foreign keys promise, and deferrable keys.
//
// It owns the queue of checks that the rows written by a statement leave behind ([Queue]), and
// their carrying out at its end, or with deferred constraints at the end of the transaction. It
// relies on package table for holding referenced keys, and on its [Host], the session, for
// statements of its own: whether rows refer to a key, and what ON DELETE and ON UPDATE do to them.
//
// # Three events
//
// A row that refers to a key leaves an attach event with the values of its columns. Its check looks
// for the key in the referenced table's unique index and takes a key share lock on it, so that no
// other transaction removes it before this one ends. A key that is removed or changed leaves a
// detach event. Its check looks for rows that still refer to it, or does to them what the
// constraint says; those are statements, which leave events of their own in the same queue.
//
// docs/adr/0007 says why that is enough at every isolation level.
//
// A row that waits for a deferrable key leaves an event with the key. Its check gives the key to
// the row, or fails because another row has it (table.CheckKey).
//
// # Invariants
//
//   - ri I1: a key that is held is not removed, and a key whose removal was checked gets no new
//     rows that refer to it. A transaction that attaches locks the key before it commits; one that
//     detaches holds an exclusive lock on it (statements that write tables with foreign keys always
//     lock what they write). The second of the two waits for the first, and then checks what the
//     first has committed: a detach looks beyond its snapshot (Host.Newer), and fails with 40001 on
//     rows that it may not see. Both locks last until the commit, or it fails (table.HoldKey,
//     table.BarKey).
//   - ri I2: events belong to the writes that left them: what undoes the writes releases the events
//     (Mark, ReleaseTo).
//   - ri I3: an attach is a violation only if a row with these values is still there when it is
//     checked.
package ri
