package sql

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/template"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// planRunner is the layer of a session that plans and runs a statement in the present transaction.
type planRunner struct {
	transactor
	prepared  map[string]*Prepared
	inner     map[string]*Prepared    // statements that check foreign keys
	callees   map[types.OID]*Prepared // calls of built-in functions by their IDs
	currval   map[types.OID]int64
	lastSeq   types.OID
	drawn     map[table.ID]drawn // of sequences with CACHE; nil: none yet
	random    *rand.Rand         // as setseed made it; nil: Go's own source
	creating  newSchema
	noticed   map[string]time.Time // by view: the beginning of the last message with noticeOwn
	format    types.Format
	checked   lastChecked
	point     *pointSource // nil: no statement has read by key
	outOfPlan accessor     // for values that are read and written outside of plans
	// betweenPlans is what constraints of domains have access to there.
	betweenPlans expr.Runtime
	// virtual is virtualRows, made once for all statements.
	virtual func(ctx context.Context, d *table.Desc, columns []int,
		emit func(row []types.Datum) error) error
}

// runOptions are how a plan is run.
type runOptions struct {
	stats       bool // count what each node does
	incremental bool // for a cursor
	// inPieces means that the client takes a limited number of rows at a time. If a changed row can
	// be rechecked by itself, rows are locked as they are taken. Otherwise all rows are made first,
	// so that the statement may run again as a whole.
	inPieces bool
	// point means that a read of a single row by key may use the memory that the session keeps for
	// those: the source is closed when its portal is, and not used any more.
	point bool
	// as is the role that runs the plan; 0: the current one. unchecked: the plan is part of another
	// statement's work, for which no privileges are needed.
	as        acl.RoleID
	unchecked bool
	// load, if not nil, takes the rows of an INSERT.
	load *table.Load
	// paramRows is how many rows of parameters there are (exec.Env.ParamRows).
	paramRows int
}

// openPlan starts a planned statement.
func (s *planRunner) openPlan(ctx context.Context, ps *Prepared, stmt ast.Statement,
	params []types.Datum, o runOptions) (*planSource, error) {
	plan, with, err := s.executable(ctx, ps, stmt, params)
	if err != nil {
		return nil, err
	}
	if !plan.ReadOnly && !onlyTemporary(plan) {
		if err := s.mayWrite(stmt); err != nil {
			return nil, err
		}
	}
	o.stats = o.stats || s.LogSettings().Explain.Counts()
	o.point = o.point && plan == ps.plan && ps.isPointRead()
	src, err := s.runPlan(ctx, plan, stmt, with, o)
	if err == nil {
		src.plannedAnew(ps, stmt)
	}
	return src, err
}

// executable returns a plan of a statement, with its tables locked and with the result columns that
// were described to the client. It also returns the values of the parameters: params, or those that
// a template finds in the text.
func (s *planRunner) executable(ctx context.Context, ps *Prepared, stmt ast.Statement,
	params []types.Datum) (*physical.Plan, []types.Datum, error) {
	if err := s.foretell(ctx, ps, params, s.tx.optimistic); err != nil {
		return nil, nil, err
	}
	plan, err := s.lockedPlan(ctx, ps, stmt)
	if err != nil {
		return nil, nil, err
	}
	if ps.template != nil {
		if params, err = s.fillTemplate(ctx, ps, plan); err != nil {
			return nil, nil, err
		}
	}
	if ps.Columns != nil && ps.Stmt == stmt {
		if err := ps.checkResult(plan.Root.Columns()); err != nil {
			return nil, nil, err
		}
	}
	if ps.variables != nil {
		return plan, ps.arguments[:len(plan.ParamTypes)], nil
	}
	if len(params) > 0 && !sameTypes(plan.ParamTypes, ps.ParamTypes) {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"cached plan must not change parameter types")
	}
	return plan, params, nil
}

// runPlan opens a plan in the session's transaction.
func (s *planRunner) runPlan(ctx context.Context, plan *physical.Plan, stmt ast.Statement,
	params []types.Datum, o runOptions) (*planSource, error) {
	if !o.unchecked {
		if err := s.checkRights(ctx, plan, o.as); err != nil {
			return nil, err
		}
	}
	if !plan.ReadOnly {
		if err := s.detachCursors(ctx, plan); err != nil {
			return nil, err
		}
	}
	if plan.ChecksLater || plan.Lasting && !plan.ReadOnly {
		s.lockWrites()
	}
	p := s.source(&o)
	p.room.init(ctx, s)
	env := &p.room.Env
	env.Stats, env.Load, env.ParamRows = o.stats, o.load, o.paramRows
	env.Incremental = o.incremental || o.inPieces && exec.LocksInPieces(plan)
	p.s, p.env, p.needs, p.stmt, p.checked = s, env, plan.Needs, stmt, !plan.ChecksLater
	if err := p.open(ctx, plan, params); err != nil {
		return nil, err
	}
	p.mayRunAgain(plan, params)
	if kindOf(stmt).returnsRows {
		if p.cols = p.cursor.Columns(); p.cols == nil {
			p.cols = []physical.Column{}
		}
	}
	return p, nil
}

// mayWrite returns an error if a statement that writes is not allowed now.
func (s *planRunner) mayWrite(stmt ast.Statement) error {
	if name := kindOf(stmt).name; name != "" {
		return s.writable(name)
	}
	return nil
}

// planBasis is what a plan is made for: it is valid in a transaction with the same basis, as long
// as the statistics of its tables have not changed since the epoch.
type planBasis struct {
	version  uint64 // of the catalog
	settings string
	epoch    uint64 // of the statistics
	// temporary and temporaryEpoch are of the session's temporary objects, zero if there are none.
	temporary, temporaryEpoch uint64
}

// planFor returns a plan of ps (or of the statement inside) that is valid in the present
// transaction: the plan made before if the schema is still the same, else one from the cache, else
// a new one.
func (s *planRunner) planFor(ctx context.Context, ps *Prepared, stmt ast.Statement) (*physical.Plan,
	error) {
	version, own, err := s.tx.view.Version(ctx)
	if err != nil {
		return nil, err
	}
	// Plans for a schema, or statistics, that only this transaction sees are not kept.
	own = own || s.tx.view.Renewed() || len(s.tx.analyzed) > 0
	if !own && !ps.inner {
		if own, err = s.schemaChanged(ctx); err != nil {
			return nil, err
		}
	}
	basis := planBasis{version: version, settings: s.planSettings(),
		epoch: s.engine.statistics.Epoch()}
	if basis.temporary, basis.temporaryEpoch, err = s.temporaryVersion(ctx); err != nil {
		return nil, err
	}
	if !own && s.keptPlanHolds(ps, &basis) {
		return ps.plan, nil
	}
	short := len(ps.Text) <= maxCachedText
	var plan *physical.Plan
	if !own && short && ps.offset == 0 && ps.Stmt == stmt && !ps.inner && ps.variables == nil {
		plan, err = s.sharedPlan(ctx, ps, basis)
	} else {
		plan, err = s.newPlan(ctx, ps, stmt)
	}
	if err != nil {
		return nil, err
	}
	ps.plan = nil
	if !own && short && !plan.NoCache {
		ps.plan, ps.basis = plan, basis
	}
	return plan, nil
}

// keptPlanHolds reports whether the plan that ps keeps, if any, is still valid.
func (s *planRunner) keptPlanHolds(ps *Prepared, basis *planBasis) bool {
	return ps.plan != nil && s.holds(ps.plan, &ps.basis, basis)
}

// holds reports whether a plan made for one basis is valid for another, that of now.
func (s *planRunner) holds(plan *physical.Plan, made, now *planBasis) bool {
	then := *made
	then.epoch = now.epoch
	if then != *now {
		return false
	}
	epoch, current := s.planIsCurrent(plan, made.epoch)
	if current {
		made.epoch = epoch
	}
	return current
}

// sharedPlan returns the plan of ps from the cache, or makes it and puts it there.
func (s *planRunner) sharedPlan(ctx context.Context, ps *Prepared,
	basis planBasis) (*physical.Plan, error) {
	key := planKey{database: s.databaseID, text: ps.Text, params: typesKey(ps.declared),
		settings: basis.settings}
	if basis.temporary != 0 {
		return s.temporaryPlan(ctx, ps, key, basis)
	}
	if plan := s.engine.plans.get(key, basis.version, s.planIsCurrent); plan != nil {
		return plan, nil
	}
	plan, err := s.newPlan(ctx, ps, ps.Stmt)
	if err == nil && !plan.NoCache {
		s.engine.plans.put(key, cachedPlan{basis.version, basis.epoch, plan})
	}
	return plan, err
}

// temporaryPlan is sharedPlan for a session that has temporary objects: it keeps its plans itself.
func (s *planRunner) temporaryPlan(ctx context.Context, ps *Prepared, key planKey,
	basis planBasis) (*physical.Plan, error) {
	if p, ok := s.temporary.plans.Get(key); ok && s.holds(p.plan, &p.basis, &basis) {
		return p.plan, nil
	}
	plan, err := s.newPlan(ctx, ps, ps.Stmt)
	if err == nil && !plan.NoCache {
		s.temporary.plans.Put(key, temporaryPlan{basis, plan})
	}
	return plan, err
}

func (s *planRunner) newPlan(ctx context.Context, ps *Prepared,
	stmt ast.Statement) (*physical.Plan, error) {
	s.engine.planned.Add(1)
	ctx, work := memory.With(ctx, s.memory)
	defer work.End()
	env := s.plannerEnv(ctx)
	env.Variables = ps.variables
	if ps.inner {
		env.MayUse, env.RowSecurity = nil, nil
	}
	plan, err := planner.Plan(ctx, env, stmt, ps.declared)
	if err != nil && ps.template != nil {
		return nil, errNotServed
	}
	return plan, s.withMoment(err)
}

// lockedPlan is planFor with the tables of the plan locked, and with its views as fresh as they
// have to be.
func (s *planRunner) lockedPlan(ctx context.Context, ps *Prepared,
	stmt ast.Statement) (*physical.Plan, error) {
	for {
		plan, err := s.planLocking(ctx, ps, stmt)
		if err != nil {
			return nil, err
		}
		changed, err := s.freshViews(ctx, plan)
		if err != nil || !changed {
			return plan, err
		}
	}
}

// planLocking is planFor with the tables of the plan locked.
func (s *planRunner) planLocking(ctx context.Context, ps *Prepared,
	stmt ast.Statement) (*physical.Plan, error) {
	for {
		plan, err := s.planFor(ctx, ps, stmt)
		var changed bool
		if err == nil {
			changed, err = s.lockTables(ctx, plan.Tables)
		} else if changing := s.awaitChanges(ctx, ps, stmt); changing {
			changed, err = true, nil
		}
		if err != nil || !changed {
			return plan, err
		}
		if again, err := s.recheckSchema(ctx); err != nil || !again {
			return plan, err
		}
	}
}

// awaitChanges is called for a statement that cannot be planned. It waits for the transactions that
// are changing a table of the statement, and reports whether there were any: a name that was
// missing may exist now. PostgreSQL locks a table before it looks for its columns.
func (s *planRunner) awaitChanges(ctx context.Context, ps *Prepared, stmt ast.Statement) bool {
	if !s.refreshable() {
		return false
	}
	env, waited := s.plannerEnv(ctx), false
	env.Variables = ps.variables
	env.Catalog = lockingResolver{resolver: resolver{s}, waited: &waited}
	_, _ = planner.Plan(ctx, env, stmt, ps.declared) // the error is known
	return waited
}

// lockingResolver locks the relations that it finds.
type lockingResolver struct {
	resolver
	waited *bool
}

func (r lockingResolver) Relation(ctx context.Context, name ast.Name) (*table.Desc, error) {
	d, err := r.resolver.Relation(ctx, name)
	if d == nil || err != nil {
		return d, err
	}
	out, err := r.s.lockTable(ctx, d.ID, rowlock.AccessShare, false)
	*r.waited = *r.waited || err == nil && out == rowlock.Waited
	return d, err
}

// errNotServed ends the attempt to run a text by its template, before it has done anything: the
// text is parsed, and runs as if there had been no attempt.
var errNotServed = errors.New("the template does not serve the text")

// fillTemplate returns the values of the parameters of a template's plan, or errNotServed.
func (s *planRunner) fillTemplate(ctx context.Context, ps *Prepared,
	plan *physical.Plan) ([]types.Datum, error) {
	if !template.Serves(plan) || len(plan.ParamTypes) != len(ps.values) {
		return nil, errNotServed
	}
	ps.ParamTypes = plan.ParamTypes
	params := make([]types.Datum, len(ps.values))
	var env *planner.Env
	for i, v := range ps.values {
		if !v.Quoted {
			params[i] = types.NewInt(int64(v.Int))
			continue
		}
		if env == nil {
			env = s.plannerEnv(ctx)
		}
		d, constant, err := planner.Input(env, v.Text, plan.ParamTypes[i])
		if err != nil || !constant {
			return nil, errNotServed
		}
		params[i] = d
	}
	return params, nil
}

// sameTables reports whether the transaction sees every table of a plan as the plan was made for.
// Other changes of the schema do not concern it.
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
