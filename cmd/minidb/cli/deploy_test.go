package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestUnitsRunCommandsThatServeTakes: the flags in the files of deploy are those that there are.
func TestUnitsRunCommandsThatServeTakes(t *testing.T) {
	values := strings.NewReplacer("%S", t.TempDir(), "${MINIDB_LISTEN}", "127.0.0.1:0",
		"${MINIDB_STORE}", "etcd://127.0.0.1/app", "${MINIDB_ORACLE_LISTEN}", "127.0.0.1:0",
		"$MINIDB_FLAGS", "--max-connections 200")
	for _, name := range []string{"minidb.service", "minidb-etcd.conf"} {
		unit := strings.ReplaceAll(deployed(t, name), "\\\n", " ") // a line that goes on
		_, line, found := strings.Cut(unit, "\nExecStart=/usr/local/bin/minidb serve ")
		require.True(t, found, name)
		line, _, _ = strings.Cut(line, "\n")
		o := serveTakes(t, strings.Fields(values.Replace(line)))
		require.Equal(t, 200, o.connections, name)
	}
}

// TestContainersRunCommandsThatServeTakes, and wait for longer than serve drains.
func TestContainersRunCommandsThatServeTakes(t *testing.T) {
	_, line, found := strings.Cut(deployed(t, "Dockerfile"), "\nCMD ")
	require.True(t, found)
	var run []string
	require.NoError(t, json.Unmarshal([]byte(line), &run))
	require.Equal(t, "serve", run[0])
	require.Equal(t, "/var/lib/minidb", serveTakes(t, run[1:]).data)
	for name, services := range map[string]int{"compose.yaml": 3, "compose-one.yaml": 1} {
		text := deployed(t, name)
		require.Contains(t, text, "stop_grace_period: 30s", name)
		runs := strings.Split(text, "\n    command:\n      - serve\n")[1:]
		require.Len(t, runs, services, name)
		for _, run := range runs {
			var flags []string
			for line := range strings.Lines(run) {
				flag, isFlag := strings.CutPrefix(strings.TrimSpace(line), "- --")
				if !isFlag {
					break
				}
				flags = append(flags, "--"+flag)
			}
			o := serveTakes(t, flags)
			require.Equal(t, 20*time.Second, o.drain, name)
			require.Equal(t, ":5433", o.listen, name)
		}
	}
}

// deployed returns a file of deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
	require.NoError(t, err)
	return string(text)
}

// serveTakes returns what serve makes of its flags.
func serveTakes(t *testing.T, flags []string) serveOptions {
	t.Helper()
	at := slices.IndexFunc(commands, func(c *command) bool { return c.name == "serve" })
	o, err := readServeOptions(commands[at], flags)
	require.NoError(t, err)
	return o
}
