// Package sql is the life of a statement: what a session is, how its transactions, prepared
// statements and portals behave, and in which order parser, planner, executor and DDL are called.
//
// It owns sessions and their settings (sql/settings), the plan cache, and the one place where
// errors from below get a SQLSTATE (errors.go). It relies on sql/parse for trees, planner for
// plans, sql/exec for rows, sql/ddl for schema changes, txn for transactions. Bytes on sockets are
// sql/pgwire's; Go values are the root package's.
//
// A reader meets them in this order. [Engine] is what sessions of one database directory share.
// [Session] is one client's state. [Session.Query] runs a text of statements (the simple protocol);
// [Session.Prepare], [Session.Bind], [Session.Execute] and [Session.Sync] are the extended one:
// [Prepared] is a statement with its parameter types, [Portal] a bound and perhaps suspended run of
// it. [ResultWriter] is where results go.
//
// # A statement
//
//	Query ───┐
//	Execute ─┴─ run (run.go): open, take rows, complete
//	             └─ open asks the table of kinds (kinds.go) how to go about the statement
//	                 ┬─ transactionControl  BEGIN, COMMIT, SAVEPOINT …  transaction_commands.go
//	                 ├─ sessionCommand      SET, PREPARE, CLOSE …       set.go, prepare.go
//	                 └─ onData ─┬─ openPlan → exec.Open           plan_runner.go, plan_source.go
//	                            ├─ EXPLAIN, FETCH, COPY           explain.go, fetch.go, copy.go
//	                            └─ ddl.Execute                    schema_change.go
//
// A session is made of layers, each of which uses only what is below it (session.go): Session over
// planRunner over transactor over portalSet over client. A query of a client is followed through
// three files: run.go, plan_runner.go, plan_source.go. What runs a statement again, and why, is in
// docs/ARCHITECTURE.md.
//
// # Invariants
//
//   - sql I1: an implicit transaction is run again only while nothing of it has reached the client
//     and only after an error that means that nothing of it is in the store. An ambiguous commit is
//     never repeated.
//   - sql I2: a completion is sent after the commit that it promises. In the extended protocol,
//     where PostgreSQL sends it before Sync commits, it is in a buffer that a conflict takes
//     back. What has left the buffer, by Flush or because it was full, forbids that (I1).
//   - sql I3: a plan is used only in a transaction that sees the version of the catalog for which
//     it was made, and never if the transaction has changed the schema itself.
//   - sql I4: after an error in a block nothing but its end, or ROLLBACK TO, is accepted.
//   - sql I5: a statement that found a row changed is run again only before any of its rows is
//     sent. What it wrote is undone; its row locks are kept.
//
// # Simple on purpose
//
// A snapshot is taken by the first statement that needs one, as PostgreSQL does in REPEATABLE READ
// and SERIALIZABLE; READ COMMITTED, the default, moves it at each statement (snapshot.go,
// docs/adr/0006 and 0009). Row locks and the history of conflicts are this process's memory.
package sql
