// Package clone copies a store into another one, of whatever engine: everything that a reader of
// the source can see at one timestamp, and at those before it that the source still has. Writers of
// the source go on meanwhile.
//
// It owns the format of an unfinished copy, the walk, and the comparison at the end. It relies on
// package txn for the timestamp, the hold on the source's past (txn: I33) and the settling of locks
// (Txn.SettleAt), on mvcc for the raw cells, and on tso for the mark that keeps every process from
// opening an unfinished copy. docs/adr/0028 has the argument.
//
//	NewHold ─▶ Begin: T ─▶ Fill ─▶ SettleAt ─▶ pages of versions ─▶ pages of notifications
//	  ─▶ safepoint ─▶ verify ─▶ Filled ─▶ Release
//
// # What travels
//
// Cells keep their timestamps, so that everything which refers to one means the same in the copy.
//
//	column     travels
//	write      puts and deletes with commit_ts ≤ T. Records of kinds lock and rollback are about
//	           transactions of the source, of which none comes to the copy
//	data       of those puts
//	notify     cells that are stamped at or below T. Others belong to transactions that commit
//	           above T, or never
//	lock       nothing: what was committed at or below T is a record, the rest is not part of T
//	row lock   nothing: their owners are transactions of the source
//	meta       see below
//
// The user keys of all layers are versions like any other. So what travels with them is: rows and
// index entries (t), the schema (c), sequences and row ids (s, r), statistics (a), large objects
// (l), acknowledgements, dead letters, backfills and images of observers (o), frontiers of
// incremental views (v), and the lists of dropped and held spans (00 drop, 00 hold), by which the
// copy's collector works. An entry of the list of loads (00 load) of a load that had not ended at
// T travels too, and the first Open of the copy takes back what came with it.
//
// The store's own cells say how processes share it, and are of that store:
//
//	oracle      no: the copy's has T as its mark, so the first timestamp is above it
//	safepoint   no: the copy's is the source's as it was when all versions had been copied, for
//	            below it some are gone. A collection under way does not travel
//	garbage     no: it is a hint. Without it the first collection reads everything
//	session/, wait/, hold/   no: they are of processes
//	secret, identity         no: the copy is another store
//	copy/       no: they are of a copy that this store was the target of
//
// # Invariants
//
//   - clone I1 (one state): the copy has exactly the versions that the source has at or below T,
//     but for some below the safepoint that it gets.
//   - clone I2 (nothing pending is lost): every notification that was pending at T is in the copy.
//   - clone I3 (closed until it is whole): no oracle, and so no process, opens a target before the
//     verification has found no difference (tso.FillingError).
//   - clone I4 (each page once): a page is in the target together with the position behind it,
//     where the target takes files in, or it is written again. So a copy may end anywhere.
//
// # Simple on purpose
//
// One page is read, then written. Reading ahead would hide the one behind the other.
package clone
