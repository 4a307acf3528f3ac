package metrics_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
)

func minidbConnections(most, reserved int) []minidb.Option {
	return []minidb.Option{minidb.MaxConnections(most), minidb.ReservedConnections(reserved)}
}

// O9: while the server drains, the process is alive and not ready.
func TestReadyUntilTheServerDrains(t *testing.T) {
	s := newScene(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body := s.get(path)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "ok\n", body)
	}
	require.NoError(t, s.db.Shutdown(context.Background()))
	status, body := s.get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "draining")
	status, _ = s.get("/healthz")
	require.Equal(t, http.StatusOK, status)
	require.InDelta(t, 1, s.scrape().of("minidb_draining"), 0)

	require.NoError(t, s.db.Close())
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body := s.get(path)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Contains(t, body, "closed")
	}
	require.NotContains(t, s.scrape(), "minidb_log_syncs_total")
}

// O9: a store that could not write its log is neither alive nor ready, and says why.
func TestAFailedStoreIsNotAlive(t *testing.T) {
	fs := testfs.NewFaultFS(testfs.NewCrashFS())
	fatal := make(chan error, 1)
	db, err := minidb.Open("db", minidb.OnEngine(func(o *pebblekv.Options) { o.FS = fs }),
		minidb.Logger(slog.New(slog.DiscardHandler)), minidb.GCInterval(-1),
		minidb.OnFatal(func(err error) { fatal <- err }))
	require.NoError(t, err)
	s := &scene{t: t, db: db, http: httptest.NewServer(db.Handler())}
	defer s.http.Close()
	require.Zero(t, s.scrape().of("minidb_engine_failed"))
	fs.Plan(testfs.Fault{At: 1})
	_, err = db.Exec(context.Background(), "CREATE TABLE t(k int)")
	require.Error(t, err)
	<-fatal
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body := s.get(path)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Contains(t, body, "store has failed")
	}
	require.InDelta(t, 1, s.scrape().of("minidb_engine_failed"), 0)
	require.ErrorIs(t, db.Close(), minidb.ErrFailed)
}

// O9: profiles of the process, which nothing has put on the default mux of net/http.
func TestProfiles(t *testing.T) {
	s := newScene(t)
	status, body := s.get("/debug/pprof/")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "/debug/pprof/heap\n")
	status, body = s.get("/debug/pprof/goroutine?debug=1")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "goroutine profile: total ")
	for _, path := range []string{"heap", "heap?gc=1", "allocs", "profile?seconds=0.01"} {
		status, body = s.get("/debug/pprof/" + path)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "\x1f\x8b", body[:2], "%s is compressed", path)
	}
	status, body = s.get("/debug/pprof/trace?seconds=0.01")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body[:8], "go 1.")
	for path, want := range map[string]int{"profile?seconds=x": 400, "profile?seconds=-1": 400,
		"profile?seconds=1e9": 400, "heap?seconds=1": 400, "heap?debug=9": 400, "none": 404,
		"heap/more": 404} {
		status, _ = s.get("/debug/pprof/" + path)
		require.Equal(t, want, status, path)
	}
	request := httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil)
	_, pattern := http.DefaultServeMux.Handler(request)
	require.Empty(t, pattern)
}

func TestOneCPUProfileAtATime(t *testing.T) {
	s := newScene(t)
	var first bytes.Buffer
	require.NoError(t, pprof.StartCPUProfile(&first))
	defer pprof.StopCPUProfile()
	status, body := s.get("/debug/pprof/profile?seconds=1")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "already")
}

func TestContentsAndMethods(t *testing.T) {
	s := newScene(t)
	_, body := s.get("/")
	require.Contains(t, body, "/metrics\n")
	status, _ := s.get("/none")
	require.Equal(t, http.StatusNotFound, status)
	r, err := http.Post(s.http.URL+"/metrics", "text/plain", nil)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
}
