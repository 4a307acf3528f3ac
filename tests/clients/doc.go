// Package clients runs programs of real PostgreSQL clients against PostgreSQL 15 and minidb,
// from one list (clients.json), and compares what they print.
//
// A program is what a user of that client would write: it connects by the environment variables of
// libpq (PGHOST, PGPORT, PGUSER, PGDATABASE, and DATABASE_URL), to a database that was made for it,
// and goes through cases. Each case prints a line "== NAME" first and then what it sees, errors by
// their SQLSTATE and message, so that one that fails does not hide the next:
//
//	== upsert
//	1 inserted
//	23505 duplicate key value violates unique constraint "docs_pkey"
//
// Programs print nothing that differs between two runs: no clock, no OID of a user's object, no
// duration. A case passes when its text is equal on both servers.
//
// This is a module of its own, so that drivers stay out of minidb's own dependencies. What the
// programs need is pinned: go.mod, node/package-lock.json, and Debian's packages (debian.txt),
// which ./install puts in place. A client whose tools are missing is skipped, which fails the test
// where MINIDB_CLIENTS=all, as in CI.
//
// MINIDB_CLIENTS_GATEWAYS are URLs of servers of minidb, with spaces in between, on a store that
// they share: the programs then run on one after the other, and not on a server of the test's own
// (TestClients in kv/etcdkv/cmd/minidb starts them).
package clients
