// Package catalog keeps the schema: databases, schemas, relations with their descriptors, and the
// positions of sequences. It lives in the same transactional store as the rows, so DDL commits and
// rolls back, savepoints included, like any other write.
//
// It owns the keys below. What a statement may do to a descriptor, and which error a user gets for
// it, is package sql/ddl's; how a descriptor turns rows into keys is package table's.
//
//	c f                          → format number of the store
//	c v                          → version: timestamp of the last transaction that changed it
//	c i                          → next object ID (reserved in ranges)
//	c b {name}                   → database
//	c s {database}{name}         → schema
//	c n {database}{schema}{name} → relation or index of that name
//	c d {relation}               → descriptor
//	c w {table}                  → nothing: written when a descriptor changes for writers of rows
//	c o {storage}                → table whose rows lie under another ID than its own
//	c y                          → settings of ALTER SYSTEM
//	c p {relation}{view}         → nothing: the view reads the relation
//	c t {type}                   → user type, or the type whose arrays the type is
//	c m {database}{schema}{name} → user type of that name, or type of its arrays
//	c p {type}{user}             → nothing: the relation or type uses the type
//	c e {database}{name}         → observer of that name
//	c r …                        → roles, what they are members of, what names them (role.go)
//	o {observer}…                → what an observer keeps; its values are package txn/observer's
//	s {sequence}{epoch}          → position of a sequence
//	r {table}                    → next row ID of a table without primary key
//
// A [Catalog] belongs to the process. A [View] is the schema as one transaction sees it.
//
// # The cache
//
// Every transaction that changes the schema writes its startTS under the version key. Two such
// transactions that overlap write the same key, so one of them fails with a write conflict, unless
// it is one of READ COMMITTED. That one puts a new timestamp there when it commits, in turn with
// others, behind whatever was committed before ([View.Commit]). A version therefore names one state
// of the whole catalog, and later states have greater versions. A View reads the version key once
// and then shares what others with the same version have read. A transaction that finds its own
// startTS there has changed the schema itself: it reads through its own buffered writes and shares
// nothing. A rollback to a savepoint takes the buffered version back with everything else, so there
// is no cache to undo.
//
// # Newer than the snapshot
//
// A View shows the schema at the transaction's read timestamp. [View.Renew] lets one that keeps its
// snapshot show tables with the constraints that they have now. Such a descriptor carries the
// timestamp at which it was read. A transaction that writes rows by it validates it since then.
//
// # Invariants
//
//   - catalog I1: nothing under "c" but c i changes without c v changing in the same transaction.
//   - catalog I2: a name under c n belongs to one relation or index, whose descriptor carries it.
//   - catalog I3: object IDs are never used again, also those of transactions that failed.
//   - catalog I4: two transactions that use the rows of a table by descriptors that disagree about
//     them do not both commit; the second to commit fails. Writers of rows validate the table's
//     writers' key since they read the descriptor. Transactions that build something from all rows
//     (an index) validate the table's span, and write that key with the descriptor. One that
//     refreshes a materialized view in place writes and validates it, so that two exclude each
//     other. Within a process the locks of tables (package sql) keep this fair; correctness does
//     not need them. A change that alters nothing for writers (RelabelRelation) excludes no
//     transaction.
//   - catalog I5: sequences, row IDs and object IDs are drawn by transactions of their own, never
//     given back: a gap is allowed, a repetition is not.
//   - catalog I6: a storage ID belongs to one table for ever. A transaction that gives a table
//     another one, drops it, or takes an index out of its descriptor, drops the old span in the
//     same transaction. A transaction that writes rows then fails by I4. One that relies on rows
//     without writing them validates that the span was not dropped (table.HoldStorage).
//   - catalog I7: a name under c e belongs to one observer, which is with its version in the
//     descriptor of one table. A transaction that changes either excludes the writers of rows of
//     the table by I4, and drops the observer's own keys as a whole when it removes it. One that
//     writes such keys validates that the observer is as it was read (View.HoldObserver).
package catalog
