// Package drivers runs psql and the Go drivers of PostgreSQL against minidb: psql, pgx (extended
// and simple protocol, pool), lib/pq and database/sql over both the wire and the embedded driver.
// Each goes on the same tour, and on a few detours of its own.
package drivers
