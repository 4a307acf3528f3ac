package types

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// appendHStore writes "key"=>"value" pairs.
func appendHStore(dst []byte, d Datum) []byte {
	h := HStoreOf(d)
	for i := range h.Len() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendHStoreText(dst, h.Key(i)), "=>"...)
		if v, ok := h.Value(i); ok {
			dst = appendHStoreText(dst, v)
		} else {
			dst = append(dst, "NULL"...)
		}
	}
	return dst
}

func appendHStoreText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// parseHStore reads pairs key => value with commas between them. Keys and values may be quoted; a
// backslash escapes a character.
func parseHStore(s string, w Work) (Datum, error) {
	p := &hstoreParser{s: s, pieces: pieces{work: w}}
	var pairs []HStorePair
	for {
		key, ok, err := p.word('=')
		if err != nil {
			return Datum{}, err
		}
		if !ok {
			return NewHStore(pairs)
		}
		more, err := p.pair(key.text, &pairs)
		if err != nil {
			return Datum{}, err
		}
		if !more {
			return NewHStore(pairs)
		}
	}
}

// hstoreParser reads the text of an hstore; i is how far it has come.
type hstoreParser struct {
	s string
	i int
	pieces
}

// hstoreWord is a key or a value of the text.
type hstoreWord struct {
	text   string
	quoted bool // it began with a double quote
}

// pair reads what follows a key, and appends the pair. more reports whether there is a comma behind
// it.
func (p *hstoreParser) pair(key string, to *[]HStorePair) (more bool, err error) {
	if err := p.expect('='); err != nil {
		return false, err
	}
	if p.i == len(p.s) {
		return false, errHStoreEnd()
	}
	if p.s[p.i] != '>' {
		return false, p.syntaxError()
	}
	p.i++
	v, ok, err := p.word(',')
	switch {
	case err != nil:
		return false, err
	case !ok:
		return false, errHStoreEnd()
	}
	pair := HStorePair{Key: key, Value: v.text}
	if !v.quoted && strings.EqualFold(v.text, "null") && len(v.text) == len("null") {
		pair.Value, pair.Null = "", true
	}
	*to = append(*to, pair)
	p.blanks()
	if p.i == len(p.s) {
		return false, nil
	}
	return true, p.expect(',')
}

// expect passes blanks and then the byte c.
func (p *hstoreParser) expect(c byte) error {
	p.blanks()
	switch {
	case p.i == len(p.s):
		return errHStoreEnd()
	case p.s[p.i] != c:
		return p.syntaxError()
	}
	p.i++
	return nil
}

func (p *hstoreParser) blanks() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

// word reads a key or a value, which ends before a blank or the byte end. ok is false at the end of
// the text. A value may contain =, and may begin with a comma; a key may not begin with =.
func (p *hstoreParser) word(end byte) (w hstoreWord, ok bool, err error) {
	p.blanks()
	switch {
	case p.i == len(p.s):
		return w, false, nil
	case p.s[p.i] == '"':
		p.i++
		w.text, err = p.quoted()
		return hstoreWord{text: w.text, quoted: true}, true, err
	case p.s[p.i] == '=' && end == '=':
		return w, false, p.syntaxError()
	}
	var b []byte
	for first := true; p.i < len(p.s); first = false {
		c := p.s[p.i]
		switch {
		case c == '\\':
			if p.i++; p.i == len(p.s) {
				return w, false, errHStoreEnd()
			}
			c = p.s[p.i]
		case !first && (c == end || isSpace(c)):
			return hstoreWord{text: string(b)}, true, nil
		}
		b = append(b, c)
		p.i++
		if err := p.reach(p.i); err != nil {
			return w, false, err
		}
	}
	return hstoreWord{text: string(b)}, true, nil
}

// quoted reads up to the closing quote.
func (p *hstoreParser) quoted() (string, error) {
	var b []byte
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		switch c {
		case '"':
			p.i++
			return string(b), nil
		case '\\':
			if p.i++; p.i == len(p.s) {
				return "", errHStoreEnd()
			}
			c = p.s[p.i]
		}
		b = append(b, c)
		if err := p.reach(p.i); err != nil {
			return "", err
		}
	}
	return "", errHStoreEnd()
}

func errHStoreEnd() error {
	return sqlerr.New(sqlerr.InternalError, "Unexpected end of string")
}

func (p *hstoreParser) syntaxError() error {
	_, n := utf8.DecodeRuneInString(p.s[p.i:])
	return sqlerr.New(sqlerr.InternalError, "Syntax error near \"%s\" at position %d",
		p.s[p.i:p.i+n], p.i)
}

// appendHStoreBinary writes the number of pairs, and each key and value after its length, which is
// -1 for a NULL.
func appendHStoreBinary(dst []byte, d Datum) []byte {
	be := binary.BigEndian
	h := HStoreOf(d)
	dst = be.AppendUint32(dst, uint32(h.Len()))
	for i := range h.Len() {
		p := h.Pair(i)
		dst = append(be.AppendUint32(dst, uint32(len(p.Key))), p.Key...)
		if p.Null {
			dst = be.AppendUint32(dst, 1<<32-1)
			continue
		}
		dst = append(be.AppendUint32(dst, uint32(len(p.Value))), p.Value...)
	}
	return dst
}

// hstorePairsMax is how many pairs PostgreSQL's hstore_recv accepts.
const hstorePairsMax = (1<<30 - 1) / 40

func parseHStoreBinary(b []byte) (Datum, error) {
	r := &hstoreReader{b: b}
	n := r.int32()
	switch {
	case r.err != nil:
		return Datum{}, r.err
	case n < 0 || n > hstorePairsMax:
		return Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"number of pairs (%d) exceeds the maximum allowed (%d)", n, hstorePairsMax)
	}
	var pairs []HStorePair
	for range n {
		key, there := r.text()
		if r.err == nil && !there {
			return Datum{}, ErrHStoreKey()
		}
		value, there := r.text()
		if r.err != nil {
			return Datum{}, r.err
		}
		pairs = append(pairs, HStorePair{Key: key, Value: value, Null: !there})
	}
	if len(r.b) > 0 {
		return Datum{}, errBinaryFormat()
	}
	return NewHStore(pairs)
}

// hstoreReader reads the binary format; after an error it gives zeros.
type hstoreReader struct {
	b   []byte
	err error
}

func (r *hstoreReader) take(n int) []byte {
	if r.err == nil && n > len(r.b) {
		r.err = errShortMessage()
	}
	if r.err != nil {
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *hstoreReader) int32() int32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// text reads a text after its length; false: the length is negative.
func (r *hstoreReader) text() (string, bool) {
	n := r.int32()
	if n < 0 {
		return "", false
	}
	b := r.take(int(n))
	if r.err == nil {
		r.err = CheckUTF8(b)
	}
	return string(b), true
}

// HStoreJSON returns an hstore as the text of a JSON object. Values are strings; with loose they
// are booleans if they are t or f, and numbers if they look so.
func HStoreJSON(d Datum, loose bool) string {
	h := HStoreOf(d)
	b := []byte{'{'}
	for i := range h.Len() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(AppendJSONString(b, h.Key(i)), ": "...)
		switch v, ok := h.Value(i); {
		case !ok:
			b = append(b, "null"...)
		case loose && v == "t":
			b = append(b, "true"...)
		case loose && v == "f":
			b = append(b, "false"...)
		case loose && isJSONNumber(v):
			b = append(b, v...)
		default:
			b = AppendJSONString(b, v)
		}
	}
	return string(append(b, '}'))
}

// isJSONNumber reports whether JSON's grammar has the text as a number.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := func() bool {
		n := digitsPrefix(s)
		s = s[n:]
		return n > 0
	}
	zero := strings.HasPrefix(s, "0")
	if zero {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if strings.HasPrefix(s, ".") {
		if s = s[1:]; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}
