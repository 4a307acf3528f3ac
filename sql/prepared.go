package sql

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/template"
	"github.com/minidb/minidb/table/types"
)

// Prepared is a parsed statement whose parameters and result are known.
type Prepared struct {
	Name       string
	Text       string
	Stmt       ast.Statement // nil: an empty text
	ParamTypes []*types.Type
	// Columns are what Describe returns; HasRows is false for statements that return none.
	Columns []physical.Column
	HasRows bool

	sql   bool // by PREPARE
	inner bool // part of another statement's work
	// variables are those of the program that the statement is part of; nil: of none. arguments are
	// their values in the present run.
	variables opt.Variables
	arguments []types.Datum
	declared  []*types.Type // by the client; nil entries are to be inferred
	offset    int           // of Text in the message
	unbound   int           // parameters in the text of a Query, which have no values
	source    string        // the text with PREPARE or DECLARE that made it, or ""
	plan      *physical.Plan
	basis     planBasis
	bytes     int64 // counted by the session while it has a name

	template *template.Template // that made the statement, with
	values   []template.Argument
}

// isPointRead reports whether the present plan does nothing but read one row by its key.
func (ps *Prepared) isPointRead() bool { return ps.plan != nil && exec.IsPointRead(ps.plan) }

// smallText is the length up to which the memory for parsing a text is not counted.
const smallText = 16 << 10

func sameColumns(a, b []physical.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !a[i].Type.Equal(b[i].Type) || a[i].Type.Mod != b[i].Type.Mod {
			return false
		}
	}
	return true
}

func sameTypes(a, b []*types.Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// checkResult refuses a new plan of a described statement if its columns differ from those
// described.
func (ps *Prepared) checkResult(cols []physical.Column) error {
	if !sameColumns(cols, ps.Columns) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
	}
	return nil
}

// ReadOnly reports whether the statement is a query that writes nothing.
func (ps *Prepared) ReadOnly() bool {
	_, query := ps.Stmt.(*ast.Select)
	return query && ps.plan != nil && ps.plan.ReadOnly
}
