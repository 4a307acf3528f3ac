//go:build ignore

// This program writes zone_abbrevs.txt from the Default set of time zone abbreviations of a
// PostgreSQL installation:
//
//	go run gen_zones.go "$(pg_config --sharedir)/timezonesets/Default" >zone_abbrevs.txt
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
)

// lineWidth is the width of the lines of the table.
const lineWidth = 100

func main() {
	entries, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	width := 0
	for _, e := range entries {
		if width > 0 && width+1+len(e) > lineWidth {
			fmt.Println()
			width = 0
		}
		if width > 0 {
			e = " " + e
		}
		fmt.Print(e)
		width += len(e)
	}
	fmt.Println()
}

// read returns the entries of a set as name=offset or name=zone, in the order of the names.
func read(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		line, _, _ := strings.Cut(s.Text(), "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case len(fields) < 2 || strings.HasPrefix(fields[0], "@"):
			return nil, fmt.Errorf("%s: not understood: %s", file, line)
		}
		entries = append(entries, fields[0]+"="+strings.Join(fields[1:], "")) // the second may be D
	}
	sort.Strings(entries)
	return entries, s.Err()
}
