package sqllogic

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Kind is what a record asks for.
type Kind uint8

// The kinds of record.
const (
	Statement Kind = iota
	Query
	HashThreshold
	Halt
)

// Condition is a skipif or onlyif line before a record.
type Condition struct {
	Only  bool
	Label string
}

// Record is one entry of a script.
type Record struct {
	Line       int // of its first line, from 1
	Conditions []Condition
	Kind       Kind
	SQL        string
	WantError  bool   // statement error
	Code       string // the SQLSTATE that the error must have, or ""
	Types      string // query: a letter per column
	Sort       string // nosort, rowsort or valuesort
	Label      string
	Want       []string // expected values, or one line with their hash
	Threshold  int
}

// Skipped reports whether the record is not for the engine called label.
func (r *Record) Skipped(label string) bool {
	for _, c := range r.Conditions {
		if c.Only != (c.Label == label) {
			return true
		}
	}
	return false
}

var sqlState = regexp.MustCompile(`^[0-9A-Z]{5}$`)

// Parse reads a whole script.
func Parse(r io.Reader) ([]Record, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<16), 64<<20)
	var out []Record
	var block []string
	start, n := 0, 0
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		rec, ok, err := parseBlock(block, start)
		block = nil
		if err == nil && ok {
			out = append(out, rec)
		}
		return err
	}
	for sc.Scan() {
		n++
		line := strings.TrimSuffix(sc.Text(), "\r")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			if err := flush(); err != nil {
				return nil, err
			}
		default:
			if len(block) == 0 {
				start = n
			}
			block = append(block, line)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return out, flush()
}

func parseBlock(lines []string, start int) (Record, bool, error) {
	rec := Record{Line: start}
	for len(lines) > 0 {
		w := strings.Fields(lines[0])
		if len(w) < 2 || (w[0] != "skipif" && w[0] != "onlyif") {
			break
		}
		rec.Conditions = append(rec.Conditions, Condition{Only: w[0] == "onlyif", Label: w[1]})
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return rec, false, nil
	}
	w, body := strings.Fields(lines[0]), lines[1:]
	switch w[0] {
	case "halt":
		rec.Kind = Halt
	case "hash-threshold":
		if len(w) < 2 {
			return rec, false, fmt.Errorf("line %d: hash-threshold wants a number", start)
		}
		n, err := strconv.Atoi(w[1])
		if err != nil {
			return rec, false, fmt.Errorf("line %d: hash-threshold: %w", start, err)
		}
		rec.Kind, rec.Threshold = HashThreshold, n
	case "statement":
		if len(w) < 2 || (w[1] != "ok" && w[1] != "error") {
			return rec, false, fmt.Errorf("line %d: statement wants ok or error", start)
		}
		rec.WantError = w[1] == "error"
		if rec.WantError && len(w) > 2 && sqlState.MatchString(w[2]) {
			rec.Code = w[2]
		}
		rec.SQL = strings.Join(body, "\n")
	case "query":
		return parseQuery(rec, w, body)
	default:
		return rec, false, fmt.Errorf("line %d: unknown record %q", start, w[0])
	}
	return rec, true, nil
}

func parseQuery(rec Record, w, body []string) (Record, bool, error) {
	rec.Kind, rec.Sort = Query, "nosort"
	if len(w) > 1 {
		rec.Types = w[1]
	}
	if len(w) > 2 {
		rec.Sort = w[2]
	}
	if len(w) > 3 {
		rec.Label = w[3]
	}
	switch rec.Sort {
	case "nosort", "rowsort", "valuesort":
	default:
		return rec, false, fmt.Errorf("line %d: unknown sort mode %q", rec.Line, rec.Sort)
	}
	for i, l := range body {
		if l == "----" {
			rec.SQL, rec.Want = strings.Join(body[:i], "\n"), body[i+1:]
			return rec, true, nil
		}
	}
	rec.SQL = strings.Join(body, "\n")
	return rec, true, nil
}
