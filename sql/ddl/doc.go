// Package ddl runs the statements that change the schema: CREATE, ALTER, DROP, TRUNCATE, REFRESH,
// COMMENT.
//
// It turns statement trees into changed descriptors, and decides what PostgreSQL decides: names of
// constraints and indexes, what depends on what, which error a user sees and where it points. The
// descriptors are stored by package catalog in the session's own transaction, so every statement
// here can be rolled back; rows and index entries that must follow a change (a backfill, a rewrite)
// are written in the same transaction.
//
// A statement that fails may leave part of its writes buffered: the session undoes them to the
// statement's savepoint.
//
// Simple on purpose: a rewrite (a changed type, a new primary key) holds the table's rows in memory
// and writes them in one transaction. Expressions and views are kept as text (stored.go), which a
// change of a name prints anew.
package ddl
