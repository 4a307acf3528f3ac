// Package colfmt writes columns of rows as bytes that the process itself reads again: rows of
// statements that do not fit memory (sql/exec/spill), columns that scans keep on disk (table). So
// there is no version of the format, and nothing in it names a type by its OID.
package colfmt
