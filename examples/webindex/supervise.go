package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// supervise runs the pipeline in a child process, which it kills at random, until the child has
// come to its end. The serving table is outside: in this process or wherever its URL leads.
func supervise(ctx context.Context, o options) error {
	from, err := o.source()
	if err != nil {
		return err
	}
	// A kill is due when so many steps are stored.
	r := rand.New(rand.NewPCG(o.seed, uint64(o.kills)))
	points := make([]int, o.kills)
	for i := range points {
		points[i] = r.IntN(from.steps() + 1)
	}
	slices.Sort(points)
	begun := time.Now()
	for life := 0; ; life++ {
		point := -1
		if life < o.kills {
			point = points[life]
		}
		ended, err := oneLife(ctx, o, from.steps(), point)
		if err != nil {
			return err
		}
		if ended {
			fmt.Printf("%d documents in %.0f s, killed %d times\n", from.steps(),
				time.Since(begun).Seconds(), life)
			return nil
		}
		fmt.Printf("killed %d of %d\n", life+1, o.kills)
	}
}

// oneLife starts the child and kills it soon after a number of steps is stored, unless that is
// negative. ended reports that the child has done all instead.
func oneLife(ctx context.Context, o options, steps, point int) (ended bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", "-data", o.dir, "-folder", o.folder,
		"-serving", o.serving, "-seed", strconv.FormatUint(o.seed, 10),
		"-documents", strconv.Itoa(o.documents), "-recrawls", strconv.Itoa(o.recrawls),
		"-loaders", strconv.Itoa(o.loaders), "-batch", strconv.Itoa(o.batch),
		"-wire="+strconv.FormatBool(o.wire))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	kill := func() {
		pause := time.Duration(rand.IntN(100)) * time.Millisecond
		time.AfterFunc(pause, func() { _ = cmd.Process.Kill() })
	}
	due := false
	for sc := bufio.NewScanner(out); sc.Scan(); {
		stored, isCount := strings.CutPrefix(sc.Text(), "stored ")
		n, _ := strconv.Atoi(stored)
		switch {
		case isCount && point >= 0 && !due && n >= min(point, steps):
			due = true
			kill()
		case !isCount:
			fmt.Println(sc.Text())
		}
		ended = ended || strings.HasPrefix(sc.Text(), "settled")
	}
	if err := cmd.Wait(); err != nil && !due {
		return false, fmt.Errorf("the child has failed: %w", err)
	}
	return ended && cmd.ProcessState.Success(), nil
}
