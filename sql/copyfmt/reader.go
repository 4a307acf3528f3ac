package copyfmt

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// Source gives the stream piece by piece; io.EOF ends it. A piece is valid until the next call.
type Source interface {
	Next() ([]byte, error)
}

// maxRow bounds the bytes of one row.
const maxRow = 256 << 20

// Reader cuts a stream into rows.
type Reader struct {
	o       Options
	src     Source
	columns []string
	buf     []byte // bytes read and not yet used start at pos
	pos     int
	ended   bool   // the source has no more
	done    bool   // the format's own end was seen
	line    int    // the number of the line that is being read, or has been
	text    []byte // that line without its end; nil while it is being read
	counts  bool   // newlines in quotes count as lines: how lines end is known
	begun   bool
	fields  [][]byte
	scratch []byte

	account *memory.Account // counts buf and scratch where they are large
	counted int64
}

// keptLine is how long a line may be without being counted.
const keptLine = 256 << 10

// CountIn makes an account count what long rows take; Close gives it back.
func (r *Reader) CountIn(a *memory.Account) { r.account = a }

// Close gives back what is counted. It may be repeated.
func (r *Reader) Close() {
	r.account.Shrink(r.counted)
	r.counted = 0
}

// reserve makes room for n bytes in buf, and counts as much for scratch, which comes to hold the
// row's fields. The old bytes live until they are copied.
func (r *Reader) reserve(n int) error {
	if n <= cap(r.buf) {
		return nil
	}
	room := max(n, cap(r.buf)/2*3)
	if room > keptLine {
		old, now := r.counted, 2*int64(room)
		r.counted += now
		if err := r.account.Grow(now); err != nil {
			return err
		}
		defer func() {
			r.counted -= old
			r.account.Shrink(old)
		}()
	}
	r.buf = append(make([]byte, 0, room), r.buf...)
	return nil
}

// NewReader reads rows for the named columns.
func NewReader(src Source, o Options, columns []string) *Reader {
	// scratch is never nil: a field that is cut out of it would be, and so be NULL.
	return &Reader{o: o, src: src, columns: columns, scratch: make([]byte, 0, 256)}
}

// Line returns the number of the line (in binary the row) of the last Next, and its text without
// the end; the text is nil when the line was not read to its end, and in binary. The number is 0
// before the first row. The text is valid until the next Next.
func (r *Reader) Line() (number int, text []byte) { return r.line, r.text }

// Next returns the fields of the next row, io.EOF at the end. The number of fields is that of the
// columns; the fields of a row that is too short come with the error that says so.
func (r *Reader) Next() ([][]byte, error) {
	if r.o.Format == Binary {
		return r.binaryRow()
	}
	if !r.begun {
		r.begun = true
		if r.o.Header {
			if err := r.header(); err != nil {
				return nil, err
			}
		}
	}
	return r.textRow()
}

func (r *Reader) header() error {
	line, err := r.readLine()
	if err != nil {
		return err
	}
	if !r.o.HeaderMatch {
		return nil
	}
	if err := r.split(line); err != nil {
		return err
	}
	if len(r.fields) != len(r.columns) {
		return sqlerr.New(BadFormat, "wrong number of fields in header line: got %d, expected %d",
			len(r.fields), len(r.columns))
	}
	for i, f := range r.fields {
		if string(f) != r.columns[i] {
			return sqlerr.New(BadFormat, "column name mismatch in header line field %d: got "+
				"\"%s\", expected \"%s\"", i+1, f, r.columns[i])
		}
	}
	return nil
}

func (r *Reader) textRow() ([][]byte, error) {
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	if err := r.split(line); err != nil {
		return nil, err
	}
	switch {
	case len(r.columns) == 0 && len(line) == 0:
		return r.fields[:0], nil
	case len(r.fields) > len(r.columns):
		return nil, sqlerr.New(BadFormat, "extra data after last expected column")
	case len(r.fields) < len(r.columns):
		return r.fields, sqlerr.New(BadFormat, "missing data for column \"%s\"",
			r.columns[len(r.fields)])
	}
	return r.fields, nil
}

func (r *Reader) split(line []byte) error {
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	if r.o.Format == CSV {
		return r.splitCSV(line)
	}
	return r.splitText(line)
}

// fill reads another piece; false at the end of the source.
func (r *Reader) fill() (bool, error) {
	if r.ended {
		return false, nil
	}
	piece, err := r.src.Next()
	if err == io.EOF {
		r.ended = true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.pos > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[r.pos:])]
		r.pos = 0
	}
	if len(r.buf)+len(piece) > maxRow {
		return false, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"a row of COPY is larger than %d bytes", maxRow)
	}
	if err := r.reserve(len(r.buf) + len(piece)); err != nil {
		return false, err
	}
	r.buf = append(r.buf, piece...)
	return true, nil
}

// readLine returns the next line without its end: a newline, alone or after a carriage return.
// Within CSV quotes lines go on.
func (r *Reader) readLine() ([]byte, error) {
	if r.done {
		return nil, r.drain()
	}
	r.line, r.text = r.line+1, nil
	scanned, quoted := 0, false
	for {
		rest := r.buf[r.pos:]
		for i := scanned; i < len(rest); i++ {
			switch c := rest[i]; {
			case r.o.Format == CSV && quoted && c == r.o.Escape && r.o.Escape != r.o.Quote:
				if i+1 == len(rest) && !r.ended {
					goto more // the escaped byte is not here yet
				}
				i++
			case r.o.Format == CSV && c == r.o.Quote:
				quoted = !quoted
			case c == '\n' && !quoted:
				r.pos += i + 1
				r.counts = true
				return r.endLine(trimReturn(rest[:i]))
			case c == '\n' && r.counts:
				r.line++
			case c == '\\' && r.o.Format == Text:
				if i+1 == len(rest) && !r.ended {
					goto more
				}
				i++
			}
			scanned = i + 1
		}
	more:
		more, err := r.fill()
		if err != nil {
			return nil, err
		}
		if more {
			continue
		}
		rest = r.buf[r.pos:]
		if len(rest) == 0 {
			return nil, io.EOF
		}
		r.pos = len(r.buf)
		if quoted {
			r.text = rest
			return nil, unterminated()
		}
		return r.endLine(trimReturn(rest))
	}
}

func unterminated() error { return sqlerr.New(BadFormat, "unterminated CSV quoted field") }

// endLine looks at the bytes of a line, and notices the one that ends the data.
func (r *Reader) endLine(line []byte) ([]byte, error) {
	if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
		return nil, types.CheckUTF8(line)
	}
	r.text = line
	if len(line) == 2 && line[0] == '\\' && line[1] == '.' {
		r.done = true
		return nil, r.drain()
	}
	return line, nil
}

// drain reads what the client still sends behind the end of the data.
func (r *Reader) drain() error {
	r.pos = len(r.buf)
	for {
		more, err := r.fill()
		if err != nil {
			return err
		}
		if !more {
			return io.EOF
		}
		r.pos = len(r.buf)
	}
}

func trimReturn(line []byte) []byte {
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// keep copies a field into memory that lives as long as the row. Requires: it is called once per
// field, and the scratch space was not handed out from a slice that has moved.
func (r *Reader) keep(from int) []byte { return r.scratch[from:len(r.scratch):len(r.scratch)] }

// splitText cuts a line of the text format at its delimiters and undoes the escapes.
func (r *Reader) splitText(line []byte) error {
	if cap(r.scratch) < len(line) {
		r.scratch = make([]byte, 0, len(line))
	}
	for i := 0; ; i++ {
		start, from, written := i, len(r.scratch), false
		for i < len(line) && line[i] != r.o.Delimiter {
			if line[i] != '\\' || i+1 == len(line) {
				r.scratch = append(r.scratch, line[i])
				i++
				continue
			}
			c, n := unescape(line[i+1:])
			r.scratch = append(r.scratch, c)
			written = written || c != line[i+1]
			i += 1 + n
		}
		if written { // as a number, which can be any byte
			if err := types.CheckUTF8(r.scratch[from:]); err != nil {
				return err
			}
		}
		if string(line[start:i]) == r.o.Null {
			r.scratch = r.scratch[:from]
			r.fields = append(r.fields, nil)
		} else {
			r.fields = append(r.fields, r.keep(from))
		}
		if i >= len(line) {
			return nil
		}
	}
}

// unescape reads what follows a backslash, and returns the byte that it stands for and its length.
func unescape(s []byte) (c byte, n int) {
	switch s[0] {
	case 'b':
		return '\b', 1
	case 'f':
		return '\f', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'v':
		return '\v', 1
	case 'x':
		if c, n = digits(s[1:], 16, 2); n > 0 {
			return c, 1 + n
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return digits(s, 8, 3)
	}
	return s[0], 1
}

// digits reads up to most digits to a base, and returns the byte that they stand for and their
// number.
func digits(s []byte, base, most int) (c byte, n int) {
	for n < most && n < len(s) && hex(s[n]) >= 0 && hex(s[n]) < base {
		c = c*byte(base) + byte(hex(s[n]))
		n++
	}
	return c, n
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// splitCSV cuts a line of CSV. A quoted field is never NULL, unless FORCE_NULL asks for it.
func (r *Reader) splitCSV(line []byte) error {
	if cap(r.scratch) < len(line) {
		r.scratch = make([]byte, 0, len(line))
	}
	for i := 0; ; i++ {
		from, quoted, inside := len(r.scratch), false, false
		for i < len(line) && (inside || line[i] != r.o.Delimiter) {
			c := line[i]
			switch {
			case inside && c == r.o.Escape && i+1 < len(line) &&
				(line[i+1] == r.o.Quote || line[i+1] == r.o.Escape):
				i++
				r.scratch = append(r.scratch, line[i])
			case c == r.o.Quote:
				inside, quoted = !inside, true
			default:
				r.scratch = append(r.scratch, c)
			}
			i++
		}
		if inside {
			return unterminated()
		}
		f := r.keep(from)
		if string(f) == r.o.Null && r.isNull(len(r.fields), quoted) {
			f = nil
		}
		r.fields = append(r.fields, f)
		if i >= len(line) {
			return nil
		}
	}
}

// isNull reports whether a field that looks like NULL is NULL.
func (r *Reader) isNull(i int, quoted bool) bool {
	if i >= len(r.columns) {
		return !quoted
	}
	if quoted {
		return forced(r.o.ForceNull, r.columns[i])
	}
	return !forced(r.o.ForceNotNull, r.columns[i])
}

var signature = []byte("PGCOPY\n\xff\r\n\x00")

// need makes n bytes available at pos; false if the source ends before.
func (r *Reader) need(n int) (bool, error) {
	for len(r.buf)-r.pos < n {
		more, err := r.fill()
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

func unexpectedEnd() error { return sqlerr.New(BadFormat, "unexpected EOF in COPY data") }

func (r *Reader) int32() (int32, error) {
	ok, err := r.need(4)
	if err == nil && !ok {
		err = unexpectedEnd()
	}
	if err != nil {
		return 0, err
	}
	n := int32(binary.BigEndian.Uint32(r.buf[r.pos:]))
	r.pos += 4
	return n, nil
}

func (r *Reader) binaryHeader() error {
	ok, err := r.need(len(signature))
	if err != nil {
		return err
	}
	if !ok || !bytes.Equal(r.buf[r.pos:r.pos+len(signature)], signature) {
		return sqlerr.New(BadFormat, "COPY file signature not recognized")
	}
	r.pos += len(signature)
	flags, err := r.int32()
	if err != nil {
		return sqlerr.New(BadFormat, "invalid COPY file header (missing flags)")
	}
	if uint32(flags)&0xffff0000 != 0 {
		return sqlerr.New(BadFormat, "unrecognized critical flags in COPY file header")
	}
	n, err := r.int32()
	if err != nil || n < 0 {
		return sqlerr.New(BadFormat, "invalid COPY file header (missing length)")
	}
	if ok, err := r.need(int(n)); err != nil || !ok {
		return sqlerr.New(BadFormat, "invalid COPY file header (wrong length)")
	}
	r.pos += int(n)
	return nil
}

func (r *Reader) binaryRow() ([][]byte, error) {
	if r.done {
		return nil, io.EOF
	}
	if !r.begun {
		r.begun = true
		if err := r.binaryHeader(); err != nil {
			return nil, err
		}
	}
	r.line++
	ok, err := r.need(2)
	if err != nil {
		return nil, err
	}
	if !ok { // the trailer may be missing
		r.done = true
		return nil, io.EOF
	}
	n := int(int16(binary.BigEndian.Uint16(r.buf[r.pos:])))
	r.pos += 2
	if n == -1 {
		r.done = true
		return nil, r.drain()
	}
	if n != len(r.columns) {
		return nil, sqlerr.New(BadFormat, "row field count is %d, expected %d", n, len(r.columns))
	}
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	ends := make([]int, n)
	for i := range ends {
		size, err := r.int32()
		if err != nil {
			return nil, err
		}
		if size == -1 {
			ends[i] = -1
			continue
		}
		if size < 0 {
			return nil, sqlerr.New(BadFormat, "invalid field size")
		}
		ok, err := r.need(int(size))
		if err == nil && !ok {
			err = unexpectedEnd()
		}
		if err != nil {
			return nil, err
		}
		r.scratch = append(r.scratch, r.buf[r.pos:r.pos+int(size)]...)
		r.pos += int(size)
		ends[i] = len(r.scratch)
	}
	from := 0
	for _, end := range ends {
		if end < 0 {
			r.fields = append(r.fields, nil)
			continue
		}
		r.fields = append(r.fields, r.scratch[from:end:end])
		from = end
	}
	return r.fields, nil
}
