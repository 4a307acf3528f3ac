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
	if *data == "" {
		return usageError("--data is missing")
	}
	if err := mustExist(*data); err != nil {
		return err
	}
	db, err := minidb.Open(*data)
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
