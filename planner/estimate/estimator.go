package estimate

import (
	"context"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// Estimator makes the estimates for one statement. The nil Estimator has no statistics and guesses.
type Estimator struct {
	scans  []logical.ScanColumns
	tables map[table.ID]*stats.Table // only tables with statistics
	rt     *expr.Runtime
}

// New returns the estimator of a statement, nil when none of its tables has statistics.
func New(ctx context.Context, env *opt.Env, meta *logical.Meta) *Estimator {
	tables := statistics(ctx, env, meta)
	if tables == nil {
		return nil
	}
	return &Estimator{scans: meta.Scans, tables: tables, rt: env.Runtime}
}

// OfDelta is New for a statement that joins a few changed rows with tables. It is never nil: of two
// tables without statistics New's guess is a join with as many rows as the larger one has, after
// which all further tables would be read as a whole.
func OfDelta(ctx context.Context, env *opt.Env, meta *logical.Meta) *Estimator {
	return &Estimator{scans: meta.Scans, tables: statistics(ctx, env, meta), rt: env.Runtime}
}

// statistics returns those of the statement's tables, nil when none has any.
func statistics(ctx context.Context, env *opt.Env, meta *logical.Meta) map[table.ID]*stats.Table {
	if env.Statistics == nil {
		return nil
	}
	var tables map[table.ID]*stats.Table
	for _, s := range meta.Scans {
		if !s.Desc.HasRows() {
			continue
		}
		t := env.Statistics(ctx, s.Desc)
		if t == nil {
			continue
		}
		if tables == nil {
			tables = map[table.ID]*stats.Table{}
		}
		tables[s.Desc.ID] = t
	}
	return tables
}

// Known reports whether any table has statistics.
func (e *Estimator) Known() bool { return e != nil }

// Guesses without statistics.
const (
	tableRows   = 1000
	virtualRows = 200
	deltaRows   = 2
	// Of what an incremental view keeps: it is looked up for the few rows that change, if possible.
	viewRows       = 100_000
	groupsGuess    = 200
	equalSelective = 0.005
	rangeSelective = 0.33
	boundSelective = 0.05 // between two bounds
	otherSelective = 0.33
)

// Guesses for numbers that are known only when the statement runs.
const (
	ArrayElements = 10  // of an array
	SetElements   = 10  // of a set-returning function in the select list, for each row
	SetRows       = 100 // of a function in FROM, or of a WITH query
	LimitRows     = 10  // for the count of LIMIT
)

// TableRows returns the number of rows of a table.
func (e *Estimator) TableRows(d *table.Desc) float64 {
	switch d.Kind {
	case table.KindVirtual:
		return virtualRows
	case table.KindDelta:
		return deltaRows
	case table.KindSequence:
		return 1
	}
	if e != nil {
		if t := e.tables[d.ID]; t != nil {
			return max(1, t.Rows)
		}
	}
	if d.Kind == table.KindState || d.Incremental() {
		return viewRows
	}
	return tableRows
}

// scanOf returns the scan that makes a column, nil when no scan does.
func (e *Estimator) scanOf(id logical.ColID) *logical.ScanColumns {
	if e == nil {
		return nil
	}
	for i := range e.scans {
		if s := &e.scans[i]; id >= s.First &&
			id < s.First+len(s.Desc.Columns)+len(s.Exprs) {
			return s
		}
	}
	return nil
}

// column returns the statistics of a column, and the rows of its table. The statistics are nil when
// there are none.
func (e *Estimator) column(id logical.ColID) (*stats.Column, float64) {
	s := e.scanOf(id)
	if s == nil {
		return nil, 0
	}
	t := e.tables[s.Desc.ID]
	if t == nil {
		return nil, 0
	}
	o := id - s.First
	var of table.ColumnID
	if x := s.Desc.Expr(o); x != nil {
		of = x.ID
	} else {
		of = s.Desc.Columns[o].ID
	}
	c := t.Columns[of]
	if c == nil || c.Type.OID != s.Desc.PartType(o).OID { // stats I1
		return nil, 0
	}
	return c, max(1, t.Rows)
}

// columnOf is column for an expression that is a column, or a cast of one that maps different
// values to different values.
func (e *Estimator) columnOf(x expr.Expr) (*stats.Column, float64) {
	if id := e.idOf(x); id != 0 {
		return e.column(id)
	}
	return nil, 0
}

// idOf returns the ID of an expression that is a column, or that an index has and which therefore
// may have statistics. A cast that maps different values to different values is ignored. It returns
// 0 for any other expression.
func (e *Estimator) idOf(x expr.Expr) logical.ColID {
	if e == nil {
		return 0
	}
	x = stripCast(x)
	switch x := x.(type) {
	case *expr.Col:
		return x.Index
	case *expr.Const, *expr.Param:
		return 0
	}
	for i := range e.scans {
		s := &e.scans[i]
		for k, have := range s.Exprs {
			if have != nil && logical.Equal(have, x) {
				return s.First + len(s.Desc.Columns) + k
			}
		}
	}
	return 0
}

// stripCast removes a cast that keeps the order of values and keeps different values different.
func stripCast(x expr.Expr) expr.Expr {
	cast, ok := x.(*expr.Cast)
	if !ok {
		return x
	}
	from, to := cast.Arg.Type().Family, cast.T.Family
	switch {
	case from == to && (from == types.Int || from == types.Float || from == types.String),
		from == types.Int && (to == types.Decimal || to == types.Float),
		from == types.Date && to == types.Timestamp:
		return cast.Arg
	}
	return x
}

// isUnique reports whether a column alone is a unique key of its table.
func (e *Estimator) isUnique(id logical.ColID) bool {
	s := e.scanOf(id)
	if s == nil || id-s.First >= len(s.Desc.Columns) {
		return false
	}
	column := s.Desc.Columns[id-s.First].ID
	for i := range s.Desc.Indexes {
		ix := &s.Desc.Indexes[i]
		if (ix.Unique || ix.Primary) && ix.WhereText == "" && len(ix.Columns) == 1 &&
			ix.Columns[0].ColumnID == column {
			return true
		}
	}
	return false
}
