package parse

import (
	tidbast "github.com/pingcap/tidb/pkg/parser/ast"
)

// The TiDB parser asks its user for the nodes of constants. None ever reaches it from here (every
// literal and parameter is carried by a name), so its constructors only have to exist: a call is a
// broken invariant of this package.
func init() {
	tidbast.NewValueExpr = func(any, string, string) tidbast.ValueExpr { panic(constantReached) }
	tidbast.NewParamMarkerExpr = func(int) tidbast.ParamMarkerExpr { panic(constantReached) }
	tidbast.NewDecimal = func(string) (any, error) { panic(constantReached) }
	tidbast.NewHexLiteral = func(string) (any, error) { panic(constantReached) }
	tidbast.NewBitLiteral = func(string) (any, error) { panic(constantReached) }
}

const constantReached = "sql/parse: a constant reached the TiDB parser"
