package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestTheReceiverEndsEqual(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "export")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	for name, receiver := range map[string]func(t *testing.T) string{
		"minidb":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { return pgtest.Server(t) },
	} {
		t.Run(name, func(t *testing.T) {
			kills := "10"
			if testing.Short() {
				kills = "3"
			}
			out, err := exec.CommandContext(t.Context(), bin, "-receiver", receiver(t),
				"-kills", kills, "-changes", "60", "-products", "50",
				"-data", filepath.Join(t.TempDir(), "data"),
			).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "the tables are equal\n")
			require.Contains(t, string(out), fmt.Sprintf("killed %s of %s, ", kills, kills))
		})
	}
}
