package shell

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-runewidth"
)

// numbers are the OIDs of the types that psql aligns to the right.
var numbers = map[uint32]bool{20: true, 21: true, 23: true, 26: true, 700: true, 701: true,
	1700: true}

// table collects a result and prints it as psql's aligned or expanded format does.
type table struct {
	names []string
	right []bool
	width []int
	rows  [][]string
}

func newTable(fields []pgconn.FieldDescription) *table {
	t := &table{}
	for _, f := range fields {
		t.names = append(t.names, f.Name)
		t.right = append(t.right, numbers[f.DataTypeOID])
		t.width = append(t.width, runewidth.StringWidth(f.Name))
	}
	return t
}

// add takes a row; its values are copied. NULL prints as nothing, as in psql.
func (t *table) add(values [][]byte) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = string(v)
		for line := range strings.SplitSeq(row[i], "\n") {
			t.width[i] = max(t.width[i], runewidth.StringWidth(line))
		}
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(w *bufio.Writer, expanded bool) {
	if expanded {
		t.printExpanded(w)
		return
	}
	for i, n := range t.names {
		if i > 0 {
			w.WriteString("|")
		}
		space := t.width[i] - runewidth.StringWidth(n)
		w.WriteString(" " + strings.Repeat(" ", space/2) + n + strings.Repeat(" ", space-space/2) +
			" ")
	}
	w.WriteString("\n")
	for i := range t.names {
		if i > 0 {
			w.WriteString("+")
		}
		w.WriteString(strings.Repeat("-", t.width[i]+2))
	}
	w.WriteString("\n")
	for _, row := range t.rows {
		t.printRow(w, row)
	}
	plural := "s"
	if len(t.rows) == 1 {
		plural = ""
	}
	fmt.Fprintf(w, "(%d row%s)\n\n", len(t.rows), plural)
}

// printRow prints one row; a value of several lines continues below, marked with + as in psql.
func (t *table) printRow(w *bufio.Writer, row []string) {
	cells, height := make([][]string, len(row)), 1
	for i, v := range row {
		cells[i] = strings.Split(v, "\n")
		height = max(height, len(cells[i]))
	}
	for l := range height {
		for i, c := range cells {
			if i > 0 {
				w.WriteString("|")
			}
			text, mark := "", " "
			if l < len(c) {
				text = c[l]
			}
			if l+1 < len(c) {
				mark = "+"
			}
			space := strings.Repeat(" ", t.width[i]-runewidth.StringWidth(text))
			last := i == len(cells)-1 && mark == " "
			switch {
			case t.right[i]:
				w.WriteString(" " + space + text)
			case last:
				w.WriteString(" " + text)
			default:
				w.WriteString(" " + text + space)
			}
			if !last {
				w.WriteString(mark)
			}
		}
		w.WriteString("\n")
	}
}

func (t *table) printExpanded(w *bufio.Writer) {
	width := 0
	for _, n := range t.names {
		width = max(width, runewidth.StringWidth(n))
	}
	for i, row := range t.rows {
		fmt.Fprintf(w, "-[ RECORD %d ]%s\n", i+1, strings.Repeat("-", max(0, width-10)))
		for k, v := range row {
			fmt.Fprintf(w, "%s%s | %s\n", t.names[k],
				strings.Repeat(" ", width-runewidth.StringWidth(t.names[k])), v)
		}
	}
	if len(t.rows) == 0 {
		w.WriteString("(0 rows)\n")
	}
}
