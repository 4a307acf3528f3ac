package builtin

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
)

// absentFunctions has the names of PostgreSQL's functions that are not here, a line each. A test of
// pgcatalog holds it against the catalogue.
//
//go:embed absent_functions.txt
var absentFunctions string

var absent = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(absentFunctions) {
		m[name] = true
	}
	return m
})

// absentTypes are PostgreSQL's types that are not here.
var absentTypes = map[string]bool{
	"gtsvector": true, "pg_brin_bloom_summary": true, "pg_brin_minmax_multi_summary": true,
	"pg_dependencies": true, "pg_mcv_list": true, "pg_ndistinct": true, "tsquery": true,
	"tsvector": true,
}

// AbsentType returns the error 0A000 for a written type that PostgreSQL has and minidb has not, and
// nil for any other name.
func AbsentType(schema, name string) error {
	if absentTypes[name] && (schema == "" || schema == "pg_catalog") {
		return sqlerr.Unsupported(0, "type "+name)
	}
	return nil
}
