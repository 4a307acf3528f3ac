package opt

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
)

// Catalog is the schema as the planner reads it.
type Catalog interface {
	// Relation resolves a name by the search path, or in the schema that the name gives; nil, nil
	// when there is none. Tables of pg_catalog and information_schema have KindVirtual.
	Relation(ctx context.Context, name ast.Name) (*table.Desc, error)
	RelationByID(ctx context.Context, id table.ID) (*table.Desc, error)
}

// Env is what planning needs besides the statement.
type Env struct {
	Catalog Catalog
	// ParseExpr and ParseQuery parse the texts that the catalog keeps: defaults, checks, views.
	ParseExpr  func(text string) (ast.Expr, error)
	ParseQuery func(text string) (*ast.Select, error)
	// Statistics returns the statistics of a table, nil when it has none. A nil function means that
	// no table has any.
	Statistics func(ctx context.Context, d *table.Desc) *stats.Table
	// Costs are the session's settings about plans.
	Costs Costs
	// Runtime is the session's, for constant folding and for literals whose meaning depends on
	// settings.
	Runtime *expr.Runtime
}
