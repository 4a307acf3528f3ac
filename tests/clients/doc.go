// Package clients runs real PostgreSQL clients against minidb: psql, pgx (extended and simple
// protocol, pool), lib/pq and database/sql over both the wire and the embedded driver. Each goes on
// the same tour, and on a few detours of its own.
package clients
