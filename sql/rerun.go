package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// maxReruns bounds how often one statement is run again because rows changed while it ran. Each
// attempt holds the lock of at least one more row, in its newest version.
const maxReruns = 10_000

// rerun is what is needed to run a plan again.
type rerun struct {
	plan         *physical.Plan
	params       []types.Datum
	tx           *txn.Txn
	at           txn.Savepoint // before the statement's first write
	checks       ri.Mark       // likewise
	sent         notify.Mark   // likewise
	large        []markedLarge // likewise
	readTS       tso.Timestamp
	rowsReturned bool // the client has got rows
	count        int
	// anew plans the statement for the present schema, with its tables locked. It is nil if the
	// plan was made for something larger than a statement.
	anew func(ctx context.Context) (*physical.Plan, []types.Datum, error)
}

// mayRunAgain prepares a plan that was just opened for running again.
func (p *planSource) mayRunAgain(plan *physical.Plan, params []types.Datum) {
	tx := p.s.tx.tx
	p.rerun = rerun{plan: plan, params: params, tx: tx, readTS: tx.ReadTS()}
	p.mayRerun = !plan.ReadOnly && p.s.tx.reruns()
}

// plannedAnew makes a statement of the client be planned again before it runs again. One that only
// reads does not run again.
func (p *planSource) plannedAnew(ps *Prepared, stmt ast.Statement) {
	if p.rerun.plan.ReadOnly {
		return
	}
	params := p.rerun.params
	p.rerun.anew = func(ctx context.Context) (*physical.Plan, []types.Datum, error) {
		return p.s.executable(ctx, ps, stmt, params)
	}
}

// mark records the state that running again has to restore. It is called before the first row is
// asked for, and not when the plan is opened: what was written between the declaration of a cursor
// and its first FETCH stays.
func (p *planSource) mark() {
	p.rerun.at, p.rerun.checks, p.rerun.sent = p.rerun.tx.Savepoint(), p.s.references.Mark(),
		p.s.tx.notices.Mark()
	p.rerun.large = p.s.tx.large.mark()
}

// runAgain runs the statement again if err means that a row which it locked was changed after it
// was read. It undoes what the statement wrote, keeps its row locks, and opens it on a new
// snapshot, where the statement tests the row again: PostgreSQL's recheck of the row
// (docs/adr/0009).
func (p *planSource) runAgain(ctx context.Context, err error) error {
	var stale *txn.StaleError
	var none *nothingTaken
	r := &p.rerun
	if errors.As(err, &none) {
		return p.takeAgain(ctx, none)
	}
	if !p.mayRerun || r.rowsReturned || !errors.As(err, &stale) {
		return err
	}
	if r.count >= p.s.engine.opts.MaxReruns {
		p.s.engine.reruns.countRefused(p.s.database)
		return err
	}
	r.count++
	p.s.progress.reruns.Add(1)
	p.s.engine.reruns.countStatement(p.s.database, r.count)
	if cerr := p.cursor.Close(); cerr != nil {
		return cerr
	}
	r.tx.UndoTo(r.at)
	p.s.references.ReleaseTo(r.checks)
	p.s.tx.notices.RollbackTo(r.sent)
	p.s.tx.large.restore(r.large)
	if aerr := p.s.advance(ctx); aerr != nil {
		return aerr
	}
	current, verr := p.s.sameTables(ctx, r.plan)
	if verr == nil && !current {
		verr = p.replan(ctx, err)
	}
	if verr != nil {
		return verr
	}
	p.checked = !r.plan.ChecksLater
	r.readTS = r.tx.ReadTS()
	p.cursor, verr = exec.Open(ctx, p.env, r.plan, r.params)
	return verr
}

// replan makes the plan for the present schema. Table locks exclude schema changes of this process,
// so a changed schema comes from another process. The statement may then have other columns than
// were described to the client, and replan returns stale.
func (p *planSource) replan(ctx context.Context, stale error) error {
	r := &p.rerun
	if r.anew == nil {
		return stale
	}
	plan, params, err := r.anew(ctx)
	if err == errNotServed {
		return stale // too late to run the text without its template
	}
	if err != nil {
		return err
	}
	if p.cols != nil && !sameColumns(plan.Root.Columns(), p.cols) {
		return stale
	}
	p.s.references.ForgetReferrers()
	if plan.ChecksLater || plan.Lasting && !plan.ReadOnly {
		p.s.lockWrites()
	}
	r.plan, r.params = plan, params
	return nil
}
