package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/minidb/minidb/internal/sqllogic"
)

func sqlLogicTest(ctx context.Context, c *command, args []string) error {
	flags := c.flags()
	url := flags.String("url", "", "server to test, in a database made for it; without it minidb "+
		"is tested embedded, in memory")
	label := flags.String("label", "postgresql", "engine name that skipif and onlyif compare with")
	known := flags.String("known", "", "file that lists records whose failure counts as skipped")
	verbose := flags.Bool("v", false, "show each failure with file and line")
	if err := c.parse(flags, args); err != nil {
		return err
	}
	files, err := scripts(flags.Args())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usageError("name at least one script or folder")
	}
	conn, err := testConnection(ctx, *url)
	if err != nil {
		return err
	}
	defer conn.Close()
	r := &sqllogic.Runner{Conn: conn, Label: *label}
	if *known != "" {
		f, err := os.Open(*known)
		if err != nil {
			return err
		}
		list, err := sqllogic.ReadKnown(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", *known, err)
		}
		r.Known = list.Has
	}
	if *verbose {
		r.OnFailure = func(f sqllogic.Failure) { fmt.Println(f) }
	}
	var all sqllogic.Tally
	for _, f := range files {
		t, err := r.File(ctx, f)
		all.Add(t)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", f, t)
	}
	fmt.Println(all)
	if all.Failed > 0 {
		return errReported
	}
	return nil
}

func testConnection(ctx context.Context, url string) (sqllogic.Conn, error) {
	if url != "" {
		return sqllogic.Dial(ctx, url)
	}
	return sqllogic.Embedded(), nil
}

// scripts lists the files named, and those called *.test or *.slt below the folders named.
func scripts(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, p)
			continue
		}
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() &&
				(strings.HasSuffix(path, ".test") || strings.HasSuffix(path, ".slt")) {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	sort.Strings(out)
	return out, nil
}
