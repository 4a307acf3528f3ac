package opt

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// Catalog is the schema as the planner reads it.
type Catalog interface {
	// Relation resolves a name by the search path, or in the schema that the name gives; nil, nil
	// when there is none. Tables of pg_catalog and information_schema have KindVirtual.
	Relation(ctx context.Context, name ast.Name) (*table.Desc, error)
	RelationByID(ctx context.Context, id table.ID) (*table.Desc, error)
	// Type resolves the name of a type by the search path, or in the schema that the name gives:
	// built-in types, those that users made, and the types of arrays of these; nil, nil when there
	// is none.
	Type(ctx context.Context, name ast.Name) (*types.Type, error)
	// TypeByOID finds a type of any of these kinds; nil, nil when there is none.
	TypeByOID(ctx context.Context, oid types.OID) (*types.Type, error)
}

// RowSecurity is what row level security makes of a table for one role.
type RowSecurity struct {
	// Bound: the role may use only the rows that Policies, those for the role, let it use.
	Bound    bool
	Policies []table.Policy
}

// Env is what planning needs besides the statement.
type Env struct {
	Catalog Catalog
	// ParseExpr and ParseQuery parse the texts that the catalog keeps: defaults, checks, views.
	ParseExpr  func(text string) (ast.Expr, error)
	ParseQuery func(text string) (*ast.Select, error)
	// Extensions finds the members of the database's extensions by their names; nil: it has none.
	Extensions func(ctx context.Context) (*extension.Scope, error)
	// MayUse returns an error if the role that runs the statement may not use a schema that it
	// names; nil: it may use all. The texts of views are not asked for.
	MayUse func(ctx context.Context, schema string) error
	// RowSecurity returns the row security policies of a table that bind a role, 0 for the one that
	// runs the statement; nil when no role is bound, because the table has no row security. An
	// error ends the planning. A nil function means that no policy binds anyone.
	RowSecurity func(ctx context.Context, d *table.Desc, as acl.RoleID) (*RowSecurity, error)
	// Routines returns the functions (*expr.Func) and aggregates (*expr.Aggregate) whose privileges
	// GRANT or REVOKE has changed, with their object IDs: a statement that calls one needs EXECUTE
	// on it. A nil function means that there are none.
	Routines func(ctx context.Context) (map[any]table.ID, error)
	// Statistics returns the statistics of a table, nil when it has none. A nil function means that
	// no table has any.
	Statistics func(ctx context.Context, d *table.Desc) *stats.Table
	// Costs are the session's settings about plans.
	Costs Costs
	// Variables resolves the names of a program's variables; nil: the statement is part of none.
	Variables Variables
	// Runtime is the session's, for constant folding and for literals whose meaning depends on
	// settings.
	Runtime *expr.Runtime
}

// Variables are the variables of the program that a statement is part of. A variable is a parameter
// of the statement, and a name means it if it means no column.
type Variables interface {
	// Variable returns what a name of one to four parts means; nil: no variable.
	Variable(names []string) *Variable
	// Column returns what a name means that is a variable's and a column's: whether it is the
	// column, or, if it is neither that nor the variable, that it is ambiguous.
	Column() (column, ambiguous bool)
	// Wanted is the type of the variable to which the statement's value is assigned.
	Wanted() *types.Type
}

// Variable is a variable of a program, or a field of it.
type Variable struct {
	Name  string
	Param int         // the number of the parameter that has its value
	Type  *types.Type // nil: a record to which nothing is assigned yet
	Field string      // "": the whole variable
}
