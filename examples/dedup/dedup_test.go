package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

func TestTheExampleProvesItsStore(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "dedup")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			kills := "10"
			if testing.Short() {
				kills = "2"
			}
			out, err := exec.CommandContext(t.Context(), bin, "-kills", kills, "-documents", "60",
				"-isolation", level,
				"-data", filepath.Join(t.TempDir(), "data")).CombinedOutput()
			require.NoError(t, err, string(out))
			for _, line := range []string{
				"contents with two canonical URLs:        0\n",
				"documents without their canonical entry: 0\n",
				"acknowledged documents missing:          0\n",
				"problems found by check:                 0\n",
			} {
				require.Contains(t, string(out), line)
			}
		})
	}
}

// TestWhatEachLevelDoesToTheDedup: two writers look for the same new content before either has
// stored it. With the key the second one is stopped at every level; without it only SERIALIZABLE
// stops it.
func TestWhatEachLevelDoesToTheDedup(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct{ level, withKey, without string }{
		{"read committed", "23505", ""}, {"repeatable read", "23505", ""}, {"serializable", "40001",
			"40001"},
	} {
		for key, want := range map[string]string{"PRIMARY KEY": x.withKey, "NOT NULL": x.without} {
			db, err := minidb.Open("", minidb.InMemory(), minidb.DefaultIsolation(x.level))
			require.NoError(t, err)
			_, err = db.Exec(ctx, "CREATE TABLE canonical (hash int "+key+", url text NOT NULL)")
			require.NoError(t, err)
			first, second := &embedded{db: db}, &embedded{db: db}
			for _, w := range []*embedded{first, second} {
				require.NoError(t, w.Exec(ctx, "BEGIN"))
				known, err := w.Exists(ctx, "SELECT url FROM canonical WHERE hash = 1")
				require.NoError(t, err)
				require.False(t, known)
			}
			const insert = "INSERT INTO canonical VALUES (1, $1)"
			require.NoError(t, first.Exec(ctx, insert, "first"))
			require.NoError(t, first.Exec(ctx, "COMMIT"))
			if err = second.Exec(ctx, insert, "second"); err == nil {
				err = second.Exec(ctx, "COMMIT")
			} else {
				require.NoError(t, second.Exec(ctx, "ROLLBACK"))
			}
			require.Equal(t, want, sqlState(err), "%s, %s", x.level, key)
			require.NoError(t, db.Close())
		}
	}
}

func sqlState(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}
