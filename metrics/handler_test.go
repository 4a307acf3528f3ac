package metrics_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/metrics"
)

var rewrite = flag.Bool("rewrite", false, "write the table of docs/monitoring.md anew")

// families returns the table of what a database shows.
func families(s *scene) []metrics.Family {
	return s.db.Handler().(*metrics.Handler).Families()
}

// O9: what is scraped is what the table has, and Prometheus' own linter finds nothing in it.
func TestScrapeIsTheTableOfFamilies(t *testing.T) {
	s := newScene(t)
	s.connect()
	all := s.scrape()
	named := map[string]bool{}
	for _, f := range families(s) {
		named[f.Name] = true
		require.Contains(t, []string{"counter", "gauge", "histogram"}, f.Type)
		require.Regexp(t, `^[A-Z0-9].*[^.]\.$`, f.Help, f.Name)
		if got := all[f.Name]; got != nil {
			require.Equal(t, strings.ToUpper(f.Type), got.GetType().String(), f.Name)
			require.Equal(t, f.Help, got.GetHelp())
		}
	}
	for name := range all {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			require.True(t, named[name], "%s is not in the table", name)
		}
	}
	require.Contains(t, all, "go_goroutines")
	_, body := s.get("/metrics")
	problems, err := promlint.New(bytes.NewBufferString(body)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}

// O9: the page for operators has a row for each number, in the table's order.
func TestMonitoringPageHasEveryNumber(t *testing.T) {
	var rows strings.Builder
	for _, f := range families(newScene(t)) {
		labels := strings.Join(f.Labels, ", ")
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, labels, f.Help)
	}
	const name, head = "../docs/monitoring.md", "\n| name | type | labels | meaning |\n" +
		"|---|---|---|---|\n"
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(page), head)
	require.True(t, found)
	table, after, found := strings.Cut(rest, "\n\n")
	require.True(t, found)
	if *rewrite {
		page := before + head + rows.String() + "\n" + after
		require.NoError(t, os.WriteFile(name, []byte(page), 0o644))
		return
	}
	require.Equal(t, rows.String(), table+"\n", "go test ./metrics -rewrite writes it anew")
}

// O9: the numbers are those of the system views.
func TestNumbersAreThoseOfTheViews(t *testing.T) {
	s := newScene(t)
	c := s.connect()
	ctx := context.Background()
	_, err := s.connect().Exec(ctx, "BEGIN")
	require.NoError(t, err)
	broken := s.connect()
	_, err = broken.Exec(ctx, "BEGIN")
	require.NoError(t, err)
	_, err = broken.Exec(ctx, "SELECT 1/0")
	require.Error(t, err)

	view := func(query string) map[string]float64 {
		rows, err := c.Query(ctx, query)
		require.NoError(t, err)
		out := map[string]float64{}
		var name string
		var n float64
		_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
			out[name] = n
			return nil
		})
		require.NoError(t, err)
		return out
	}
	memory := view("SELECT consumer, bytes FROM minidb_memory WHERE pid IS NULL AND " +
		"consumer NOT IN ('process', 'statements', 'reserve')")
	limits := view("SELECT consumer, limit_bytes FROM minidb_memory WHERE pid IS NULL AND " +
		"consumer IN ('process', 'statements', 'reserve') AND limit_bytes IS NOT NULL")
	sessions := view("SELECT state, count(*) FROM pg_stat_activity GROUP BY state")
	now := s.scrape()
	got := now.by("minidb_memory_bytes")
	for name, n := range memory {
		require.InDelta(t, n, got[name], 0, name)
	}
	require.Equal(t, limits, now.by("minidb_memory_limit_bytes"))
	require.Equal(t, map[string]float64{"active": 1, "idle in transaction": 1,
		"idle in transaction (aborted)": 1}, sessions)
	require.Equal(t, map[string]float64{"active": 0, "idle": 1, "idle in transaction": 1,
		"idle in transaction (aborted)": 1}, now.by("minidb_sessions"))
	require.InDelta(t, 3, now.of("minidb_client_connections"), 0)
}

func TestPastThatIsKeptBackIsShown(t *testing.T) {
	s := newScene(t)
	ctx := context.Background()
	before := s.scrape()
	require.Zero(t, before.of("minidb_holds"))
	require.Zero(t, before.of("minidb_running_transactions"))
	hold, err := s.db.Store().NewHold(ctx, time.Minute)
	require.NoError(t, err)
	tx := s.connect()
	_, err = tx.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	require.NoError(t, err)
	now := s.scrape()
	require.InDelta(t, 1, now.of("minidb_holds"), 0)
	require.Positive(t, now.of("minidb_oldest_hold_age_seconds"))
	require.InDelta(t, 1, now.of("minidb_running_transactions"), 0)
	require.Positive(t, now.of("minidb_oldest_snapshot_age_seconds"))
	require.NoError(t, hold.Release(ctx))
	require.Zero(t, s.scrape().of("minidb_holds"))
}

func TestRefusedConnectionsAreCountedByReason(t *testing.T) {
	s := newScene(t, minidbConnections(2, 1)...)
	ctx := context.Background()
	refused := func(user, database, code string) {
		t.Helper()
		_, err := pgx.Connect(ctx, s.url(user, database))
		var e *pgconn.PgError
		require.ErrorAs(t, err, &e)
		require.Equal(t, code, e.Code)
	}
	refused("postgres", "none", "3D000")
	for s.scrape().of("minidb_client_connections") > 0 { // its place is given back behind the error
		runtime.Gosched()
	}
	first := s.connect()
	_, err := first.Exec(ctx, "CREATE ROLE plain LOGIN")
	require.NoError(t, err)
	status, body := s.get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "1 of 2 connections are taken")
	refused("plain", "postgres", "53300")
	s.connect()
	refused("postgres", "postgres", "53300")
	now := s.scrape().by("minidb_refused_connections_total")
	require.Equal(t, map[string]float64{"database": 1, "reserved": 1, "too_many": 1,
		"authentication": 0, "dropped": 0, "startup": 0, "timeout": 0, "tls": 0}, now)
}
