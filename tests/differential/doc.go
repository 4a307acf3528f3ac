// Package differential gives generated statements to PostgreSQL 15 and to minidb and compares what
// they answer.
//
// What can be generated comes from the catalogs: every function, operator, cast and aggregate that
// both servers list over the types of values.go, polymorphic ones included. statement.go puts them
// into queries over tables that have a column of each type and indexes of all kinds, and into
// INSERT, UPDATE, DELETE and MERGE. Rows, command tags and SQLSTATEs must be equal.
//
// The files of scenes describe sequences of statements that build on each other, one subject each:
// enums, domains, composite types, changes of tables, keys that are deferred, partial or exclude,
// views that can be changed, roles and privileges, policies, cursors, temporary tables, functions
// in FROM and recursive queries, and what the catalogs print of expressions. Of these the messages
// must be equal as well, with their details, hints, positions and the names of what they are about,
// and so must the names and types of columns, and notices. scene.go explains their form.
//
// What may differ is in explained_test.go, each with its reason and with how far: in rows, in
// whether there is an error, in which one, or in its words.
//
// MINIDB_DIFFERENTIAL is the number of statements, and MINIDB_DIFFERENTIAL_SEED chooses others than
// those of each run; .ci/soak does. The test skips where PostgreSQL is not installed.
package differential
