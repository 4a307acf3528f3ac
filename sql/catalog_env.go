package sql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// catalogEnv is what pgcatalog may see of a session.
type catalogEnv struct{ s *planRunner }

func (c catalogEnv) View() *catalog.View                     { return c.s.tx.view }
func (c catalogEnv) Database() (table.ID, string)            { return c.s.databaseID, c.s.database }
func (c catalogEnv) SearchPath(ctx context.Context) []string { return c.s.searchPath(ctx) }

// Authority is part of pgcatalog.Env.
func (c catalogEnv) Authority(ctx context.Context) (*acl.Authority, error) {
	return c.s.authority(ctx)
}

// Present is part of pgcatalog.Env.
func (c catalogEnv) Present(ctx context.Context, d *table.Desc) (*table.Desc, error) {
	return c.s.presentTable(ctx, d)
}

// Planner is part of pgcatalog.Env.
func (c catalogEnv) Planner(ctx context.Context) *planner.Env { return c.s.plannerEnv(ctx) }

func (c catalogEnv) SequencePosition(ctx context.Context, d *table.Desc) (int64, bool, error) {
	return c.s.engine.catalog.SequencePosition(ctx, d)
}

func (c catalogEnv) Format() *types.Format { return c.s.Format() }

// TypeOID is part of pgcatalog.Env.
func (c catalogEnv) TypeOID(ctx context.Context, text string) (types.OID, error) {
	return (&accessor{c.s, ctx}).typeOID(text)
}

func (c catalogEnv) TableStatistics(ctx context.Context, d *table.Desc) (*stats.Table, error) {
	return stats.Read(ctx, c.s.tx.tx, d.ID)
}

func (c catalogEnv) TableCounters(ctx context.Context, d *table.Desc) (stats.Counters, error) {
	return c.s.engine.statistics.Counters(ctx, d.ID)
}

func (c catalogEnv) Settings(ctx context.Context) []pgcatalog.Setting {
	var out []pgcatalog.Setting
	for _, d := range c.s.listed(ctx) {
		value, _ := c.s.settings.Raw(d.Name)
		if strings.HasPrefix(d.Name, "transaction_") {
			value, _ = c.s.setting(d.Name)
		}
		reset := c.s.settings.Reset(d.Name)
		out = append(out, pgcatalog.Setting{Name: d.Name, Value: value, Unit: d.Unit,
			Category: d.Category, Desc: d.Desc,
			Context: d.Context, Kind: string(d.Kind), Source: c.s.settings.Source(d.Name),
			Min: d.Min, Max: d.Max, Enum: d.Enum, Boot: d.Default, Reset: reset})
	}
	return out
}

func (c catalogEnv) Activity() []pgcatalog.Activity {
	all := c.s.engine.Activities()
	slices.SortFunc(all, func(a, b pgcatalog.Activity) int { return int(a.PID - b.PID) })
	return all
}

// Progress is part of pgcatalog.Env.
func (c catalogEnv) Progress() []pgcatalog.Progress {
	all := c.s.engine.Progresses()
	slices.SortFunc(all, func(a, b pgcatalog.Progress) int { return int(a.PID - b.PID) })
	return all
}

// Memory is part of pgcatalog.Env.
func (c catalogEnv) Memory() memory.Stats { return c.s.engine.opts.Memory.Stats() }

func (c catalogEnv) Prepared() []pgcatalog.Prepared {
	var out []pgcatalog.Prepared
	for name, ps := range c.s.prepared {
		if name != "" {
			out = append(out, pgcatalog.Prepared{Name: name, Text: cmp.Or(ps.source, ps.Text),
				Types: ps.ParamTypes, FromSQL: ps.sql})
		}
	}
	slices.SortFunc(out, func(a,
		b pgcatalog.Prepared) int {
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func (c catalogEnv) Cursors() []pgcatalog.Cursor {
	var out []pgcatalog.Cursor
	for name, p := range c.s.portals {
		if name != "" {
			out = append(out, pgcatalog.Cursor{Name: name,
				Text: cmp.Or(p.Statement.source, p.Statement.Text), Hold: p.hold,
				Scroll: p.scroll || p.remembers})
		}
	}
	slices.SortFunc(out, func(a, b pgcatalog.Cursor) int { return strings.Compare(a.Name, b.Name) })
	return out
}
