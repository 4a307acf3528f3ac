package cli

import (
	"context"
	"os"
	"time"

	"github.com/minidb/minidb/internal/bench"
)

func runBench(ctx context.Context, c *command, args []string) error {
	if len(args) > 0 && args[0] == "compare" {
		return runCompare(ctx, c, args[1:])
	}
	fs := c.flags()
	dir := fs.String("dir", "", "folder for the stores (default: a temporary one); everything is "+
		"removed at the end")
	round := fs.Duration("round", 500*time.Millisecond, "length of one side's turn")
	rounds := fs.Int("rounds", 11, "turns of each side")
	only := fs.String("only", "", "only measurements whose name contains this")
	measure := bench.Run
	if len(args) > 0 && args[0] == "observers" {
		measure, args = bench.Observers, args[1:]
	}
	if err := c.parse(fs, args); err != nil {
		return err
	}
	switch {
	case fs.NArg() == 1 && fs.Arg(0) == "observers":
		measure = bench.Observers
	case fs.NArg() > 0:
		return usageError("unexpected argument " + fs.Arg(0))
	}
	if *rounds < 1 || *round <= 0 {
		return usageError("--round and --rounds must be positive")
	}
	work, err := os.MkdirTemp(*dir, "minidb-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	return measure(ctx, bench.Options{Dir: work, Round: *round, Rounds: *rounds, Only: *only,
		Documents: []int{10_000, 1_000_000}}, os.Stdout)
}
