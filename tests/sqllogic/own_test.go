package sqllogic

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/internal/sqllogic"
)

var rewrite = flag.Bool("rewrite", false, "fill in the expectations of the scripts from "+
	"PostgreSQL 15")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	pgtest.Stop()
	os.RemoveAll(unpacked.dir)
	os.Exit(code)
}

func ownScripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("scripts/*.slt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// The labels of skipif and onlyif in our own scripts. SQLite's corpus knows postgresql alone, and
// minidb goes by it there.
const (
	minidbLabel     = "minidb"
	postgreSQLLabel = "postgresql"
)

// runScripts runs files on conn and reports each failure.
func runScripts(t *testing.T, conn sqllogic.Conn, label string, known *sqllogic.Known,
	files ...string) {
	t.Helper()
	r := &sqllogic.Runner{Conn: conn, Label: label,
		OnFailure: func(f sqllogic.Failure) { t.Error(f) }}
	if known != nil {
		r.Known = known.Has
	}
	for _, f := range files {
		tally, err := r.File(context.Background(), f)
		require.NoError(t, err)
		t.Logf("%s: %v", f, tally)
	}
}

func TestOurScriptsAreWhatPostgreSQLDoes(t *testing.T) {
	conn, err := sqllogic.Dial(context.Background(), pgtest.Server(t))
	require.NoError(t, err)
	defer conn.Close()
	files := ownScripts(t)
	if *rewrite {
		r := &sqllogic.Runner{Conn: conn, Label: postgreSQLLabel}
		for _, f := range files {
			old, err := os.ReadFile(f)
			require.NoError(t, err)
			text, err := r.Rewrite(context.Background(), string(old))
			require.NoError(t, err, f)
			require.NoError(t, os.WriteFile(f, []byte(text), 0o644))
		}
	}
	runScripts(t, conn, postgreSQLLabel, nil, files...)
}
