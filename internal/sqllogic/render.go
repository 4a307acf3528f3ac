package sqllogic

import (
	"crypto/md5" //nolint:gosec // the format's own hash
	"encoding/hex"
	"math/big"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var numberPrefix = regexp.MustCompile(`^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

// render gives one value the form that the letter of its column asks for. text is PostgreSQL's text
// form; isBool marks booleans, which SQLite has as 0 and 1.
func render(text string, null, isBool bool, letter byte) string {
	if null {
		return "NULL"
	}
	if isBool && letter != 'T' {
		text = map[string]string{"t": "1", "f": "0"}[text]
	}
	switch letter {
	case 'I':
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strings.TrimPrefix(text, "+")
		}
		f, _, err := big.ParseFloat(strings.TrimSpace(numberPrefix.FindString(text)), 10, 256,
			big.ToZero)
		if err != nil {
			return "0"
		}
		i, _ := f.Int(nil)
		return i.String()
	case 'R':
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			f, _ = strconv.ParseFloat(strings.TrimSpace(numberPrefix.FindString(text)), 64)
		}
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
	if text == "" {
		return "(empty)"
	}
	return printable(text)
}

// printable replaces every byte below space or above ~ by @.
func printable(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] < ' ' || b[j] > '~' {
					b[j] = '@'
				}
			}
			return string(b)
		}
	}
	return s
}

// sortValues sorts a flat list of rendered values in place, by bytes: rowsort by rows of width
// columns, valuesort each value alone.
func sortValues(vals []string, width int, mode string) {
	switch {
	case mode == "valuesort" || mode == "rowsort" && width == 1:
		sort.Strings(vals)
	case mode == "rowsort" && width > 1:
		rows := make([][]string, 0, len(vals)/width)
		for i := 0; i+width <= len(vals); i += width {
			rows = append(rows, append([]string(nil), vals[i:i+width]...))
		}
		sort.SliceStable(rows, func(a, b int) bool {
			for k := range rows[a] {
				if rows[a][k] != rows[b][k] {
					return rows[a][k] < rows[b][k]
				}
			}
			return false
		})
		for i, row := range rows {
			copy(vals[i*width:], row)
		}
	}
}

// hashValues is the format's digest: MD5 over each value and a newline.
func hashValues(vals []string) string {
	h := md5.New() //nolint:gosec // the format's own hash
	for _, v := range vals {
		h.Write([]byte(v))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}
