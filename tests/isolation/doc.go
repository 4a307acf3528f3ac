// Package isolation proves the isolation levels from outside, over the wire: the anomalies of
// Hermitage with the verdicts of PostgreSQL 15 at each level, and PostgreSQL's own isolation specs
// with the output of its isolationtester, word for word.
//
// A step blocks when pg_locks shows that its session waits, so nothing here depends on time.
package isolation
