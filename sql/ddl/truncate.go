package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
)

func (env *Env) truncate(ctx context.Context, s *ast.Truncate) error {
	var tables []*table.Desc
	for _, n := range s.Tables {
		d, err := env.relation(ctx, n)
		if err != nil {
			return err
		}
		if d.Kind != table.KindTable {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", d.Name)
		}
		tables = append(tables, d)
	}
	done := map[table.ID]bool{}
	for _, d := range tables {
		if done[d.ID] {
			continue
		}
		done[d.ID] = true
		if err := env.View.Truncate(ctx, d); err != nil {
			return err
		}
		if env.Cleared != nil {
			env.Cleared(d.ID)
		}
		if s.RestartIdentity {
			if err := env.restartOwned(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// restartOwned restarts the sequences that the table's columns own.
func (env *Env) restartOwned(ctx context.Context, d *table.Desc) error {
	for i := range d.Columns {
		if d.Columns[i].SequenceID == 0 {
			continue
		}
		seq, err := env.View.RelationByID(ctx, d.Columns[i].SequenceID)
		if err != nil {
			return err
		}
		if seq == nil {
			continue
		}
		restarted := seq.Clone()
		if err := env.View.Restart(ctx, restarted.Sequence, restarted.Sequence.Start); err != nil {
			return err
		}
		if err := env.View.UpdateRelation(ctx, seq, restarted); err != nil {
			return err
		}
	}
	return nil
}
