// Package tools runs PostgreSQL's own programs against PostgreSQL 15 and minidb and compares what
// they print: pg_dump, pg_restore and pg_dumpall on a schema with everything that minidb has,
// psql's backslash commands on the same schema, and the programs that maintain a database. They
// come from Debian's postgresql-15; the tests skip where they are missing.
package tools
