package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqllogic"
)

// What the files of sqllogictest together are to reach.
const (
	reachCorpus = 5
	corpusName  = "sqllogictest corpus"
)

// corpus runs every sqllogictest file below a folder, one after the other, on both servers. It
// prints how many records each passed, and the files that take minidb the longest.
func (r *runner) corpus(ctx context.Context, sides [2]*side) error {
	if r.Corpus == "" || !strings.Contains(corpusName, r.Only) {
		return nil
	}
	files, err := scripts(r.Corpus)
	if err != nil {
		return err
	}
	ran := make([]script, len(files))
	var tallies [2]sqllogic.Tally
	err = r.turns(Result{Name: corpusName, Reference: "PostgreSQL", Reach: reachCorpus},
		func(i int) (seconds float64, err error) {
			conn, err := sqllogic.Dial(ctx, sides[i].admin)
			if err != nil {
				return 0, err
			}
			defer func() { err = errors.Join(err, conn.Close()) }()
			tallies[i] = sqllogic.Tally{}
			for k, file := range files {
				runner := sqllogic.Runner{Conn: conn, Label: "postgresql"}
				start := time.Now()
				tally, err := runner.File(ctx, file)
				if err != nil {
					return 0, err
				}
				tallies[i].Add(tally)
				ran[k].name, ran[k].seconds[i] = file, time.Since(start).Seconds()
				seconds += ran[k].seconds[i]
			}
			return seconds, nil
		})
	if err != nil {
		return err
	}
	lines := fmt.Sprintf("%d files; minidb: %v; PostgreSQL: %v\n", len(files), tallies[0],
		tallies[1])
	slices.SortFunc(ran, func(a, b script) int { return cmp.Compare(b.seconds[0], a.seconds[0]) })
	for _, s := range ran[:min(len(ran), slowestShown)] {
		lines += fmt.Sprintf("  %s: %.2f s, PostgreSQL %.2f s\n", s.name, s.seconds[0],
			s.seconds[1])
	}
	_, err = io.WriteString(r.w, lines)
	return err
}

// script is what a file took on both sides, the last time.
type script struct {
	name    string
	seconds [2]float64
}

// slowestShown is how many files are printed.
const slowestShown = 5

// scripts are the sqllogictest files below a folder.
func scripts(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".test") {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no sqllogictest file is in it", dir)
	}
	return files, err
}
