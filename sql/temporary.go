package sql

import (
	"context"
	"errors"
	"sync"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
)

// temporary is what a session has beside the catalog: a schema of its own, whose objects end with
// it (docs/adr/0016). A session that never made a temporary object has none.
type temporary struct {
	schema *catalog.Temporary
	number int
	plans  *lru.Cache[planKey, temporaryPlan]
	stats  map[table.ID]*temporaryStats
	epoch  uint64 // of stats
}

// temporaryPlan is a plan made while the session had temporary objects: other sessions would find
// other tables under its names.
type temporaryPlan struct {
	basis planBasis
	plan  *physical.Plan
}

// temporaryPlans bounds the plans of a session that has temporary objects.
const temporaryPlans = 128

// temporaryNumbers gives each session with temporary objects the least number that is free.
type temporaryNumbers struct {
	sync.Mutex
	used map[int]bool
}

func (n *temporaryNumbers) take() int {
	n.Lock()
	defer n.Unlock()
	if n.used == nil {
		n.used = map[int]bool{}
	}
	i := 1
	for n.used[i] {
		i++
	}
	n.used[i] = true
	return i
}

func (n *temporaryNumbers) release(i int) {
	n.Lock()
	defer n.Unlock()
	delete(n.used, i)
}

// temporarySchema is the schema of the session's temporary objects, nil while it has none.
func (s *transactor) temporarySchema() *catalog.Temporary {
	if s.temporary == nil {
		return nil
	}
	return s.temporary.schema
}

// makeTemporary returns the schema of the session's temporary objects and makes it if there is
// none.
func (s *transactor) makeTemporary(context.Context) (catalog.Schema, error) {
	if s.temporary == nil {
		n := s.engine.temporaryNumbers.take()
		schema, err := s.engine.catalog.NewTemporary(s.databaseID, n)
		if err != nil {
			s.engine.temporaryNumbers.release(n)
			return catalog.Schema{}, err
		}
		s.temporary = &temporary{schema: schema, number: n,
			plans: lru.New[planKey, temporaryPlan](temporaryPlans / 2),
			stats: map[table.ID]*temporaryStats{}}
		s.tx.view.ShowTemporary(schema)
	}
	return s.temporary.schema.Schema, nil
}

// endTemporary drops the session's temporary objects. Requires: it has no transaction.
func (s *transactor) endTemporary(ctx context.Context) {
	t := s.temporary
	if t == nil {
		return
	}
	s.temporary = nil
	err := t.schema.End(context.WithoutCancel(ctx))
	if err != nil && !errors.Is(err, txn.ErrClosed) {
		s.engine.log.Warn("temporary objects of a session that ended", "session", s.pid, "err", err)
	}
	s.engine.temporaryNumbers.release(t.number)
}

// impliedSchema is the name of the temporary schema if names are looked up there first: it exists,
// and the search path does not list it. Else it is "".
func (s *planRunner) impliedSchema(ctx context.Context) (string, error) {
	if s.temporary == nil || s.tx.view == nil {
		return "", nil
	}
	name := s.temporary.schema.Schema.Name
	for _, listed := range s.settings.Derived().SearchPath {
		if listed == catalog.TemporaryAlias || listed == name {
			return "", nil
		}
	}
	made, err := s.tx.view.HasTemporary(ctx)
	if err != nil || !made {
		return "", err
	}
	return name, nil
}

// temporaryVersion returns what a plan depends on beside the schema that all sessions see.
func (s *transactor) temporaryVersion(ctx context.Context) (version, epoch uint64, err error) {
	if s.temporary == nil {
		return 0, 0, nil
	}
	version, err = s.tx.view.TemporaryVersion(ctx)
	if version == 0 {
		return 0, 0, err
	}
	return version, s.temporary.epoch, err
}

// onlyTemporary reports whether all that a plan writes or locks is temporary: other sessions see
// nothing of it, so a transaction that is read-only may do it.
func onlyTemporary(plan *physical.Plan) bool {
	some := false
	for _, t := range plan.Tables {
		if t.Use == opt.Reads {
			continue
		}
		if !t.ID.Temporary() {
			return false
		}
		some = true
	}
	return some
}

// noPast refuses to read a temporary table as it was: the past of what one session has is not kept.
func noPast() error {
	return sqlerr.Unsupported(-1, "AS OF SYSTEM TIME for a temporary table")
}

// temporaryAtCommit does what ON COMMIT says, before the transaction commits. It reports whether no
// temporary objects are left.
func (s *planRunner) temporaryAtCommit(ctx context.Context) (empty bool, err error) {
	if s.temporary == nil || s.tx.tx == nil || !s.tx.tx.CompanionDirty() {
		return false, nil
	}
	tables, err := s.tx.view.OnCommit(ctx)
	if err != nil {
		return false, err
	}
	if len(tables) > 0 {
		env := s.ddlEnv(ctx)
		env.Notice, env.InUse = nil, nil
		err = ddl.AtCommit(ctx, env, tables, func(ctx context.Context, d *table.Desc) error {
			s.temporary.cleared(d.ID)
			return s.tx.view.Clear(ctx, d)
		})
		if err != nil {
			return false, err
		}
	}
	version, err := s.tx.view.TemporaryVersion(ctx)
	if err != nil || version != 0 {
		return false, err
	}
	return true, s.tx.view.SweepTemporary()
}

// discardTemporary is DISCARD TEMP.
func (s utility) discardTemporary(ctx context.Context) error {
	if s.temporary == nil {
		return nil
	}
	if err := s.ensure(ctx); err != nil {
		return err
	}
	all, err := s.tx.view.Relations(ctx, s.databaseID)
	if err != nil {
		return err
	}
	var own []*table.Desc
	for _, d := range all {
		if d.Temporary() {
			own = append(own, d)
		}
	}
	env := s.ddlEnv(ctx)
	env.Notice = nil
	return ddl.DropTemporary(ctx, env, own)
}

// unlessLost returns the error of a commit. If the transaction is committed, but for its temporary
// part, it ends the session, which must not go on with half of it.
func (s *transactor) unlessLost(err error) error {
	var half *txn.CompanionError
	if !errors.As(err, &half) {
		return err
	}
	lost := sqlerr.New(sqlerr.IOError, "the session's temporary tables were lost").
		WithDetail("%v", err).
		WithHint("What the transaction wrote to other tables is committed.")
	s.running.end(lost)
	return lost
}

// temporaryStats are the statistics of a temporary table, which only its session needs.
type temporaryStats struct {
	found   *stats.Table // by ANALYZE; nil: none
	rows    int64        // as the statements of the session have left them
	planned int64        // rows when the epoch last changed
}

// statistics returns what the planner is to know of a temporary table.
func (t *temporary) statistics(id table.ID) *stats.Table {
	st := t.stats[id]
	if st == nil {
		return nil
	}
	now := stats.Table{}
	if st.found != nil {
		now = *st.found
	}
	now.Rows = float64(max(0, st.rows))
	return &now
}

// changed counts the rows that a statement has added and removed. Plans are made anew once a table
// has twice the rows, or half of them.
func (t *temporary) changed(ch statistics.Change) {
	st := t.statsOf(ch.Table)
	if st.rows += ch.Inserted - ch.Deleted; ch.Truncated || st.rows < 0 {
		st.rows = 0
	}
	const few = 100
	if st.rows > few+2*st.planned || st.planned > few+2*st.rows {
		st.planned = st.rows
		t.epoch++
	}
}

func (t *temporary) statsOf(id table.ID) *temporaryStats {
	st := t.stats[id]
	if st == nil {
		st = &temporaryStats{}
		t.stats[id] = st
	}
	return st
}

func (t *temporary) cleared(id table.ID) {
	t.changed(statistics.Change{Table: id, Truncated: true})
}

// analyzed notes what ANALYZE found.
func (t *temporary) analyzed(a *analyzed) {
	st := t.statsOf(a.id)
	st.found, st.rows, st.planned = a.table, a.rows, a.rows
	t.epoch++
}

// ended is called when a transaction has ended. emptied reports that it left no temporary object.
func (t *temporary) ended(committed, emptied bool) {
	if t == nil {
		return
	}
	t.schema.Ended(committed)
	if emptied {
		t.schema.Trim()
		clear(t.stats)
	}
}
