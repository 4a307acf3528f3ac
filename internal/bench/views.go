package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/minidb/minidb"
)

// incrementalView measures a change of one document to the view that shows it, beside recomputing
// the view, with few documents and with many: the paper's claim is a factor of a hundred.
func incrementalView(ctx context.Context, o Options, w io.Writer) error {
	for _, documents := range o.Documents {
		dir := filepath.Join(o.Dir, fmt.Sprint("view", documents))
		if err := viewOf(ctx, dir, documents, o.Rounds, w); err != nil {
			return err
		}
	}
	return nil
}

// documentsOfHost is how many documents a group of the view has.
const documentsOfHost = 100

func viewOf(ctx context.Context, dir string, documents, rounds int, w io.Writer) (err error) {
	db, err := minidb.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, q := range []string{
		"CREATE TABLE docs (id bigint PRIMARY KEY, host bigint NOT NULL, length int NOT NULL)",
		fmt.Sprintf("INSERT INTO docs SELECT g, g / %d, g %% 1000 FROM generate_series(1, %d) g",
			documentsOfHost, documents),
		"ANALYZE docs",
		`CREATE MATERIALIZED VIEW hosts WITH (incremental) AS
			SELECT host, count(*) AS documents, sum(length) AS length FROM docs GROUP BY host`,
	} {
		if _, err := db.Exec(ctx, q); err != nil {
			return err
		}
	}
	var commits, views []time.Duration
	for n := range rounds * countedCommits / 10 {
		begun := time.Now()
		_, err := db.Exec(ctx, "UPDATE docs SET length = length + 1 WHERE id = $1",
			1+n*7919%documents)
		if err != nil {
			return err
		}
		committed := time.Now()
		if err := db.Settle(ctx, 0); err != nil {
			return err
		}
		commits = append(commits, committed.Sub(begun))
		views = append(views, time.Since(committed))
	}
	begun := time.Now()
	if _, err := db.Exec(ctx, "REFRESH MATERIALIZED VIEW hosts"); err != nil {
		return err
	}
	recomputed := time.Since(begun)
	_, err = fmt.Fprintf(w, "a view that groups %d documents by host:\n  commit            %s\n"+
		"  commit to view    %s\n  recomputing it    %.1f ms, %.0f times as long\n", documents,
		quantiles(commits), quantiles(views), float64(recomputed.Microseconds())/1e3,
		float64(recomputed)/float64(views[len(views)/2]))
	return err
}
