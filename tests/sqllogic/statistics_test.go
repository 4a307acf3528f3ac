package sqllogic

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/sqllogic"
)

// analyzing runs ANALYZE before queries, so that all plans are made with statistics. every says
// before which.
type analyzing struct {
	sqllogic.Conn
	every int
	n     int
}

func (a *analyzing) Run(ctx context.Context, sql string) (*sqllogic.Result, error) {
	if head := strings.ToUpper(strings.TrimSpace(sql)); strings.HasPrefix(head, "SELECT") ||
		strings.HasPrefix(head, "WITH") {
		if a.n++; a.n%a.every == 0 {
			// In a block that has failed, or one that reads the past, there is nothing to analyse.
			_, _ = a.Conn.Run(ctx, "ANALYZE")
		}
	}
	return a.Conn.Run(ctx, sql)
}

// Statistics change plans and never results.
func TestOurScriptsWithStatistics(t *testing.T) {
	conn := &analyzing{Conn: sqllogic.Embedded(minidb.AnalyzeInterval(-1)), every: 1}
	defer func() { require.NoError(t, conn.Close()) }()
	var files []string
	for _, f := range ownScripts(t) {
		switch filepath.Base(f) {
		// which look at what ANALYZE leaves
		case "maintenance.slt", "table_locks.slt", "view_functions.slt":
		default:
			files = append(files, f)
		}
	}
	runScripts(t, conn, minidbLabel, nil, files...)
}

// The part of SQLite's corpus that joins many tables, and looks at many conditions.
func TestSQLiteCorpusWithStatistics(t *testing.T) {
	if testing.Short() {
		t.Skip("the corpus takes minutes")
	}
	dir := unpack(t)
	f, err := os.Open("sqlite-known.txt")
	require.NoError(t, err)
	defer f.Close()
	known, err := sqllogic.ReadKnown(f)
	require.NoError(t, err)
	for _, name := range []string{"select2.test", "select4.test",
		"index/commute/10/slt_good_28.test", "index/random/10/slt_good_13.test",
		"index/between/1000/slt_good_0.test", "index/orderby/100/slt_good_2.test",
		"random/groupby/slt_good_11.test"} {
		found := false
		for _, file := range corpusFiles(t, dir) {
			if strings.HasSuffix(filepath.ToSlash(file), "/"+name) {
				found = true
				t.Run(name, func(t *testing.T) {
					runScripts(t, &analyzing{Conn: sqllogic.Embedded(minidb.AnalyzeInterval(-1)),
						every: 200}, postgreSQLLabel, known, file)
				})
			}
		}
		require.True(t, found, "%s is in the corpus", name)
	}
}
