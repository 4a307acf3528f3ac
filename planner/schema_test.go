package planner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// schema is a catalog that CREATE statements define, without a store.
type schema struct {
	relations  map[string]*table.Desc
	nextID     table.ID
	statistics map[table.ID]*stats.Table
	seen       map[string]bool // the rules that scripts expect or refuse
}

func newSchema() *schema {
	return &schema{relations: map[string]*table.Desc{}, nextID: 16384,
		statistics: map[table.ID]*stats.Table{}}
}

func (s *schema) env() *planner.Env {
	return &planner.Env{
		Catalog: s,
		Statistics: func(_ context.Context,
			d *table.Desc) *stats.Table {
			return s.statistics[d.ID]
		},
		ParseExpr: parse.ParseExpr,
		ParseQuery: func(text string) (*ast.Select, error) {
			p, err := parse.ParseOne(context.Background(), text)
			if err != nil {
				return nil, err
			}
			return p.Stmt.(*ast.Select), nil
		},
	}
}

// Relation resolves names in the only schema, public.
func (s *schema) Relation(_ context.Context, name ast.Name) (*table.Desc, error) {
	if name.Schema != "" && name.Schema != "public" {
		return nil, nil
	}
	return s.relations[name.Name], nil
}

// Type finds built-in types.
func (s *schema) Type(_ context.Context, name ast.Name) (*types.Type, error) {
	if name.Schema != "" && name.Schema != "pg_catalog" {
		return nil, nil
	}
	t, _ := types.ByName(name.Name)
	return t, nil
}

func (*schema) TypeByOID(_ context.Context, oid types.OID) (*types.Type, error) {
	t, _ := types.ByOID(oid)
	return t, nil
}

func (s *schema) RelationByID(_ context.Context, id table.ID) (*table.Desc, error) {
	for _, d := range s.relations {
		if d.ID == id {
			return d, nil
		}
	}
	return nil, errors.New("no such relation")
}

func (s *schema) id() table.ID {
	s.nextID++
	return s.nextID
}

// define runs CREATE TABLE, CREATE INDEX and CREATE VIEW statements.
func (s *schema) define(t testing.TB, ddl string) {
	t.Helper()
	all, err := parse.Parse(context.Background(), ddl)
	require.NoError(t, err)
	for _, p := range all {
		switch st := p.Stmt.(type) {
		case *ast.CreateTable:
			s.table(t, st)
		case *ast.CreateIndex:
			s.index(t, st)
		case *ast.CreateView:
			s.view(t, st)
		default:
			t.Fatalf("cannot define %T", st)
		}
	}
}

func (s *schema) table(t testing.TB, st *ast.CreateTable) {
	d := &table.Desc{ID: s.id(), Schema: "public", Name: st.Name.Name, Version: 1, NextIndexID: 2}
	var unique [][]string
	var pk []string
	var checks []func() // and generated columns: expressions over all columns
	for i, c := range st.Columns {
		typ, err := planner.ResolveType(t.Context(), s.env(), c.Type)
		require.NoError(t, err)
		col := table.Column{ID: table.ColumnID(i + 1), Name: c.Name.Name, Type: typ}
		for _, con := range c.Constraints {
			switch con.Kind {
			case "not null":
				col.NotNull = true
			case "primary key":
				pk = []string{col.Name}
			case "unique":
				unique = append(unique, []string{col.Name})
			case "default":
				col.DefaultText = s.text(t, nil, con.Expr, col.Type)
			case "check":
				checks = append(checks, func() {
					d.Checks = append(d.Checks,
						table.Check{Name: d.Name + "_" + col.Name + "_check",
							Text: s.text(t, d, con.Expr, nil)})
				})
			case "identity":
				col.SequenceID, col.NotNull, col.Identity = s.id(), true, "by default"
				if con.Always {
					col.Identity = "always"
				}
			case "generated":
				checks = append(checks,
					func() { d.Columns[i].Generated = s.text(t, d, con.Expr, typ) })
			}
		}
		d.Columns = append(d.Columns, col)
	}
	for _, con := range st.Constraints {
		var names []string
		for _, c := range con.Columns {
			names = append(names, c.Name)
		}
		switch con.Kind {
		case "primary key":
			pk = names
		case "unique":
			unique = append(unique, names)
		}
	}
	if pk == nil {
		id := table.ColumnID(len(d.Columns) + 1)
		d.Columns = append(d.Columns,
			table.Column{ID: id, Name: "rowid", Type: types.TInt8, NotNull: true, Hidden: true})
		d.RowKey = []table.IndexColumn{{ColumnID: id}}
	} else {
		d.RowKey = s.key(d, pk)
		for _, n := range pk {
			d.Columns[d.Column(n)].NotNull = true
		}
		d.Indexes = append(d.Indexes,
			table.Index{ID: table.RowIndexID, OID: s.id(), Name: d.Name + "_pkey",
				Unique: true, Primary: true, Constraint: true, Columns: d.RowKey})
	}
	for _, u := range unique {
		s.addIndex(d, table.Index{Name: d.Name + "_" + strings.Join(u, "_") + "_key", Unique: true,
			Constraint: true, Columns: s.key(d, u)})
	}
	for _, add := range checks {
		add()
	}
	s.relations[d.Name] = d
}

// text returns the text of an expression that the catalog keeps.
func (s *schema) text(t testing.TB, d *table.Desc, e ast.Expr, want *types.Type) string {
	text, err := deparse.Expr(context.Background(), s.env(), d, e, want,
		deparse.Options{Source: true})
	require.NoError(t, err)
	return text
}

func (s *schema) key(d *table.Desc, names []string) []table.IndexColumn {
	var out []table.IndexColumn
	for _, n := range names {
		out = append(out, table.IndexColumn{ColumnID: d.Columns[d.Column(n)].ID})
	}
	return out
}

func (s *schema) addIndex(d *table.Desc, ix table.Index) {
	ix.ID, ix.OID = d.NextIndexID, s.id()
	d.NextIndexID++
	d.Indexes = append(d.Indexes, ix)
}

func (s *schema) index(t testing.TB, st *ast.CreateIndex) {
	d := s.relations[st.Table.Name]
	ix := table.Index{Name: st.Name, Unique: st.Unique, Method: st.Method}
	if st.Where != nil {
		ix.WhereText = s.text(t, d, st.Where, nil)
	}
	for _, el := range st.Elems {
		kc := table.IndexColumn{Desc: el.Desc, NullsFirst: el.Desc, OpClass: el.OpClass}
		if ref, ok := el.Expr.(*ast.ColumnRef); ok {
			kc.ColumnID = d.Columns[d.Column(ref.Name)].ID
		} else {
			x, name, err := bind.IndexExpr(context.Background(), s.env(), d, el.Expr)
			require.NoError(t, err)
			e := table.Expression{ID: table.ColumnID(1000 + len(d.Exprs)), Name: name,
				Text: s.text(t, d, el.Expr, x.Type()), Type: x.Type()}
			kc.ColumnID, d.Exprs = e.ID, append(d.Exprs, e)
		}
		if el.NullsFirst != nil {
			kc.NullsFirst = *el.NullsFirst
		}
		ix.Columns = append(ix.Columns, kc)
	}
	for _, c := range st.Include {
		ix.Include = append(ix.Include, d.Columns[d.Column(c.Name)].ID)
	}
	s.addIndex(d, ix)
}

func (s *schema) view(t testing.TB, st *ast.CreateView) {
	ctx := context.Background()
	plan, err := planner.Plan(ctx, s.env(), st.Query, nil)
	require.NoError(t, err)
	notes, err := bind.Query(ctx, s.env(), st.Query, nil)
	require.NoError(t, err)
	text, err := deparse.Query(ctx, s.env(), st.Query, notes, nil, deparse.Options{Source: true})
	require.NoError(t, err)
	d := &table.Desc{ID: s.id(), Schema: "public", Name: st.Name.Name, Kind: table.KindView,
		Version: 1,
		View:    &table.View{Text: text}}
	for i, c := range plan.Root.Columns() {
		name := c.Name
		if i < len(st.Columns) {
			name = st.Columns[i].Name
		}
		d.Columns = append(d.Columns,
			table.Column{ID: table.ColumnID(i + 1), Name: name, Type: c.Type})
	}
	s.relations[d.Name] = d
}

// errorText formats an error with everything that a client receives.
func errorText(err error) string {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Code
	if e.Position > 0 {
		text += fmt.Sprintf(" at %d", e.Position)
	}
	text += ": " + e.Message
	if e.Detail != "" {
		text += "\ndetail: " + e.Detail
	}
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	return text
}

func fromPostgreSQL(e *pgconn.PgError) error {
	return &sqlerr.Error{Code: e.Code, Message: e.Message, Detail: e.Detail, Hint: e.Hint,
		Position: int(e.Position)}
}
