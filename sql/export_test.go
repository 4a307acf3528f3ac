package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// Planned is how many statements were planned, and not found planned.
func (e *Engine) Planned() int64 { return e.planned.Load() }

// BucketOf is the bucket in which a duration is counted.
var BucketOf = bucketOf

// HasTemporary reports whether the session keeps anything for temporary objects.
func (s *Session) HasTemporary() bool { return s.temporary != nil }

// CreateView makes and fills an incremental view without anything that would keep it up to date.
func (s *Session) CreateView(ctx context.Context, name, text string) error {
	if err := s.ensure(ctx); err != nil {
		return err
	}
	d, err := s.describeView(ctx, name, text)
	if err == nil {
		err = s.tx.view.CreateRelation(ctx, d)
	}
	if err == nil {
		err = s.rebuildView(ctx, d)
	}
	if err != nil {
		s.abort(ctx)
		return err
	}
	return s.commit(ctx)
}

func (s *Session) describeView(ctx context.Context, name, text string) (*table.Desc, error) {
	env := s.plannerEnv(ctx)
	query, err := parseQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	plan, err := planner.Plan(ctx, env, query, nil)
	if err != nil {
		return nil, err
	}
	v, err := incremental.Analyze(ctx, env, query)
	if err != nil {
		return nil, err
	}
	d := &table.Desc{DatabaseID: s.databaseID, SchemaID: catalog.PublicID, Schema: "public",
		Name: name, Kind: table.KindMaterializedView, NextColumnID: 1,
		NextIndexID: table.RowIndexID + 1, View: &table.View{Text: text}}
	for _, c := range plan.Root.Columns() {
		d.Columns = append(d.Columns,
			table.Column{ID: d.NextColumnID, Name: c.Name, Type: c.Type})
		d.NextColumnID++
	}
	newID := func() (table.ID, error) { return s.tx.view.NewID(ctx) }
	if d.ID, err = newID(); err != nil {
		return nil, err
	}
	return d, v.Describe(d, newID)
}

// Tx is the transaction of the session's open block.
func (s *Session) Tx(ctx context.Context) (*txn.Txn, error) {
	err := s.ensure(ctx)
	return s.tx.tx, err
}

// Relation finds a relation in the session's transaction.
func (s *Session) Relation(ctx context.Context, name string) (*table.Desc, error) {
	return s.tx.view.Relation(ctx, s.databaseID, "public", name)
}

// AdvanceView is advanceView.
func (s *Session) AdvanceView(ctx context.Context, d *table.Desc,
	in map[table.ID]*exec.Delta, before exec.Before) (*exec.Delta, error) {
	return s.advanceView(ctx, d, in, before)
}

// ViewProgram is viewProgram.
func (s *Session) ViewProgram(ctx context.Context, d *table.Desc) (*incremental.Program, error) {
	return s.viewProgram(ctx, d, nil)
}

// AnalyzeView analyses the query of a view.
func (s *Session) AnalyzeView(ctx context.Context, d *table.Desc) (*incremental.View, error) {
	query, err := parseQuery(ctx, d.View.Text)
	if err != nil {
		return nil, err
	}
	return incremental.Analyze(ctx, s.plannerEnv(ctx), query)
}

// FailedRow is the row that a failed advance names.
func (s *Session) FailedRow(err error) (relation, row string) {
	var failed *viewError
	if errors.As(err, &failed) {
		return failed.Relation, failed.Row
	}
	return "", ""
}

// CheckView is checkView.
func (s *Session) CheckView(ctx context.Context, d *table.Desc, tables *txn.Txn,
	report func(string)) error {
	return s.checkView(ctx, d, tables, report)
}
