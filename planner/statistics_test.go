package planner_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// know reads statistics: a line "table rows", and lines "table.column" with distinct=n,
// nulls=share, range=low..high (integers with a uniform distribution) or common=value:share,….
func (s *schema) know(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		fields := strings.Fields(line)
		name, column, isColumn := strings.Cut(fields[0], ".")
		d := s.relations[name]
		require.NotNil(t, d, line)
		if !isColumn {
			s.statistics[d.ID] = &stats.Table{Rows: number(t, fields[1]),
				Columns: map[table.ColumnID]*stats.Column{}}
			continue
		}
		c := &d.Columns[d.Column(column)]
		known := &stats.Column{Type: c.Type, Width: 8, Distinct: 1}
		for _, f := range fields[1:] {
			key, value, _ := strings.Cut(f, "=")
			switch key {
			case "distinct":
				known.Distinct = number(t, value)
			case "nulls":
				known.NullFraction = number(t, value)
			case "range":
				spread(t, known, value)
			case "common":
				frequent(t, known, value)
			default:
				t.Fatalf("unknown: %s", f)
			}
		}
		s.statistics[d.ID].Columns[c.ID] = known
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return f
}

func spread(t *testing.T, c *stats.Column, value string) {
	t.Helper()
	low, high, _ := strings.Cut(value, "..")
	from, to := number(t, low), number(t, high)
	c.Distinct = max(c.Distinct, to-from+1)
	for i := range 101 {
		c.Bounds = append(c.Bounds, types.NewInt(int64(from+(to-from)*float64(i)/100)))
	}
}

func frequent(t *testing.T, c *stats.Column, value string) {
	t.Helper()
	sum := c.NullFraction
	for _, v := range strings.Split(value, ",") {
		text, share, _ := strings.Cut(v, ":")
		d, err := types.Cast(types.NewString(text), types.TUnknown, c.Type, false,
			&types.DefaultFormat)
		require.NoError(t, err)
		c.Common, c.Frequencies = append(c.Common, d), append(c.Frequencies, number(t, share))
		sum += number(t, share)
	}
	c.Distinct = max(c.Distinct, float64(len(c.Common)))
	c.Complete = sum > 0.9999
}

// estimate returns the number of rows that the planner estimates.
func (s *schema) estimate(t *testing.T, query string) float64 {
	t.Helper()
	p, err := parse.ParseOne(context.Background(), query)
	require.NoError(t, err)
	plan, err := planner.Plan(context.Background(), s.env(), p.Stmt, nil)
	require.NoError(t, err)
	return plan.Root.Est().Rows
}

func TestEstimatesFollowStatistics(t *testing.T) {
	s := newSchema()
	s.define(t, `CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int);
		CREATE TABLE u (id int PRIMARY KEY, t_id int);
		CREATE TABLE unknown (id int PRIMARY KEY, a int)`)
	s.know(t, `t 10000
		t.id range=1..10000
		t.a range=0..99
		t.b common=x:0.7,y:0.2,zed:0.1
		t.c nulls=0.4 range=1..1000
		u 50000
		u.id range=1..50000
		u.t_id range=1..10000`)
	for _, c := range []struct {
		where string
		rows  float64
	}{
		{"id = 5", 1}, {"id = $1", 1}, {"a = 5", 100}, {"5 = a", 100}, {"a = $1", 100}, {"a <> 5",
			9900},
		{"a < 50", 5000}, {"a >= 50", 5000}, {"50 > a", 5000}, {"a >= 10 AND a < 20",
			1000}, {"a BETWEEN 10 AND 19", 1000},
		{"a NOT BETWEEN 10 AND 19", 9000}, {"a < $1", 3300}, {"a < 2.5", 300}, {"a IN (1, 2, 3)",
			300}, {"a NOT IN (1, 2, 3)", 9700},
		{"a = ANY ('{1,2}')", 200}, {"a = ANY ($1)", 1000}, {"a = 1 OR a = 2",
			200}, {"a < 50 OR b = 'x'", 8500}, {"NOT a < 50", 5000},
		{"b = 'x'", 7000}, {"b = 'zed'", 1000}, {"b = 'other'", 1}, {"b LIKE 'z%'",
			1000}, {"b LIKE '%e%'", 1000}, {"b NOT LIKE 'z%'", 9000},
		{"b LIKE 'x'", 7000}, {"c IS NULL", 4000}, {"c IS NOT NULL", 6000}, {"c < 500",
			3000}, {"c = 7", 6},
		{"a = 5 AND b = 'y'", 20}, {"a = 500", 100}, {"a < -5", 1}, {"a = NULL", 1}, {"false", 1},
	} {
		got := s.estimate(t, "SELECT * FROM t WHERE "+c.where)
		require.InDelta(t, c.rows, got, max(0.06*c.rows, 1), "%s: %f", c.where, got)
	}
	for query, rows := range map[string]float64{
		"SELECT * FROM t JOIN u ON u.t_id = t.id":                                        50_000,
		"SELECT * FROM t JOIN u ON u.t_id = t.id WHERE t.a = 5":                          500,
		"SELECT * FROM t JOIN u ON u.t_id = t.id WHERE u.id = 5":                         1,
		"SELECT * FROM t LEFT JOIN u ON u.t_id = t.id":                                   50_000,
		"SELECT * FROM t x JOIN t y ON x.a = y.a":                                        1_000_000,
		"SELECT * FROM t JOIN unknown ON unknown.a = t.id":                               1000,
		"SELECT a, count(*) FROM t GROUP BY a":                                           100,
		"SELECT a, b, count(*) FROM t GROUP BY a, b":                                     300,
		"SELECT DISTINCT b FROM t":                                                       3,
		"SELECT DISTINCT id FROM t WHERE a = 5":                                          100,
		"SELECT * FROM t WHERE id IN (SELECT t_id FROM u)":                               10_000,
		"SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id=t.id AND u.id<=500)": 500,
		"SELECT * FROM unknown":                                                          1000,
	} {
		got := s.estimate(t, query)
		require.InDelta(t, rows, got, max(0.1*rows, 1), "%s: %f", query, got)
	}
}
