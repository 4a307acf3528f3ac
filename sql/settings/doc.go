// Package settings is the table of configuration parameters, PostgreSQL 15's names, types, defaults
// and messages, and the values that one session gives them.
//
// A parameter is here only if it does what its name says, or if it can keep one value without
// telling a lie: such a parameter is Fixed, and SET to anything else answers 0A000.
//
// Values follow transactions: SET is undone by ROLLBACK and ROLLBACK TO, SET LOCAL ends with the
// transaction. Every change inside a transaction leaves an entry in an undo log; a savepoint is a
// length of that log.
//
// A Values belongs to its session's goroutine.
package settings
