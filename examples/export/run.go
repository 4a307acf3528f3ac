package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb"
)

// run kills the process of the writers again and again until it has done everything, then compares.
func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "export"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	if o.receiver == "" {
		db, err := minidb.Open(filepath.Join(o.dir, "receiver"))
		if err != nil {
			return err
		}
		defer db.Close()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() { _ = db.Serve(l) }()
		o.receiver = "postgres://export@" + l.Addr().String() + "/postgres?sslmode=disable"
	}
	// A kill is due after so many changes.
	points := make([]int, o.kills)
	for i := range points {
		points[i] = rand.IntN(o.writers*o.changes*9/10 + 1)
	}
	slices.Sort(points)
	made := 0
	for i, point := range points {
		if made, err = oneLife(ctx, o, made, point); err != nil {
			return err
		}
		fmt.Printf("killed %d of %d, %d changes\n", i+1, o.kills, made)
	}
	if _, err = oneLife(ctx, o, made, -1); err != nil {
		return err
	}
	return compare(ctx, o)
}

// oneLife starts the process and kills it when the number of changes, of which some were made
// before, has come to a point. It does not if that is negative. It returns the number.
func oneLife(ctx context.Context, o options, made, point int) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", "-data", o.dir, "-receiver", o.receiver,
		"-writers", strconv.Itoa(o.writers), "-changes", strconv.Itoa(o.changes),
		"-products", strconv.Itoa(o.products))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	killed := false
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "changed ") {
			made++
		}
		if point >= 0 && made >= point && !killed {
			killed = true
			if err := cmd.Process.Kill(); err != nil {
				return 0, err
			}
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		return 0, fmt.Errorf("the process of the writers has failed: %w", err)
	}
	return made, nil
}

// compare reads both tables.
func compare(ctx context.Context, o options) error {
	db, err := minidb.Open(filepath.Join(o.dir, "shop"), minidb.MustExist())
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(ctx, "SELECT product, quantity FROM stock")
	if err != nil {
		return err
	}
	defer rows.Close()
	want := map[string]int{}
	for rows.Next() {
		var product string
		var quantity int
		if err := rows.Scan(&product, &quantity); err != nil {
			return err
		}
		want[product] = quantity
	}
	if err := rows.Err(); err != nil {
		return err
	}
	to, err := newReceiver(ctx, o.receiver)
	if err != nil {
		return err
	}
	got, err := to.stock(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d products here, %d there\n", len(want), len(got))
	if !maps.Equal(want, got) {
		return errors.New("the tables differ")
	}
	fmt.Println("the tables are equal")
	return nil
}
