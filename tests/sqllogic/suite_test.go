package sqllogic

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/sqllogic"
	"github.com/minidb/minidb/tests/served"
)

func TestOurScriptsEmbedded(t *testing.T) {
	conn := sqllogic.Embedded()
	defer func() { require.NoError(t, conn.Close()) }()
	runScripts(t, conn, minidbLabel, nil, ownScripts(t)...)
}

func TestOurScriptsEmbeddedInTwoPhases(t *testing.T) {
	conn := sqllogic.Embedded(minidb.CommitProtocol("two-phase"))
	defer func() { require.NoError(t, conn.Close()) }()
	runScripts(t, conn, minidbLabel, nil, ownScripts(t)...)
}

func TestOurScriptsOverTheWire(t *testing.T) {
	conn := dial(t)
	runScripts(t, conn, minidbLabel, nil, ownScripts(t)...)
}

func TestSQLiteCorpusEmbedded(t *testing.T) {
	runCorpus(t, func(*testing.T) sqllogic.Conn { return sqllogic.Embedded() })
}

func TestSQLiteCorpusOverTheWire(t *testing.T) {
	runCorpus(t, dial)
}

// dial serves a database in memory and connects to it.
func dial(t *testing.T) sqllogic.Conn {
	t.Helper()
	conn, err := sqllogic.Dial(context.Background(), served.InMemory(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// runCorpus runs SQLite's files, two at a time.
func runCorpus(t *testing.T, connect func(t *testing.T) sqllogic.Conn) {
	if testing.Short() {
		t.Skip("the corpus takes minutes")
	}
	dir := unpack(t)
	f, err := os.Open("sqlite-known.txt")
	require.NoError(t, err)
	defer f.Close()
	known, err := sqllogic.ReadKnown(f)
	require.NoError(t, err)
	for _, file := range corpusFiles(t, dir) {
		name, err := filepath.Rel(dir, file)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScripts(t, connect(t), postgreSQLLabel, known, file)
		})
	}
}

func corpusFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".test") ||
			filepath.Base(path) == "select5.test" {
			return err
		}
		out = append(out, path)
		return nil
	}))
	require.NotEmpty(t, out)
	sort.Strings(out)
	return out
}

var unpacked struct {
	sync.Once
	dir string
	err error
}

// unpack unpacks the corpus beside the repository once per process, or skips.
func unpack(t *testing.T) string {
	t.Helper()
	archive, err := filepath.Abs("../../../shared/suites/sqllogictest/sqlite-dev.tar.xz")
	require.NoError(t, err)
	if _, err := os.Stat(archive); err != nil {
		t.Skip("SQLite's corpus is not beside the repository: " +
			"../shared/suites/sqllogictest/sqlite-dev.tar.xz")
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("xz is not installed: it unpacks SQLite's corpus")
	}
	unpacked.Do(func() {
		if unpacked.dir, unpacked.err = os.MkdirTemp("", "sqlite-corpus"); unpacked.err != nil {
			return
		}
		out, err := exec.Command("tar", "-xJf", archive, "-C", unpacked.dir).CombinedOutput()
		if err != nil {
			unpacked.err = fmt.Errorf("tar: %w: %s", err, out)
		}
	})
	require.NoError(t, unpacked.err)
	return unpacked.dir
}
