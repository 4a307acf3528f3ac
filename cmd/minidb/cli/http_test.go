package cli

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// O9: serve --http, from the start to the end.
func TestServeShowsItselfOverHTTP(t *testing.T) {
	_, printed, end := serving(t, "--in-memory", "--http", "127.0.0.1:0")
	at := regexp.MustCompile(`at=(http://\S+)`).FindStringSubmatch(printed())
	require.NotNil(t, at, printed())
	get := func(path string) (int, string) {
		r, err := http.Get(at[1] + path)
		require.NoError(t, err)
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(body)
	}
	for path, part := range map[string]string{"/healthz": "ok", "/readyz": "ok",
		"/metrics": "\nminidb_log_syncs_total ", "/debug/pprof/": "/debug/pprof/heap"} {
		status, body := get(path)
		require.Equal(t, http.StatusOK, status, path)
		require.Contains(t, body, part)
	}
	http.DefaultClient.CloseIdleConnections()
	end()
	_, err := http.Get(at[1] + "/healthz")
	require.Error(t, err)
}

// A directory whose log is long takes time to open: the process is alive meanwhile, and not ready.
func TestAliveAndNotReadyWhileTheDatabaseIsOpened(t *testing.T) {
	o, err := observe("127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer o.close()
	for path, want := range map[string]int{"/healthz": http.StatusOK,
		"/readyz": http.StatusServiceUnavailable, "/metrics": http.StatusServiceUnavailable} {
		w := httptest.NewRecorder()
		o.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, want, w.Code, path)
	}
}

func TestOnlyLoopbackAddressesAreServed(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "127.9.9.9:1", "[::1]:0", "localhost:0"} {
		require.NoError(t, checkLoopback(address))
	}
	for _, address := range []string{"0.0.0.0:1", ":1", "[::]:1", "192.0.2.7:1"} {
		require.ErrorContains(t, checkLoopback(address), "neither passwords nor encryption")
	}
}
