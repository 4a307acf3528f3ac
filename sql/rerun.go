package sql

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// maxReruns bounds how often one statement is run again because rows changed under it. Each time it
// has at least one more row locked as it is now.
const maxReruns = 10_000

// rerun is what it takes to run a plan again.
type rerun struct {
	plan   *physical.Plan
	params []types.Datum
	tx     *txn.Txn
	at     txn.Savepoint // before the statement's first write
	checks ri.Mark       // likewise
	sent   notify.Mark   // likewise
	readTS tso.Timestamp
	given  bool // rows are out
	count  int
	// anew plans the statement for the schema as it is now, with its tables locked; nil where a plan was
	// made for something larger than a statement.
	anew func(ctx context.Context) (*physical.Plan, []types.Datum, error)
}

// mayRunAgain prepares a plan that was just opened.
func (p *planSource) mayRunAgain(plan *physical.Plan, params []types.Datum) {
	tx := p.s.tx.tx
	p.again = rerun{plan: plan, params: params, tx: tx, readTS: tx.ReadTS()}
	p.rerun = !plan.ReadOnly && p.s.tx.reruns()
}

// plannedAnew lets a statement of the client's be planned again before it runs again.
func (p *planSource) plannedAnew(ps *Prepared, stmt ast.Statement) {
	params := p.again.params
	p.again.anew = func(ctx context.Context) (*physical.Plan, []types.Datum, error) {
		return p.s.executable(ctx, ps, stmt, params)
	}
}

// mark notes what running again has to go back to. It comes before the first row is asked for, and not
// when the plan is opened: what was written between a cursor's declaration and its first FETCH stays.
func (p *planSource) mark() {
	p.again.at, p.again.checks, p.again.sent = p.again.tx.Savepoint(), p.s.references.Mark(), p.s.tx.notices.Mark()
}

// runAgain undoes what the statement wrote, keeps its row locks, and opens it on a new snapshot, if
// err says that a row which it locked was changed after it was read. Then the statement decides
// anew, which is PostgreSQL's second look at the row (docs/adr/0009).
func (p *planSource) runAgain(ctx context.Context, err error) error {
	var stale *txn.StaleError
	r := &p.again
	if !p.rerun || r.given || !errors.As(err, &stale) {
		return err
	}
	if r.count >= p.s.engine.opts.MaxReruns {
		p.s.engine.reruns.refused(p.s.database)
		return err
	}
	r.count++
	p.s.progress.reruns.Add(1)
	p.s.engine.reruns.again(p.s.database, r.count)
	if cerr := p.cursor.Close(); cerr != nil {
		return cerr
	}
	r.tx.UndoTo(r.at)
	p.s.references.ReleaseTo(r.checks)
	p.s.tx.notices.RollbackTo(r.sent)
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
	p.checked = !r.plan.References
	r.readTS = r.tx.ReadTS()
	p.cursor, verr = exec.Open(ctx, p.env, r.plan, r.params)
	return verr
}

// sameTables reports whether the transaction sees every table of a plan as the plan was made for. Other
// changes of the schema do not concern it.
func (s *transactor) sameTables(ctx context.Context, plan *physical.Plan) (bool, error) {
	for i := range plan.Tables {
		t := &plan.Tables[i]
		if t.ID < catalog.FirstID {
			continue // the system's own tables never change
		}
		d, err := s.tx.view.RelationByID(ctx, t.ID)
		if err != nil || d == nil || d.Version != t.Version {
			return false, err
		}
	}
	return true, nil
}

// replan makes the plan for the schema as it is now. A schema change that the locks of tables exclude can
// have come from another process alone: then the statement may have other columns than its client was told
// of, and stale is the answer.
func (p *planSource) replan(ctx context.Context, stale error) error {
	r := &p.again
	if r.anew == nil {
		return stale
	}
	plan, params, err := r.anew(ctx)
	if err == errNotServed {
		return stale // a template cannot give way to another one's plan any more
	}
	if err != nil {
		return err
	}
	if p.cols != nil && !sameColumns(plan.Root.Columns(), p.cols) {
		return stale
	}
	p.s.references.ForgetReferrers()
	if plan.References || plan.Lasting && !plan.ReadOnly {
		p.s.lockWrites()
	}
	r.plan, r.params = plan, params
	return nil
}

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

// gathered reads the plan to its end before it gives anything out.
func (p *planSource) gathered(ctx context.Context) (*types.Batch, error) {
	if p.rows == nil {
		rows, err := p.s.materialise(ctx, &planRows{p})
		if err != nil {
			return nil, err
		}
		p.rows = rows
	}
	return p.rows.next(ctx)
}

// planRows are the rows of a plan as a source; closing it leaves the plan open.
type planRows struct{ p *planSource }

func (r *planRows) columns() []physical.Column { return r.p.cols }
func (r *planRows) tag(int64) string           { return "" }
func (r *planRows) close()                     {}
func (r *planRows) next(ctx context.Context) (*types.Batch, error) {
	return r.p.pull(ctx)
}

// rerunCounts count statements that were run again, by database.
type rerunCounts struct {
	mu sync.Mutex
	of map[string]*pgcatalog.Reruns
}

func (c *rerunCounts) count(database string, f func(*pgcatalog.Reruns)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of[database]
	if n == nil {
		if c.of == nil {
			c.of = map[string]*pgcatalog.Reruns{}
		}
		n = &pgcatalog.Reruns{Database: database}
		c.of[database] = n
	}
	f(n)
}

// again counts that a statement runs again for the nth time.
func (c *rerunCounts) again(database string, nth int) {
	c.count(database, func(n *pgcatalog.Reruns) {
		if nth == 1 {
			n.Statements++
		}
		n.Reruns++
		n.Most = max(n.Most, int64(nth))
	})
}

// refused counts a statement that was run again as often as it may be.
func (c *rerunCounts) refused(database string) {
	c.count(database, func(n *pgcatalog.Reruns) { n.Refused++ })
}

// repeated counts an implicit transaction that is run again after a conflict.
func (c *rerunCounts) repeated(database string) {
	c.count(database, func(n *pgcatalog.Reruns) { n.Transactions++ })
}

// Reruns lists how often statements were run again, a row for each database where that has happened.
func (e *Engine) Reruns() []pgcatalog.Reruns {
	e.reruns.mu.Lock()
	defer e.reruns.mu.Unlock()
	var out []pgcatalog.Reruns
	for _, n := range e.reruns.of {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b pgcatalog.Reruns) int { return strings.Compare(a.Database, b.Database) })
	return out
}
