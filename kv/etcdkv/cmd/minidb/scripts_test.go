package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const scripts = "../../../../tests/sqllogic/scripts"

// some are the scripts that are run unless MINIDB_SCRIPTS is "all".
var some = []string{"aggregates", "constraints", "current_of", "deferrable", "merge", "sequences"}

// refusing use what is refused on a store that several processes share (sql/shared.go), or ask for
// VACUUM FULL and CHECKPOINT.
var refusing = []string{"maintenance", "properties", "roles", "storage", "system_columns",
	"table_locks", "view_functions"}

// TestScripts runs minidb's own sqllogictest scripts on gateways, one script on one after the
// other: each sees what those before it have left.
func TestScripts(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	files, err := filepath.Glob(scripts + "/*.slt")
	require.NoError(t, err)
	ran := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".slt")
		if os.Getenv("MINIDB_SCRIPTS") != "all" && !slices.Contains(some, name) ||
			slices.Contains(refusing, name) {
			continue
		}
		gateway := c.gateways[ran%len(c.gateways)]
		out := c.run(t, "sqllogictest", "--url", "postgres://postgres@"+gateway.addr+"/postgres",
			file)
		t.Log(name, strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]))
		ran++
	}
	require.Greater(t, ran, 3)
}
