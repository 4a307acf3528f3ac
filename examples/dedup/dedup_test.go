package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheExampleProvesItsStore(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "dedup")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	kills := "10"
	if testing.Short() {
		kills = "2"
	}
	out, err = exec.CommandContext(t.Context(), bin, "-kills", kills, "-documents", "60", "-data", filepath.Join(t.TempDir(), "data")).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, line := range []string{
		"contents with two canonical URLs:        0\n",
		"documents without their canonical entry: 0\n",
		"acknowledged documents missing:          0\n",
		"problems found by check:                 0\n",
	} {
		require.Contains(t, string(out), line)
	}
}
