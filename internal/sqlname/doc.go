// Package sqlname writes identifiers and string constants so that SQL reads them back, splits lists
// of identifiers and qualified names, and holds PostgreSQL 15's key words: some of them are no
// names unless they are quoted.
//
// It is the only place where names are quoted. The parser takes its key words from here, so that
// what one writes the other reads.
package sqlname
