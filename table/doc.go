// Package table maps rows and index entries to keys and values of a transaction, and back.
//
// It owns the layout of tables in the key space, the writing of rows with all their index entries,
// and reading them by ranges of datums. It relies on package txn for everything that makes several
// keys change as one, and on package codec for single datums. Which tables there are is package
// catalog's; what a default or a CHECK means is the planner's.
//
// Expressions and predicates of indexes are computed by a [RowProgram], which comes with the
// descriptor: whatever writes rows or verifies entries uses it, so none can forget an entry.
//
// A [Desc] describes a table. [Spans] turns ranges into spans of keys, a [Scanner] reads them into
// batches of columns, [Lookup] and [GetRow] read by key. A [Writer] inserts, updates and deletes.
//
// # Keys and values
//
// For a table docs (16384) with primary key id, UNIQUE (url) and an index on (lang DESC):
//
//	't' 16384 1 {id}             → lang, url, … the row: columns by ID
//	't' 16384 2 {url}            → {id}         unique: the value is the row key
//	't' 16384 2 {NULL}{id}       →              a NULL equals nothing: the row key is in the key
//	't' 16384 3 {lang, desc}{id} →              others have it there always
//
// What follows 't' is the table's storage ID: its own number, until TRUNCATE or a rewrite gives it
// another and drops the old span as a whole (Desc.Storage, catalog/storage.go).
//
// Numbers in keys take one byte below 240 and otherwise as many as they need (appendUint). A table
// without primary key has a hidden column with a number for each row (RowIDs).
//
// Values hold what the key does not: columns that are no part of it, INCLUDE columns of an index,
// and key columns whose encoding keeps their order but not their exact value (codec.KeyExact). A
// row written before a column was added lacks it; its value is the column's Missing.
//
// # Invariants
//
//   - table I1: every row has exactly one entry in each index of its descriptor, or none if it does
//     not satisfy the predicate of a partial one, written in the same transaction, with the columns
//     and expressions of the row as it is; and no entry is without its row.
//   - table I2: a key that must be unique is read before it is written, and written with
//     Txn.Insert: of two transactions that write it at once, one fails with a conflict. Nothing
//     else makes uniqueness.
//   - table I3: a transaction that writes rows validates the table's writers' key, so no row is
//     written by a descriptor that another transaction has replaced (see catalog I4 for the other
//     half).
//   - table I4: the order of keys is the order of datums, column by column, NULLs where the index
//     puts them; a range of datums is therefore a span of keys.
//   - table I5: no entry of a row that waits for a deferrable key is committed (deferred.go), so
//     that what is committed is unique in a deferrable index as in any other.
//
// catalog.Check verifies I1 for a whole store.
package table
