package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/minidb/minidb"
)

// grown are the names of the lines of the growth plot, in the order in which grow returns them.
var grown = []string{"point read", "insert", "range of 1000 rows", "count(*)", "CREATE INDEX",
	"open after a kill", "check"}

// growth measures tables of 10,000 rows, of ten times as many, and so on.
func (r *runner) growth(ctx context.Context) ([]curve, error) {
	lines := make([]curve, len(grown))
	for i, name := range grown {
		lines[i].name = name
	}
	for n := min(10_000, r.Growth); n <= r.Growth; n *= 10 {
		seconds, err := r.grow(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("%d rows: %w", n, err)
		}
		for i, v := range seconds {
			lines[i].rows = append(lines[i].rows, n)
			lines[i].seconds = append(lines[i].seconds, v)
			if _, err := fmt.Fprintf(r.w, "%-20s %9d rows  %s\n", grown[i], n,
				time.Duration(v*float64(time.Second)).Round(time.Microsecond)); err != nil {
				return nil, err
			}
		}
	}
	return lines, nil
}

// grow returns what the lines have at n rows, in seconds.
func (r *runner) grow(ctx context.Context, n int) (seconds []float64, err error) {
	dir, err := os.MkdirTemp(r.Dir, "growth")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := minidb.Open(filepath.Join(dir, "db"))
	if err != nil {
		return nil, err
	}
	// Made and filled at once, so that no clean-up of locks is measured beside what follows.
	for _, q := range []string{fmt.Sprintf(`CREATE TABLE t AS SELECT i AS id, i %% 1000 AS a,
		((i * 7919::bigint) %% %d)::int AS b, 'text ' || i AS c
		FROM generate_series(1, %d) AS s (i)`, n, n), "ALTER TABLE t ADD PRIMARY KEY (id)"} {
		if _, err := db.Exec(ctx, q); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	dice := rand.New(rand.NewPCG(1, uint64(n)))
	several := func(times int, sql string, params func(i int) []any) {
		start := time.Now()
		for i := range times {
			if err == nil && ctx.Err() == nil {
				_, err = db.Exec(ctx, sql, params(i)...)
			}
		}
		seconds = append(seconds, time.Since(start).Seconds()/float64(times))
	}
	several(2000, "SELECT c FROM t WHERE id = $1",
		func(int) []any { return []any{1 + dice.IntN(n)} })
	several(200, "INSERT INTO t VALUES ($1, 1, 1, '')",
		func(i int) []any { return []any{n + 1 + i} })
	several(100, "SELECT sum(b) FROM t WHERE id > $1 AND id <= $1 + 1000",
		func(int) []any { return []any{dice.IntN(max(n-1000, 1))} })
	several(3, "SELECT count(*) FROM t", func(int) []any { return nil })
	several(1, "CREATE INDEX ON t (b)", func(int) []any { return nil })
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// As a crash leaves it: the files as they are while the database is open.
	killed := filepath.Join(dir, "killed")
	err = copyAtOnce(ctx, filepath.Join(dir, "db"), killed)
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	start := time.Now()
	again, err := minidb.Open(killed)
	if err != nil {
		return nil, err
	}
	seconds = append(seconds, time.Since(start).Seconds())
	start = time.Now()
	problems, err := again.Check(ctx)
	seconds = append(seconds, time.Since(start).Seconds())
	if len(problems) > 0 {
		err = errors.Join(err, fmt.Errorf("check: %s", problems[0]))
	}
	return seconds, errors.Join(err, again.Close())
}

// copyAtOnce copies a folder as it was at one moment: again, until no compaction made or removed a
// file meanwhile.
func copyAtOnce(ctx context.Context, from, to string) error {
	for {
		before, err := sizes(from)
		if err == nil {
			err = os.CopyFS(to, os.DirFS(from))
		}
		after, failed := sizes(from)
		err = errors.Join(err, failed)
		if err == nil && maps.Equal(before, after) ||
			err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := errors.Join(ctx.Err(), os.RemoveAll(to)); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// sizes returns the sizes of the files below a folder, by their names.
func sizes(dir string) (map[string]int64, error) {
	of := map[string]int64{}
	return of, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			of[name] = info.Size()
		}
		return err
	})
}
