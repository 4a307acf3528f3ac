// Package recipes is what most applications of observers need on top of [minidb.DB.Observe], made
// of nothing but the public handle, so that it can also be read as an example and copied.
//
// [Combine]: many writers add to aggregates of which some are hot. A writer that updated the row of
// the aggregate would conflict with all others. Here it inserts what it has to add into a queue, in
// its own transaction, and waits for no other writer. An observer takes what has gathered in a
// bucket of the queue, adds it up and hands the sums to a function that updates the aggregates:
//
//	writer 1:  insert (bucket 3, cats +1)  ┐
//	writer 2:  insert (bucket 3, cats +1)  ├─ fold of bucket 3: cats +2, dogs -1
//	writer 3:  insert (bucket 3, dogs -1)  ┘
//
// [Export]: rows of a table go to a system outside. Each key is sent after it has changed, at least
// once, its states in order and collapsed to the newest, with a number by which the receiver drops
// what it has had already. What cannot be sent blocks its key alone.
//
// # Invariants
//
//   - recipes I1: a delta is in the sums of exactly one fold that commits, for the fold deletes it
//     in its own transaction.
//   - recipes I2: folds of one bucket are serial. Each writes the bucket's row, so of two at the
//     same time one is run again, with a snapshot that shows what the other one wrote. All deltas
//     of a key are in one bucket, so folds of a key are serial too.
//   - recipes I3: of two states of a key, the newer one is sent with the higher number; what is
//     sent twice with one number is one state.
package recipes
