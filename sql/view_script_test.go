package sql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/explain"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// TestViewScripts runs scripts about incremental views:
//
//	exec           statements
//	view name=v    makes a view of the query; shows what it uses and what it keeps beside its rows
//	fails          the error for a query that cannot be maintained, with what is at its position
//	plan name=v    the plans of the view's delta
//	advance        brings all views up to date and shows the delta of each
//	states name=v  the rows of what it keeps beside
func TestViewScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/views", func(t *testing.T, path string) {
		f := newDeltaFixture(t)
		mustQuery(t, f.s, "DROP TABLE a; DROP TABLE b; DROP TABLE c")
		f.tables = nil
		datadriven.RunTest(t, path, f.command)
	})
}

func (f *deltaFixture) command(t *testing.T, d *datadriven.TestData) string {
	f.t = t
	ctx := context.Background()
	query := strings.ReplaceAll(d.Input, "\n", " ")
	switch d.Cmd {
	case "exec":
		for _, word := range strings.SplitAfter(d.Input, "CREATE TABLE ")[1:] {
			f.tables = append(f.tables, strings.Fields(word)[0])
		}
		for _, word := range strings.SplitAfter(d.Input, "DROP MATERIALIZED VIEW ")[1:] {
			name, _, _ := strings.Cut(word, ";")
			f.views = slices.DeleteFunc(f.views, func(v [2]string) bool { return v[0] == name })
		}
		mustQuery(t, f.s, d.Input)
		return ""
	case "view":
		f.create(arg(d, "name"), query)
		return f.describe(arg(d, "name"))
	case "fails":
		err := f.s.CreateView(ctx, "refused", query)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e)
		if e.Position == 0 {
			return fmt.Sprintf("%s %s\n", e.Code, e.Message)
		}
		return fmt.Sprintf("%s %s\n%.20s\n", e.Code, e.Message, query[e.Position-1:])
	case "plan":
		return f.plans(arg(d, "name"))
	case "states":
		return f.states(arg(d, "name")) + "\n"
	case "advance":
		return f.advanced()
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

// inBlock calls fn with a relation in a transaction.
func (f *deltaFixture) inBlock(name string, fn func(d *table.Desc)) {
	mustQuery(f.t, f.s, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	_, err := f.s.Tx(context.Background())
	require.NoError(f.t, err)
	d, err := f.s.Relation(context.Background(), name)
	require.NoError(f.t, err)
	fn(d)
	mustQuery(f.t, f.s, "ROLLBACK")
}

// describe shows what a view uses, and its relations.
func (f *deltaFixture) describe(name string) string {
	var b strings.Builder
	columns := func(d *table.Desc) string {
		var names []string
		for i := range d.Columns {
			c := &d.Columns[i]
			text := c.Name
			if c.Hidden {
				text = "(" + text + ")"
			}
			if slices.ContainsFunc(d.RowKey,
				func(k table.IndexColumn) bool { return k.ColumnID == c.ID }) {
				text += " key"
			}
			names = append(names, text)
		}
		return strings.Join(names, ", ")
	}
	f.inBlock(name, func(d *table.Desc) {
		v, err := f.s.AnalyzeView(context.Background(), d)
		require.NoError(f.t, err)
		for _, u := range v.Uses() {
			var names []string
			for _, id := range u.Columns {
				names = append(names, u.Table.Columns[u.Table.ColumnByID(id)].Name)
			}
			fmt.Fprintf(&b, "uses %s (%s)\n", u.Table.Name, strings.Join(names, ", "))
		}
		fmt.Fprintf(&b, "rows: %s\n", columns(d))
		for i, st := range d.States() {
			fmt.Fprintf(&b, "state %d: %s\n", i+1, columns(st))
		}
	})
	return b.String()
}

// plans shows the terms of a view's stages and rows.
func (f *deltaFixture) plans(name string) string {
	var b strings.Builder
	show := func(what string, p *physical.Plan) {
		fmt.Fprintf(&b, "%s\n", what)
		for _, line := range explain.Describe(p, explain.Options{HideCosts: true}).Text() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	names := map[table.ID]string{}
	terms := func(what string, all []incremental.Term) {
		for _, t := range all {
			var needs []string
			for _, id := range t.Needs {
				needs = append(needs, names[id])
			}
			show(what+": Δ"+strings.Join(needs, ", Δ"), t.Plan)
		}
	}
	f.inBlock(name, func(d *table.Desc) {
		p, err := f.s.ViewProgram(context.Background(), d)
		require.NoError(f.t, err)
		for _, r := range f.tables {
			of, err := f.s.Relation(context.Background(), r)
			require.NoError(f.t, err)
			names[of.ID] = r
		}
		for _, v := range f.views {
			of, err := f.s.Relation(context.Background(), v[0])
			require.NoError(f.t, err)
			names[of.ID] = v[0]
		}
		for i, st := range p.Stages {
			names[st.State.ID] = fmt.Sprintf("stage %d", i+1)
			terms(names[st.State.ID], st.Terms)
			show(names[st.State.ID]+", groups again", st.Groups)
		}
		terms("rows", p.Terms)
	})
	return b.String()
}

// advanced brings the views up to date, and shows the delta of each.
func (f *deltaFixture) advanced() string {
	var b strings.Builder
	f.advancedTo = func(view string, rows [][]types.Datum, weights []int64, d *table.Desc) {
		var lines []string
		for i, row := range rows {
			lines = append(lines, fmt.Sprintf("%s %+d %s\n", view, weights[i],
				table.FormatRow(d, row)))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	err := f.tryAdvance()
	f.advancedTo = nil
	if err != nil {
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			return err.Error() + "\n"
		}
		relation, row := f.s.FailedRow(err)
		return fmt.Sprintf("%s %s, for %s %s\n", e.Code, e.Message, relation, row)
	}
	f.check(false)
	return b.String()
}
