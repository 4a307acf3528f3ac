package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/minidb/minidb"
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
	var store storeOptions
	store.flags(fs)
	observers := len(args) > 0 && args[0] == "observers"
	if observers {
		args = args[1:]
	}
	if err := c.parse(fs, args); err != nil {
		return err
	}
	switch {
	case fs.NArg() == 1 && fs.Arg(0) == "observers":
		observers = true
	case fs.NArg() > 0:
		return usageError("unexpected argument " + fs.Arg(0))
	}
	if *rounds < 1 || *round <= 0 {
		return usageError("--round and --rounds must be positive")
	}
	if err := errors.Join(store.check(), exclusive(fs, "dir", "store")); err != nil {
		return err
	}
	o := bench.Options{Round: *round, Rounds: *rounds, Only: *only,
		Documents: []int{10_000, 1_000_000}}
	if store.url != "" {
		if observers {
			return usageError("--store measures statements, and not observers")
		}
		return benchStore(ctx, store, o)
	}
	work, err := os.MkdirTemp(*dir, "minidb-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	o.Dir = work
	if observers {
		return bench.Observers(ctx, o, os.Stdout)
	}
	return bench.Run(ctx, o, os.Stdout)
}

// benchStore is `minidb bench --store`: statements on a store of any engine, without a reference.
func benchStore(ctx context.Context, store storeOptions, o bench.Options) (err error) {
	db, err := store.open("", minidb.Logger(quiet()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return bench.OnStore(ctx, db, o, os.Stdout)
}
