package exec

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Env is what a statement runs in.
type Env struct {
	Tx      *txn.Txn
	RowIDs  table.RowIDs
	Runtime *expr.Runtime
	// Virtual emits the rows of a virtual table, of each the columns with these ordinals. A row is
	// valid until emit returns.
	Virtual func(ctx context.Context, d *table.Desc, columns []int,
		emit func(row []types.Datum) error) error
	// MemoryLimit bounds the bytes that sorts, joins and aggregates of the statement hold; 0: no
	// bound.
	MemoryLimit int64
	// Spill is where operators write rows of which they hold more than their share, WorkMemory
	// bytes each; nil: nowhere. TempLimit bounds the bytes of the statement there; 0: no bound.
	// They are counted for Database.
	Spill                 *spill.Dir
	Database              table.ID
	WorkMemory, TempLimit int64
	// Memory is the account that the statement's memory is drawn from and counted in; nil: neither.
	// It belongs to the goroutine that runs the statement. Closing the Cursor gives all memory back
	// to it.
	Memory *memory.Account
	// Recheck lets a statement over one scan go on with the newest version of a row that changed
	// while it waited for its lock: READ COMMITTED.
	Recheck bool
	// Incremental means that the rows are asked for a few at a time. Operators that can then lock
	// only the rows that were asked for.
	Incremental bool
	// Checks, if not nil, gets what is to be checked when the rows of a statement are written: the
	// rows of tables that have foreign keys or are referenced by them, and deferrable keys.
	Checks Checks
	// Load, if not nil, takes the rows that INSERT writes, instead of the transaction.
	Load *table.Load
	// ParamRows is how many rows of parameters the statement has; 0 means one. VALUES gives its
	// rows for each of them, and only VALUES may read parameters if there are several.
	ParamRows int
	// Written, if not nil, counts rows as they are written, for minidb_progress.
	Written *atomic.Int64
	// Deltas are the changes that DeltaScan reads, by relation. Before are the transactions that
	// scans of the relations as they were before these changes read.
	Deltas map[table.ID]*Delta
	Before Before
	// Scans counts how tables are read; nil: nothing does.
	Scans Scans
	// Stats asks for rows and times of each node, for EXPLAIN ANALYZE.
	Stats bool
}

// Scans counts how tables are read: so many scans of a table by an index, 0 without one, that read
// so many entries or rows, and fetched the rows of so many entries.
type Scans interface {
	Scanned(d *table.Desc, index table.IndexID, scans, read, fetched int64)
}

// Checks gets what a statement leaves to be checked when its rows are written.
type Checks interface {
	table.RowHook
	table.KeyHook
}

// Cursor is a running statement. It belongs to one goroutine at a time.
type Cursor struct {
	run  *run
	plan *physical.Plan
	root operator
	main *modification // of a statement that modifies; WITH queries apart
	// started means that the statement's changes are written. If WITH queries modify too, rows
	// holds the statement's result from then on.
	started bool
	rows    *rowLog
	kept    logReader
}

// Open builds the operators of a plan and opens them. Nothing is read before the first Next, where
// a statement that modifies runs to its end and keeps the rows of RETURNING. Requires: params has
// as many values as plan.ParamTypes, of these types, for each of env.ParamRows.
func Open(ctx context.Context, env *Env, plan *physical.Plan, params []types.Datum) (*Cursor,
	error) {
	if err := checkParams(env, plan, params); err != nil {
		return nil, err
	}
	made := &struct { // a single allocation
		Cursor
		run run
	}{}
	c, r := &made.Cursor, &made.run
	r.init(ctx, env, plan, params)
	root, err := r.build(plan.Root)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	c.run, c.plan, c.root, c.main = r, plan, root, r.modification
	if err := root.Open(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// checkParams returns an error if the number of parameters is not that of the plan.
func checkParams(env *Env, plan *physical.Plan, params []types.Datum) error {
	if len(params) == len(plan.ParamTypes)*env.paramRows() {
		return nil
	}
	return sqlerr.New(sqlerr.ProtocolViolation,
		"bind message supplies %d parameters, but prepared statement requires %d",
		len(params), len(plan.ParamTypes))
}

// Columns are the columns of the result.
func (c *Cursor) Columns() []physical.Column { return c.plan.Root.Columns() }

// Next returns the next rows, or nil at the end. The batch is valid until the next call.
func (c *Cursor) Next(ctx context.Context) (*types.Batch, error) {
	c.run.ev.Runtime.Ctx = ctx
	if !c.started {
		c.started = true
		if c.run.frozen {
			return c.firstFrozen(ctx)
		}
	}
	return c.next(ctx)
}

// firstFrozen is the first Next of a statement whose parts must not see what it writes.
func (c *Cursor) firstFrozen(ctx context.Context) (*types.Batch, error) {
	c.run.env.Tx.Freeze()
	defer c.run.env.Tx.Thaw()
	if c.run.modifies() {
		if err := c.runModifying(ctx); err != nil {
			return nil, err
		}
	}
	return c.next(ctx)
}

func (c *Cursor) next(ctx context.Context) (*types.Batch, error) {
	if c.rows != nil {
		return c.kept.next()
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := c.root.Next(ctx)
		if err != nil || b == nil || b.Rows() > 0 {
			return b, err
		}
	}
}

// runModifying runs the statement to its end: first the main query, with what it reads of the WITH
// queries that modify, then the rest of those.
func (c *Cursor) runModifying(ctx context.Context) error {
	c.rows = newRowLog(c.run, columnTypes(c.plan.Root))
	c.kept.open(c.rows, 0)
	err := eachBatch(ctx, c.root, func(ctx context.Context, b *types.Batch) error {
		return c.rows.add(ctx, b.Cols, selection(b))
	})
	if err != nil {
		return err
	}
	return c.run.runModifying(ctx)
}

// RowsAffected is the number of rows that the main INSERT, UPDATE or DELETE has changed so far.
func (c *Cursor) RowsAffected() int64 {
	if c.main == nil {
		return 0
	}
	return c.main.rows
}

// Changes are the rows that a statement has inserted, updated and deleted.
type Changes struct{ Inserted, Updated, Deleted int64 }

// Changed returns how many rows the main statement has inserted, updated and deleted since the last
// EachChange.
func (c *Cursor) Changed() (inserted, updated, deleted int64) {
	if c.main == nil {
		return 0, 0, 0
	}
	ch := c.main.changed
	return ch.Inserted, ch.Updated, ch.Deleted
}

// EachChange calls f with what the statement has changed so far, by table, WITH queries included,
// and forgets it.
func (c *Cursor) EachChange(f func(id table.ID, ch Changes)) {
	for m := c.run.modification; m != nil; m = m.before {
		if m.changed != (Changes{}) {
			f(m.desc.ID, m.changed)
			m.changed = Changes{}
		}
	}
}

// NodeStats returns what was measured of a node. ok is false without Env.Stats, and for a node that
// never ran.
func (c *Cursor) NodeStats(n physical.Node) (stats NodeStats, ok bool) {
	s, ok := c.run.stats[n]
	if !ok || s.Loops == 0 {
		return NodeStats{}, false
	}
	return *s, true
}

// Spilled returns how much a node wrote to temporary files, with Env.Stats: bytes, and how many
// runs or partitions they are.
func (c *Cursor) Spilled(n physical.Node) (bytes, pieces int64) {
	if s, ok := c.run.spills[n]; ok {
		return s.bytes, s.pieces
	}
	return 0, 0
}

// Sections returns the sections by which a node has read a table or index, with Env.Stats.
func (c *Cursor) Sections(n physical.Node) (sections table.SectionCounts) {
	if s, ok := c.run.sections[n]; ok {
		return *s
	}
	return sections
}

// Close ends the statement and gives its memory back. It may be called more than once.
func (c *Cursor) Close() error {
	err := c.root.Close()
	if c.rows != nil {
		c.kept.closeDisk()
		c.rows.free()
	}
	return errors.Join(err, c.run.close())
}

// operator is a running node.
type operator interface {
	// Open makes the operator ready to return its rows from the first on.
	Open(ctx context.Context) error
	// Next returns the next batch, nil at the end. It may return batches without rows.
	Next(ctx context.Context) (*types.Batch, error)
	Close() error
}

// run is what the operators of one statement share.
type run struct {
	env  *Env
	plan *physical.Plan
	ev   eval.Context
	// params are all rows of parameters, of which ev has one.
	params []types.Datum
	mem    budget
	file   *spill.File // nil: nothing was spilled
	ctes   map[int]*cte
	subs   map[*expr.Subquery]*subquery
	stats  map[physical.Node]*NodeStats
	// spills are what nodes wrote to disk; with stats only.
	spills map[physical.Node]*spilled
	// sections are those that scans have read; with stats only.
	sections map[physical.Node]*table.SectionCounts
	// watchers are called when a variable changes, by slot.
	watchers [][]func()
	// modification is the last one built. WITH queries are built after the main query.
	modification *modification
	// touched are the row keys that a statement with several modifications has written, by table.
	touched map[table.ID]*keyTable
	// frozen means that no part of the statement may see what the statement writes.
	frozen bool
	// limited means that the LockRows node being built is below a LIMIT.
	limited bool
	// partial means that not all rows of the node being built may be asked for.
	partial bool
	// cteCut holds the WITH queries, by ID, with a reader that may not ask for all rows.
	cteCut map[int]bool
	// ctx is the context of the Next that is being served: expressions that run subqueries need it
	// and have no argument for it.
	ctx context.Context
	// boundArg is the argument of the bound being computed.
	boundArg [1]types.Datum
	// smallArgs and smallTypes are those of the small call being computed.
	smallArgs  [2]types.Datum
	smallTypes [2]*types.Type
	// point is memory for the scan of a statement that only reads by key (PointRoom), or nil.
	point *pointScan
}

// init sets the fields of a run whose fields are zero.
func (r *run) init(ctx context.Context, env *Env, plan *physical.Plan, params []types.Datum) {
	r.env, r.plan, r.partial, r.params = env, plan, env.Incremental, params
	r.mem = budget{limit: env.MemoryLimit, account: env.Memory, share: env.share()}
	r.frozen = r.modifies() || readsItself(plan.Root)
	r.ev.Runtime, r.ev.Params, r.ev.Subquery = env.Runtime, r.paramRow(0), r
	if r.ev.Runtime == nil {
		r.ev.Runtime = &expr.Runtime{Format: types.DefaultFormat}
	}
	r.ev.Runtime.Ctx = ctx
	r.ev.Runtime.Memory = &r.mem
	r.ev.Runtime.Versions = versions{env.Tx}
	if plan.Slots > 0 {
		r.ev.Vars = make([]types.Datum, plan.Slots)
	}
	if env.Stats {
		r.stats = map[physical.Node]*NodeStats{}
	}
}

// paramRows is how many rows of parameters there are.
func (e *Env) paramRows() int { return max(e.ParamRows, 1) }

// paramRow returns a row of parameters.
func (r *run) paramRow(i int) []types.Datum {
	width := len(r.plan.ParamTypes)
	return r.params[i*width : (i+1)*width]
}

// context returns the context for subqueries that an expression runs.
func (r *run) context() context.Context {
	if r.ctx != nil {
		return r.ctx
	}
	return context.Background()
}

// modifies reports whether a WITH query of the statement modifies tables.
func (r *run) modifies() bool {
	for i := range r.plan.CTEs {
		if r.plan.CTEs[i].Modifies {
			return true
		}
	}
	return false
}

func (r *run) close() error {
	for _, s := range r.subs {
		s.close()
	}
	for _, c := range r.ctes {
		c.close()
	}
	for _, t := range r.touched {
		t.free()
	}
	var err error
	if r.file != nil {
		err = r.file.Close()
		r.file = nil
	}
	r.mem.close()
	return err
}

// compileAll compiles expressions.
func compileAll(es []expr.Expr) ([]*eval.Program, error) {
	ps := make([]*eval.Program, len(es))
	for i, e := range es {
		p, err := eval.Compile(e)
		if err != nil {
			return nil, err
		}
		ps[i] = p
	}
	return ps, nil
}

// compileOptional compiles e, or returns nil for nil.
func compileOptional(e expr.Expr) (*eval.Program, error) {
	if e == nil {
		return nil, nil
	}
	return eval.Compile(e)
}

// scalar computes an expression that sees no columns.
func (r *run) scalar(p *eval.Program) (types.Datum, error) { return p.EvalRow(&r.ev, nil) }

// columnTypes are the types of a node's columns.
func columnTypes(n physical.Node) []*types.Type {
	cols := n.Columns()
	ts := make([]*types.Type, len(cols))
	for i := range cols {
		ts[i] = cols[i].Type
	}
	return ts
}

func programTypes(ps []*eval.Program) []*types.Type {
	ts := make([]*types.Type, len(ps))
	for i, p := range ps {
		ts[i] = p.Type()
	}
	return ts
}
