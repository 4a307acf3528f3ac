package main

import (
	"context"
	"fmt"

	"github.com/minidb/minidb"
)

func check(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	data := fs.String("data", "", "data directory, which no server may have open")
	if err := c.parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError(fmt.Sprintf("unexpected argument %q", fs.Arg(0)))
	}
	if *data == "" {
		return usageError("--data is missing")
	}
	db, err := minidb.Open(*data, minidb.MustExist(), minidb.GCInterval(-1), minidb.Logger(quiet()))
	if err != nil {
		return err
	}
	defer db.Close()
	problems, err := db.Check(ctx)
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		fmt.Printf("%d problems\n", len(problems))
		return errReported
	}
	fmt.Println("every index entry has its row, every row its index entries; no orphan locks")
	return nil
}
