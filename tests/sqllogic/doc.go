// Package sqllogic holds minidb's contract with its users as sqllogictest scripts: our own, by
// theme, each checked against PostgreSQL 15, and the run of SQLite's corpus.
//
// `go test ./tests/sqllogic -rewrite` fills in the expectations of our scripts from PostgreSQL 15.
package sqllogic
