package sql

import (
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/catalog"
)

// Programs compiles the expressions of indexes, for the catalog that an Engine is opened with and
// for what reads or copies a store without one.
func Programs() catalog.Programs { return planner.Programs{ParseExpr: parse.ParseExpr} }
