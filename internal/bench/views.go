package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
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

// openHosts opens a database with documents, and a view that groups them by host.
func openHosts(ctx context.Context, dir string, documents int) (*minidb.DB, error) {
	db, err := minidb.Open(dir)
	if err != nil {
		return nil, err
	}
	for _, q := range []string{
		"CREATE TABLE docs (id bigint PRIMARY KEY, host bigint NOT NULL, length int NOT NULL)",
		fmt.Sprintf("INSERT INTO docs SELECT g, g / %d, g %% 1000 FROM generate_series(1, %d) g",
			documentsOfHost, documents),
		"ANALYZE docs",
		`CREATE MATERIALIZED VIEW hosts WITH (incremental) AS
			SELECT host, count(*) AS documents, sum(length) AS length FROM docs GROUP BY host`,
	} {
		if _, err := db.Exec(ctx, q); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

func viewOf(ctx context.Context, dir string, documents, rounds int, w io.Writer) (err error) {
	db, err := openHosts(ctx, dir, documents)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
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

// lagUnderLoad measures how far a view is behind writers that do all they can, with more and more
// rows in a statement: the load at which the view falls further and further behind is that at
// which the lag at the end is a multiple of that at the beginning.
func lagUnderLoad(ctx context.Context, o Options, w io.Writer) (err error) {
	documents := o.Documents[0]
	db, err := openHosts(ctx, filepath.Join(o.Dir, "lag"), documents)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fmt.Fprintf(w, "lag of a view of %d documents behind 8 writers:\n", documents)
	for _, rows := range []int{1, 10, 100} {
		rate, lags, err := underLoad(ctx, db, documents, rows, 4*o.Round)
		if err != nil {
			return err
		}
		quarter := max(1, len(lags)/4)
		early, late := lags[:quarter], lags[len(lags)-quarter:]
		fmt.Fprintf(w, "  %3d rows a statement, %6.0f changes/s  at first %s; at the end %s\n",
			rows, rate, quantiles(early), quantiles(late))
	}
	return nil
}

// underLoad lets writers change documents for a while. It returns what they have changed in a
// second, and the lags that were found meanwhile.
func underLoad(ctx context.Context, db *minidb.DB, documents, rows int,
	length time.Duration) (rate float64, lags []time.Duration, err error) {
	const writers = 8
	errs, made := make([]error, writers), make([]int, writers)
	own := documents / writers // each has documents of its own
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range writers {
		wg.Go(func() {
			for ; errs[i] == nil && time.Since(begun) < length; made[i] += rows {
				first := 1 + i*own + made[i]%(own-rows+1)
				_, errs[i] = db.Exec(ctx, "UPDATE docs SET length = length + 1 "+
					"WHERE id BETWEEN $1 AND $2", first, first+rows-1)
			}
		})
	}
	for err == nil && time.Since(begun) < length {
		asked := time.Now()
		err = db.Settle(ctx, 0)
		lags = append(lags, time.Since(asked))
	}
	wg.Wait()
	changes := 0
	for _, n := range made {
		changes += n
	}
	return float64(changes) / time.Since(begun).Seconds(), lags, errors.Join(append(errs, err)...)
}
