package sqllogic

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Known lists records whose failure is expected, because the reference database fails them too. A
// line is `file:line reason`; file is the tail of a path, so that a list does not depend on the
// folder of the suite.
type Known struct {
	records map[string]map[int]string // base name → line → tail of path and reason
	tails   map[string][]string       // base name → tails
}

// ReadKnown reads a list. Empty lines and lines that start with # are dropped.
func ReadKnown(r io.Reader) (*Known, error) {
	k := &Known{records: map[string]map[int]string{}, tails: map[string][]string{}}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		where, reason, _ := strings.Cut(text, " ")
		tail, num, ok := cutLast(where, ":")
		line, err := strconv.Atoi(num)
		if !ok || err != nil {
			return nil, fmt.Errorf("line %d: want file:line reason, have %q", n, text)
		}
		if k.records[tail] == nil {
			k.records[tail] = map[int]string{}
			base := filepath.Base(tail)
			k.tails[base] = append(k.tails[base], tail)
		}
		k.records[tail][line] = reason
	}
	return k, sc.Err()
}

// Has reports whether the record of file at line is listed.
func (k *Known) Has(file string, line int) bool {
	file = filepath.ToSlash(file)
	for _, tail := range k.tails[filepath.Base(file)] {
		if file == tail || strings.HasSuffix(file, "/"+tail) {
			if _, ok := k.records[tail][line]; ok {
				return true
			}
		}
	}
	return false
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
