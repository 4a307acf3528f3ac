package exec

import (
	"strconv"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/gin"
)

// startKeys opens the scanner of a scan by the entries of GIN indexes.
func (s *scan) startKeys() error {
	q, err := s.keyQuery(s.node.Keys)
	if err != nil {
		return err
	}
	scanner, err := table.OpenKeyScan(s.run.reads(s.node), table.KeyScanSpec{
		Desc: s.node.Table, Index: s.node.Index, Query: q, Out: s.node.Out,
		Grow: s.run.mem.grow, Shrink: s.run.mem.shrink,
	})
	if err != nil {
		return err
	}
	s.scanner, s.read = scanner, 0
	return nil
}

// limit returns the value of the setting on which the operator of a condition depends.
func (s *scan) limit(k *physical.KeyCond) (float64, error) {
	column := table.GINColumn(s.node.Table, k.Index, k.Column)
	if column == nil || column.Setting(k.Operator) == "" {
		return 0, nil
	}
	session := s.run.ev.Runtime.Session
	if session == nil {
		return 0, nil
	}
	text, _ := session.Setting(column.Setting(k.Operator))
	return strconv.ParseFloat(text, 64)
}

// keyQuery evaluates the arguments of conditions, and returns the query for their rows.
func (s *scan) keyQuery(k *physical.KeyCond) (*gin.Query, error) {
	if k.Index != nil {
		arg := scalarExpr{e: k.Arg}
		v, err := arg.value(s.run)
		if err != nil {
			return nil, err
		}
		limit, err := s.limit(k)
		if err != nil {
			return nil, err
		}
		return table.KeyQuery(s.node.Table, k.Index, k.Column, k.Operator, v, limit)
	}
	parts := make([]*gin.Query, len(k.Args))
	for i, a := range k.Args {
		var err error
		if parts[i], err = s.keyQuery(a); err != nil {
			return nil, err
		}
	}
	if k.Any {
		return gin.AnyOf(parts), nil
	}
	return gin.AllOf(parts), nil
}
