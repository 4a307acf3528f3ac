package opt

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
)

// Catalog is what the planner asks of the schema.
type Catalog interface {
	// Relation resolves a name by the search path, or in the schema that the name says; nil, nil
	// when there is none. Tables of pg_catalog and information_schema come as KindVirtual.
	Relation(ctx context.Context, name ast.Name) (*table.Desc, error)
	RelationByID(ctx context.Context, id table.ID) (*table.Desc, error)
}

// Env is what planning needs beside the statement.
type Env struct {
	Catalog Catalog
	// ParseExpr and ParseQuery read the texts that the catalog keeps: defaults, checks, views.
	ParseExpr  func(text string) (ast.Expr, error)
	ParseQuery func(text string) (*ast.Select, error)
	// Statistics gives what is known of a table's contents, nil where nothing is. Nil: of none.
	Statistics func(ctx context.Context, d *table.Desc) *stats.Table
	// Costs are the session's wishes about plans.
	Costs Costs
	// Runtime is the session's, for literals whose meaning depends on it and for folding.
	Runtime *expr.Runtime
}
