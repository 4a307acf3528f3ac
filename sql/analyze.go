package sql

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table/stats"
)

// analyze gathers the statistics of the tables named, or of all tables of the database. Outside of
// a block each table has a transaction of its own. In a block, ANALYZE is part of the transaction:
// it sees its rows, and its plans use the result at once.
func (s maintenance) analyze(ctx context.Context, st *ast.Maintenance) error {
	o, err := readUpkeep(st)
	if err != nil {
		return err
	}
	targets, err := s.targets(ctx, st, true)
	if err != nil {
		return err
	}
	defer s.progress.upkeep.Store(nil)
	alone := s.tx.state == inImplicit && !s.multiStatement || s.tx.readOnly
	for _, t := range targets {
		if err := s.analyzeTarget(ctx, t, o, alone); err != nil {
			return err
		}
	}
	return nil
}

// analyzeTarget analyses a table under its lock, which a block keeps.
func (s maintenance) analyzeTarget(ctx context.Context, t target, o upkeep, alone bool) error {
	if t.desc.Temporary() {
		return s.analyzeInside(ctx, t, o.verbose)
	}
	if s.tx.state != inBlock && alone {
		return s.underUpkeep(ctx, "analyze", t, o,
			func() error { return s.analyzeAlone(ctx, t, o.verbose) })
	}
	free, err := s.lockForUpkeep(ctx, "analyze", t, o)
	if err != nil || !free {
		return err
	}
	if alone {
		return s.analyzeAlone(ctx, t, o.verbose)
	}
	return s.analyzeInside(ctx, t, o.verbose)
}

func (s maintenance) analyzeOptions(ctx context.Context, t target) stats.Options {
	p := s.progress.beginUpkeep("ANALYZE", t.desc.ID, s.liveRows(ctx, t.desc.ID))
	p.phase.Store(phaseSampling)
	seen := func(rows int64, all bool) {
		p.rows.Store(rows)
		if all {
			p.phase.Store(phaseComputing)
		}
	}
	return stats.Options{Columns: t.columns, Target: s.settings.Derived().StatisticsTarget,
		Seed: uint64(t.desc.ID), Seen: seen}
}

func (s maintenance) analyzeAlone(ctx context.Context, t target, verbose bool) error {
	s.info(verbose, "analyzing \"%s.%s\"", t.desc.Schema, t.desc.Name)
	res, err := s.engine.statistics.Analyze(ctx, t.desc.ID, s.analyzeOptions(ctx, t),
		statistics.ByAnalyze)
	if err != nil || res == nil {
		return err
	}
	s.reportAnalyzed(t, res, verbose)
	return nil
}

func (s maintenance) analyzeInside(ctx context.Context, t target, verbose bool) error {
	s.info(verbose, "analyzing \"%s.%s\"", t.desc.Schema, t.desc.Name)
	res, err := stats.Analyze(ctx, s.tx.tx, t.desc, s.analyzeOptions(ctx, t))
	if err != nil {
		return err
	}
	if !t.desc.Temporary() { // else the session remembers them
		if err := stats.Write(s.tx.tx, t.desc.ID, res.Table); err != nil {
			return err
		}
	}
	s.tx.analyzed = append(s.tx.analyzed,
		analyzed{id: t.desc.ID, table: res.Table, rows: res.Rows, by: statistics.ByAnalyze})
	s.reportAnalyzed(t, res, verbose)
	return nil
}

func (s maintenance) reportAnalyzed(t target, res *stats.Result, verbose bool) {
	if res.Read < res.Rows {
		s.info(verbose, "\"%s\": scanned %d of %d rows; %d rows in sample", t.desc.Name, res.Read,
			res.Rows, res.Sampled)
		return
	}
	s.info(verbose, "\"%s\": scanned all rows, %d of them live; %d rows in sample", t.desc.Name,
		res.Rows, res.Sampled)
}
