// Package backup keeps the past of a store in files: full backups, and incremental ones, each of
// which continues another one. Restored, a chain of them shows what the store showed at the
// timestamp of a backup, with the history before it.
//
// It owns the files, the manifest and what continues what. It relies on package pages for the raw
// cells, on package txn for the timestamp, the hold on the store's past (txn: I33) and the settling
// of locks (Txn.SettleAt). A full backup has what a copy has (package clone says which cells
// travel). docs/adr/0032 has the argument.
//
//	full       everything at or below T1
//	incremental  what was committed in (T1, T2], all notifications that are pending at T2, and
//	           spans that were loaded or unloaded meanwhile, whole
//
// # In a place
//
//	<name>/progress.json   of a backup that is not finished: how far it is, and its hold
//	<name>/00000001.cells  pages of raw cells, compressed with zstd
//	<name>/manifest.json   written last; its files by length and SHA-256
//
// # Invariants
//
//   - backup I1 (nothing is missed): what is committed at or below T2 is a record, or a lock's
//     record, before the first page is read. Records at or below T1 that come later are of loads,
//     whose spans the next backup has whole.
//   - backup I2 (no gap): an incremental backup is finished only if the store's safepoint was at or
//     below T1 when all was read. A version that was collected above T1 would leave one that it
//     covered in the chain, for good.
//   - backup I3 (whole or not at all): what has no manifest is no backup.
//   - backup I4 (closed until it is whole): no process opens a store that is being restored
//     (tso.FillingError).
package backup
