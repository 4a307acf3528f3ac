package ddl

import (
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn/rowlock"
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
		if err := env.toTruncate(ctx, d); err != nil {
			return err
		}
		tables = append(tables, d)
	}
	tables, err := env.truncateReferrers(ctx, tables, s.Cascade)
	if err != nil {
		return err
	}
	if err := env.lockedAnew(); err != nil {
		return err
	}
	for _, d := range tables {
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

// truncateReferrers lists the tables once each, with those that refer to them, which needs cascade,
// and locks these.
func (env *Env) truncateReferrers(ctx context.Context, named []*table.Desc,
	cascade bool) ([]*table.Desc, error) {
	done := map[table.ID]bool{}
	var all []*table.Desc
	for _, d := range named {
		if !done[d.ID] {
			done[d.ID] = true
			all = append(all, d)
		}
	}
	own := len(all)
	for i := 0; i < len(all); i++ {
		if i >= own {
			if err := env.toTruncate(ctx, all[i]); err != nil {
				return nil, err
			}
		}
		var refused error
		err := env.eachReference(ctx, all[i], func(child *table.Desc, _ *table.ForeignKey) {
			if done[child.ID] || refused != nil {
				return
			}
			if !cascade {
				refused = sqlerr.New(sqlerr.FeatureNotSupported,
					"cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table \"%s\" references \"%s\".", child.Name, all[i].Name).
					WithHint("Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE.",
						child.Name)
				return
			}
			env.notice("00000", "truncate cascades to table \"%s\"", child.Name)
			done[child.ID] = true
			all = append(all, child)
		})
		if err = errors.Join(err, refused); err != nil {
			return nil, err
		}
	}
	return all, nil
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
		if err := env.View.Restart(ctx, restarted, restarted.Sequence,
			restarted.Sequence.Start); err != nil {
			return err
		}
		if err := env.View.UpdateRelation(ctx, seq, restarted); err != nil {
			return err
		}
	}
	return nil
}

// toTruncate locks a table that is to be truncated, and refuses one that is not to be now.
func (env *Env) toTruncate(ctx context.Context, d *table.Desc) error {
	if err := env.mayTruncate(ctx, d); err != nil {
		return err
	}
	if err := env.lock(ctx, d, rowlock.AccessExclusive); err != nil {
		return err
	}
	return env.unused("TRUNCATE", d)
}

func (env *Env) mayTruncate(ctx context.Context, d *table.Desc) error {
	a, err := env.authority(ctx)
	if err != nil || a.Granted(acl.Relation, d.OwnedBy(), d.ACL, acl.Truncate) != 0 {
		return err
	}
	return permissionOn(d)
}
