package sql

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/copyfmt"
)

// Errors of COPY FROM name their place in the data, as PostgreSQL's do:
//
//	COPY t, line 3, column a: "x" a value that its type refuses
//	COPY t, line 3: "1	x"         a row with a field too many, or that violates a constraint
//	COPY t, line 3                a duplicate key: PostgreSQL inserts in batches, and no longer
//	                              has the text; or a line that did not arrive as a whole

// shownOfData is how many bytes of a value or a line an error shows.
const shownOfData = 100

// clipped returns the beginning of data that an error shows.
func clipped(data []byte) []byte {
	if len(data) <= shownOfData {
		return data
	}
	end := shownOfData
	for end > 0 && !utf8.RuneStart(data[end]) {
		end--
	}
	return append(data[:end:end], "..."...)
}

// copiedLines are the lines from which the rows of a batch came.
type copiedLines struct {
	numbers []int
	ends    []int  // in text
	text    []byte // of all lines, clipped
}

func (l *copiedLines) add(number int, text []byte) {
	l.text = append(l.text, clipped(text)...)
	l.numbers, l.ends = append(l.numbers, number), append(l.ends, len(l.text))
}

// line returns the number and the clipped text of the i-th line.
func (l *copiedLines) line(i int) (number int, text []byte) {
	from := 0
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.numbers[i], l.text[from:l.ends[i]]
}

// reset returns l without lines; it keeps the memory.
func (l *copiedLines) reset() copiedLines {
	return copiedLines{numbers: l.numbers[:0], ends: l.ends[:0], text: l.text[:0]}
}

// valueError is a value that its type refuses.
type valueError struct {
	err    error
	column string
	value  []byte
}

// isDataError reports whether err is one of SQLSTATE's class 22, as of a value that cannot be
// computed.
func isDataError(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && strings.HasPrefix(e.Code, "22")
}

// lineError returns the error of the line that r has read, or of the value v in it, unless an
// earlier line violates a constraint: the client sees the error of the first such line. Duplicate
// keys come later, as in PostgreSQL, which finds them when it inserts a batch.
func (c *copyIn) lineError(ctx context.Context, r *copyfmt.Reader, v *valueError, err error) error {
	if v != nil {
		err = v.err
	}
	var e *sqlerr.Error
	if errors.As(err, &e) && (v != nil || isDataError(err) || e.Code == copyfmt.BadFormat) {
		earlier := c.flush(ctx)
		if errors.As(earlier, &e) && !isKeyViolation(e) {
			return earlier
		}
	}
	number, text := r.Line()
	switch err = toSQL(ctx, err); {
	case number == 0:
		return err
	case v == nil && text == nil:
		return sqlerr.Within(err, "COPY %s, line %d", c.table.Name, number)
	case v == nil:
		return sqlerr.Within(err, "COPY %s, line %d: \"%s\"", c.table.Name, number, clipped(text))
	case c.binary:
		return sqlerr.Within(err, "COPY %s, line %d, column %s", c.table.Name, number, v.column)
	case v.value == nil:
		return sqlerr.Within(err, "COPY %s, line %d, column %s: null input", c.table.Name, number,
			v.column)
	}
	return sqlerr.Within(err, "COPY %s, line %d, column %s: \"%s\"", c.table.Name, number, v.column,
		clipped(v.value))
}

// rowError returns the error of inserting the i-th row of the batch. An error after the last row,
// such as a cancel, counts as one of the last row.
func (c *copyIn) rowError(ctx context.Context, i int, err error) error {
	if taken := c.takenError(ctx, err); taken != nil {
		return taken
	}
	number, text := c.lines.line(min(i, c.rows-1))
	var e *sqlerr.Error
	if err = toSQL(ctx, err); c.binary || errors.As(err, &e) && isKeyViolation(e) {
		return sqlerr.Within(err, "COPY %s, line %d", c.table.Name, number)
	}
	return sqlerr.Within(err, "COPY %s, line %d: \"%s\"", c.table.Name, number, text)
}

// isKeyViolation reports whether an error is that of a row which is whole, but not allowed beside
// another one.
func isKeyViolation(e *sqlerr.Error) bool {
	return e.Code == sqlerr.UniqueViolation || e.Code == sqlerr.ExclusionViolation
}
