package cli

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// O9: the log says what was started, what failed, and why it ended, as JSON where that is asked
// for.
func TestServeLogsJSON(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	at, printed, end := serving(t, "--data", data, "--log-format", "json")
	conn, err := pgx.Connect(context.Background(), "postgres://postgres@"+at+"/postgres")
	require.NoError(t, err)
	_, err = conn.Exec(context.Background(), "SELECT 1/0")
	require.Error(t, err)
	require.NoError(t, conn.Close(context.Background()))
	end()
	by := map[string]map[string]any{}
	for line := range strings.Lines(printed()) {
		if strings.HasPrefix(line, "{") {
			var r map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &r), line)
			by[r["msg"].(string)] = r
		}
	}
	start := by["server starts"]
	require.Equal(t, data, start["store"])
	require.Equal(t, at, start["listen"])
	require.EqualValues(t, 5, start["format"])
	require.Zero(t, start["replayed_updates"])
	require.Positive(t, start["open_seconds"])
	require.Equal(t, "22012", by["statement failed"]["sqlstate"])
	require.Equal(t, "signal", by["server stops"]["reason"])
	require.Contains(t, by, "server has stopped")
}

func TestLogLevel(t *testing.T) {
	_, printed, end := serving(t, "--in-memory", "--log-level", "warn")
	end()
	require.NotContains(t, printed(), "server starts")
	for _, args := range [][]string{{"--log-format", "xml"}, {"--log-level", "loud"}} {
		code, _, _ := runCommand(t, append([]string{"serve", "--in-memory"}, args...)...)
		require.Equal(t, 2, code)
	}
}

// TestTheLogNamesNoSecretOfAStore: what is in a URL beside hosts and path stays out of it.
func TestTheLogNamesNoSecretOfAStore(t *testing.T) {
	o := serveOptions{store: storeOptions{url: "etcd://me:s3cret@host:2379/path?token=s3cret"}}
	require.Equal(t, "etcd://me:xxxxx@host:2379/path", o.place())
	o.store.url = "etcd://a:2379,b:2379/path?token=s3cret"
	require.NotContains(t, o.place(), "s3cret")
}
