package cli

import (
	"context"
	"os"
	"time"

	"github.com/minidb/minidb/internal/bench/compare"
)

// runCompare is `minidb bench compare`.
func runCompare(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	o := compare.Options{}
	fs.StringVar(&o.Postgres, "postgres", "", "URL of a PostgreSQL, in which a database is made "+
		"and dropped again; without it only the embedded works run")
	dir := fs.String("dir", "", "folder for the stores (default: a temporary one); everything is "+
		"removed at the end")
	fs.IntVar(&o.Rows, "rows", 1_000_000, "rows of the table that statements read")
	fs.DurationVar(&o.Round, "round", 2*time.Second, "length of one side's turn")
	fs.IntVar(&o.Rounds, "rounds", 5, "turns of each side")
	fs.StringVar(&o.Only, "only", "", "only works whose name contains this")
	fs.StringVar(&o.Record, "record", "", "file into which the ratios are written")
	fs.StringVar(&o.Against, "against", "", "file of an earlier run; what is slower is named")
	fs.StringVar(&o.Plots, "plots", "", "folder into which the drawings are written")
	fs.IntVar(&o.Growth, "growth", 0, "with --plots: measure tables of 10,000 rows up to so many")
	fs.Float64Var(&o.TPCH, "tpch", 0, "with --postgres: run TPC-H at this scale; 0.1 makes "+
		"866,000 rows")
	fs.IntVar(&o.MemoryTable, "memory-table", 0, "with --postgres: run statements that sort, join "+
		"and group so many rows on a minidb served with --memory 256MiB")
	fs.StringVar(&o.Corpus, "corpus", "", "with --postgres: folder of sqllogictest files that "+
		"both servers run")
	if err := c.parse(fs, args); err != nil {
		return err
	}
	switch {
	case fs.NArg() > 0:
		return usageError("unexpected argument " + fs.Arg(0))
	case o.Rounds < 1 || o.Round <= 0 || o.Rows < 2000 || o.Growth < 0 || o.TPCH < 0 ||
		o.MemoryTable < 0:
		return usageError("--round and --rounds must be positive, --rows at least 2000")
	}
	work, err := os.MkdirTemp(*dir, "minidb-compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	o.Dir = work
	if o.Program, err = os.Executable(); err != nil {
		return err
	}
	return compare.Run(ctx, o, os.Stdout)
}
