// Package sqllogic runs sqllogictest scripts against any SQL database: minidb embedded, minidb or
// PostgreSQL over the wire. It owns the script format, the rendering of values and the verdict; a
// Conn owns the database.
//
// The format is SQLite's (https://www.sqlite.org/sqllogictest), which PostgreSQL 15 is also judged
// by:
//
//	statement ok | error [SQLSTATE]       a statement; SQLSTATE is an extension: the error's code
//	query TYPES [nosort|rowsort|valuesort] [label]
//	skipif LABEL / onlyif LABEL           may stack; one mismatch skips the record
//	hash-threshold N                      longer results are compared by their MD5
//	halt                                  the rest of the file is not run
//
// TYPES has a letter per column, which alone decides how a value is rendered: I as an integer, R
// with three decimals, T as text. Lines that start with # are dropped anywhere; records are
// separated by blank lines; a missing ---- means that no rows are expected.
package sqllogic
