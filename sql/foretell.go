package sql

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table/types"
)

// Foretell says that a statement will be run outside of a block: see foretell. An error meets the
// run itself. In a block each statement may read a state of its own.
func (s *Session) Foretell(ctx context.Context, ps *Prepared, params []types.Datum) {
	if s.engine.shared && s.tx.state == idle && s.ensure(ctx) == nil {
		_ = s.foretell(ctx, ps, params, true)
	}
}

// foretell says, where each read of the store is a request, what the plan that the statement had
// the last time would read: so the look at the version of the schema, by which the plan is judged,
// brings the rows with it (Percolator, §2.5). With another plan they are read in vain. An INSERT
// that sends no rows before the commit may need no look at all, if it is all of its transaction,
// and locks nothing (alone).
func (s *planRunner) foretell(ctx context.Context, ps *Prepared, params []types.Datum,
	alone bool) error {
	tx := s.tx.tx
	if tx == nil || !tx.Foretold() || ps.inner || ps.variables != nil {
		return nil
	}
	plan := s.lastPlan(ps)
	if plan == nil {
		return nil
	}
	if ps.template != nil {
		var err error
		if params, err = s.fillTemplate(ctx, ps, plan); err != nil {
			return nil // the plan of now decides
		}
	}
	if keys := exec.Foretold(ctx, plan, params); len(keys) > 0 {
		if err := tx.Foretell(ctx, keys); err != nil {
			return err
		}
	}
	if k := kindOf(ps.Stmt); alone && k.countsOnly() && exec.InsertsOnly(plan) {
		s.assume()
	}
	return nil
}

// lastPlan returns the plan that a statement had the last time, or nil.
func (s *planRunner) lastPlan(ps *Prepared) *physical.Plan {
	if ps.plan != nil {
		return ps.plan
	}
	kept, _ := s.engine.plans.plans.Get(planKey{database: s.databaseID, text: ps.Text,
		params: typesKey(ps.declared), settings: s.planSettings()})
	return kept.plan
}
