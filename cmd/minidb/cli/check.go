package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/minidb/minidb"
)

func check(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	data := fs.String("data", "", "data directory, which no server may have open")
	into := fs.String("salvage", "", "copy what can be read of a damaged directory into this new "+
		"one, list what cannot, and check the new one")
	var store storeOptions
	store.flags(fs)
	if err := c.parseFlags(fs, args); err != nil {
		return err
	}
	if err := errors.Join(store.check(), exclusive(fs, "data", "store")); err != nil {
		return err
	}
	switch {
	case store.place(*data) == "":
		return usageError("--data or --store is missing")
	case *into == "":
		return checkStore(ctx, *data, store)
	case store.url != "":
		return usageError("--salvage takes a directory: --data")
	}
	lost, err := salvage(ctx, *data, *into)
	if err != nil {
		return err
	}
	err = checkStore(ctx, *into, storeOptions{})
	if lost && err == nil {
		return errReported
	}
	return err
}

// checkStore prints what is wrong with a store.
func checkStore(ctx context.Context, data string, store storeOptions) error {
	db, err := store.open(data, minidb.MustExist(), minidb.GCInterval(-1), minidb.Logger(quiet()))
	if err != nil {
		return err
	}
	defer db.Close()
	n, reported := 0, int64(0)
	err = db.CheckEach(ctx, minidb.CheckReport{
		Problem: func(line string) {
			n++
			fmt.Println(line)
		},
		Note: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Progress: func(done, total int64) {
			if tenth := 10 * done / max(total, 1); tenth > reported {
				reported = tenth
				fmt.Fprintf(os.Stderr, "%d of %d bytes of table files verified\n", done, total)
			}
		},
		Read: func(table string, keys int64) {
			fmt.Fprintf(os.Stderr, "%d rows and index entries read, now in %s\n", keys, table)
		},
	})
	if err != nil {
		return err
	}
	if n > 0 {
		fmt.Printf("%d problems\n", n)
		return errReported
	}
	if !store.shared() {
		fmt.Print("every block has its checksum, ")
	}
	fmt.Println("every index entry its row, every row its index entries; no orphan locks; " +
		"every incremental view compared is what its query gives")
	return nil
}

// salvage copies a damaged directory into a new one. It reports whether something was lost.
func salvage(ctx context.Context, dir, into string) (lost bool, err error) {
	n := 0
	err = minidb.Salvage(ctx, dir, into, minidb.SalvageReport{
		Lost: func(line string) {
			n++
			fmt.Println("lost:", line)
		},
		Progress: func(table string, rows int64) {
			fmt.Fprintf(os.Stderr, "%s: %d rows copied\n", table, rows)
		},
	})
	if err != nil {
		return n > 0, err
	}
	fmt.Printf("what could be read was copied to %s; %d things were lost\n", into, n)
	return n > 0, nil
}
