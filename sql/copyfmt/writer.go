package copyfmt

import (
	"encoding/binary"
)

// Writer writes rows of fields into a buffer.
type Writer struct {
	o       Options
	columns []string
}

// NewWriter writes rows of the named columns.
func NewWriter(o Options, columns []string) *Writer { return &Writer{o: o, columns: columns} }

// Begin appends what comes before the rows.
func (w *Writer) Begin(dst []byte) []byte {
	switch {
	case w.o.Format == Binary:
		dst = append(dst, signature...)
		return append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	case w.o.Header:
		for i, name := range w.columns {
			if i > 0 {
				dst = append(dst, w.o.Delimiter)
			}
			if w.o.Format == CSV {
				dst = w.csvField(dst, []byte(name), false)
			} else {
				dst = w.textField(dst, []byte(name))
			}
		}
		return append(dst, '\n')
	}
	return dst
}

// End appends what comes behind the rows.
func (w *Writer) End(dst []byte) []byte {
	if w.o.Format == Binary {
		return append(dst, 0xff, 0xff)
	}
	return dst
}

// Row appends one row.
func (w *Writer) Row(dst []byte, fields [][]byte) []byte {
	if w.o.Format == Binary {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(fields)))
		for _, f := range fields {
			if f == nil {
				dst = append(dst, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(f)))
			dst = append(dst, f...)
		}
		return dst
	}
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, w.o.Delimiter)
		}
		switch {
		case f == nil:
			dst = append(dst, w.o.Null...)
		case w.o.Format == CSV:
			dst = w.csvField(dst, f, forced(w.o.ForceQuote, w.columns[i]) || len(fields) == 1 &&
				string(f) == `\.`)
		default:
			dst = w.textField(dst, f)
		}
	}
	return append(dst, '\n')
}

func (w *Writer) textField(dst, f []byte) []byte {
	for _, c := range f {
		if e := escapes[c]; e != 0 {
			dst = append(dst, '\\', e)
			continue
		}
		if c == w.o.Delimiter {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// escapes has the character after the backslash for the bytes that have one.
var escapes = [256]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v',
	'\\': '\\'}

func (w *Writer) csvField(dst, f []byte, quote bool) []byte {
	quote = quote || string(f) == w.o.Null
	for _, c := range f {
		if c == w.o.Delimiter || c == w.o.Quote || c == '\n' || c == '\r' {
			quote = true
			break
		}
	}
	if !quote {
		return append(dst, f...)
	}
	dst = append(dst, w.o.Quote)
	for _, c := range f {
		if c == w.o.Quote || c == w.o.Escape {
			dst = append(dst, w.o.Escape)
		}
		dst = append(dst, c)
	}
	return append(dst, w.o.Quote)
}
