package builtin

import (
	"crypto/md5" //nolint:gosec // SQL's md5 function
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// perCharacter makes a function of a text from an operation that converts each character by itself.
func perCharacter(op func(string) string) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, err := mapText(rt, a[0].S, op)
		return types.NewString(s), err
	}
}

// wholeText makes a function of a text from an operation during which the context is not checked.
func wholeText(op func(string) string) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := askLarge(rt, len(a[0].S)); err != nil {
			return types.Null, err
		}
		return types.NewString(op(a[0].S)), nil
	}
}

// mapText applies op to s, in pieces if s is large.
func mapText(rt *expr.Runtime, s string, op func(string) string) (string, error) {
	if err := askLarge(rt, len(s)); err != nil {
		return "", err
	}
	if len(s) <= copyPiece {
		return op(s), nil
	}
	var out strings.Builder
	err := eachPiece(rt, s, func(piece string) { out.WriteString(op(piece)) })
	return out.String(), err
}

// hashText makes a function that hashes a text and returns the result of format for the hash.
func hashText(newHash func() hash.Hash, format func([]byte) string) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		h := newHash()
		err := eachPiece(rt, a[0].S, func(piece string) { h.Write([]byte(piece)) })
		return types.NewString(format(h.Sum(nil))), err
	}
}

func rawSum(sum []byte) string { return string(sum) }

// countRunes returns the number of characters of s.
func countRunes(rt *expr.Runtime, s string) (n int64, err error) {
	err = eachPiece(rt, s, func(piece string) { n += int64(utf8.RuneCountInString(piece)) })
	return n, err
}

// characters is length(text).
func characters(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n, err := countRunes(rt, a[0].S)
	return types.NewInt(n), err
}

// askLarge asks the account for a text unless it is short.
func askLarge(rt *expr.Runtime, n int) error {
	if n < plainCopy {
		return nil
	}
	return askText(rt, n)
}

func perCharacterVec(op func(string) string) vector {
	return running1(func(rt *expr.Runtime, s string) (string, error) { return mapText(rt, s, op) })
}

func byteLen(s string) int64 { return int64(len(s)) }
func bitLen(s string) int64  { return 8 * byteLen(s) }

var textFunctions = []def{
	v("length|textlen(text) int4", characters, running1(countRunes)),
	f("length(bpchar) int4", characters),
	f("char_length|character_length(text|bpchar) int4", characters),
	f("length(bytea) int4", sure1(byteLen)),
	f("octet_length(text|bytea) int4", sure1(byteLen)),
	f("octet_length(bpchar) int4", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewInt(int64(len(padded(rt.ArgTypes[0], a[0].S)))), nil
	}),
	f("bit_length(text|bytea) int4", sure1(bitLen)),
	v("lower(text) text", perCharacter(strings.ToLower), perCharacterVec(strings.ToLower)),
	v("upper(text) text", perCharacter(strings.ToUpper), perCharacterVec(strings.ToUpper)),
	f("initcap(text) text", initcap),
	f("reverse(text) text", reverse),
	f("ascii(text) int4", sure1(func(s string) int64 {
		if s == "" {
			return 0
		}
		r, _ := utf8.DecodeRuneInString(s)
		return int64(r)
	})),
	f("chr(int4) text", chr),
	f("md5(text|bytea) text", hashText(md5.New, hex.EncodeToString)).leakproof(),
	f("sha224(bytea) bytea", hashText(sha256.New224, rawSum)).leakproof(),
	f("sha256(bytea) bytea", hashText(sha256.New, rawSum)).leakproof(),
	f("sha384(bytea) bytea", hashText(sha512.New384, rawSum)).leakproof(),
	f("sha512(bytea) bytea", hashText(sha512.New, rawSum)).leakproof(),
	f("to_hex(int4) text", sure1(func(n int64) string { return hexadecimal(uint64(uint32(n))) })),
	f("to_hex(int8) text", sure1(func(n int64) string { return hexadecimal(uint64(n)) })),
	f("repeat(text,int4) text", repeat),
	f("replace(text,text,text) text", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if a[1].S == "" {
			return a[0], nil
		}
		return replaceText(rt, a[0].S, a[1].S, a[2].S)
	}),
	f("translate(text,text,text) text", translate),
	f("starts_with(text,text) bool", startsWith).leakproof(),
	f("strpos|position(text,text) int4", position),
	f("position(bytea,bytea) int4", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		i, err := indexOf(rt, a[0].S, a[1].S)
		return types.NewInt(int64(i + 1)), err
	}),
	f("left(text,int4) text", left),
	f("right(text,int4) text", right),
	f("lpad(text,int4,text?) text", pad(true)),
	f("rpad(text,int4,text?) text", pad(false)),
	f("btrim(text,text?) text", trim(true, true)),
	f("ltrim(text,text?) text", trim(true, false)),
	f("rtrim(text,text?) text", trim(false, true)),
	f("btrim(bytea,bytea) bytea", trimBytes(true, true)),
	f("ltrim(bytea,bytea) bytea", trimBytes(true, false)),
	f("rtrim(bytea,bytea) bytea", trimBytes(false, true)),
	f("substring|substr(text,int4,int4?) text", substring(false)),
	f("substring|substr(bytea,int4,int4?) bytea", substring(true)),
	f("overlay(text,text,int4,int4?) text", overlay(false)),
	f("overlay(bytea,bytea,int4,int4?) bytea", overlay(true)),
	f("split_part(text,text,int4) text", splitPart),
	f("textcat(text,text) text", concat2),
	// Casts written as calls, which resolution must prefer to the rules for unknown types.
	f("text(bpchar|name|char) text", same), f("name(text|bpchar|varchar) name", same),
}

func textOperators() []def {
	return []def{
		v("||(text,text) text", concat2, running2(joined2)),
		v("||(bytea,bytea) bytea", concat2, running2(joined2)),
		f("||(text,anynonarray) text",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				t, err := types.Cast(a[1], rt.ArgTypes[1], types.TText, false, &rt.Format)
				if err != nil {
					return types.Null, err
				}
				return joined(rt, a[0].S, t.S)
			}).byText(),
		f("||(anynonarray,text) text",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				t, err := types.Cast(a[0], rt.ArgTypes[0], types.TText, false, &rt.Format)
				if err != nil {
					return types.Null, err
				}
				return joined(rt, t.S, a[1].S)
			}).byText(),
		f("^@(text,text) bool", startsWith).leakproof(),
	}
}

func concat2(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return joined(rt, a[0].S, a[1].S)
}

// plainCopy is the length up to which a text is made without asking the account: the size of the
// batch bounds the sum of such texts.
const plainCopy = 1 << 10

// joined returns the concatenation of texts.
func joined(rt *expr.Runtime, s ...string) (types.Datum, error) {
	n := 0
	for _, t := range s {
		n += len(t)
	}
	if n < plainCopy {
		return types.NewString(strings.Join(s, "")), nil
	}
	w := newWriter(rt)
	if w.ensureCapacity(n) {
		for _, t := range s {
			w.copy(t)
		}
	}
	return w.done()
}

// joined2 is joined for two texts.
func joined2(rt *expr.Runtime, x, y string) (string, error) {
	if len(x)+len(y) < plainCopy {
		return x + y, nil
	}
	d, err := joined(rt, x, y)
	return d.S, err
}

// replaceText returns the text with each occurrence of from replaced.
func replaceText(rt *expr.Runtime, s, from, to string) (types.Datum, error) {
	i := strings.Index(s, from)
	if i < 0 {
		return types.NewString(s), nil
	}
	w := newWriter(rt)
	for ; i >= 0 && w.err == nil; i = strings.Index(s, from) {
		w.text(s[:i])
		w.text(to)
		s = s[i+len(from):]
	}
	w.text(s)
	return w.done()
}

var startsWith = sure2(strings.HasPrefix)

func hexadecimal(n uint64) string { return strconv.FormatUint(n, 16) }

func initcap(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	inWord := false
	s, err := mapText(rt, a[0].S, func(piece string) string {
		return strings.Map(func(r rune) rune {
			was := inWord
			inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
			if was {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, piece)
	})
	return types.NewString(s), err
}

func reverse(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	s := a[0].S
	if err := askLarge(rt, len(s)); err != nil {
		return types.Null, err
	}
	out, w := make([]byte, len(s)), len(s)
	err := eachPiece(rt, s, func(piece string) {
		for i := 0; i < len(piece); {
			_, n := utf8.DecodeRuneInString(piece[i:])
			w -= n
			copy(out[w:], piece[i:i+n])
			i += n
		}
	})
	return types.NewString(string(out)), err
}

func chr(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	c := a[0].I
	switch {
	case c < 0:
		return types.Null, errInvalid("character number must be positive")
	case c == 0:
		return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
	case c > unicode.MaxRune:
		return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"requested character too large for encoding: %d", c)
	case !utf8.ValidRune(rune(c)):
		return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"requested character not valid for encoding: %d", c)
	}
	return types.NewString(string(rune(c))), nil
}

func repeat(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n := a[1].I
	if n <= 0 || a[0].S == "" {
		return types.NewString(""), nil
	}
	w := newWriter(rt)
	w.fill(a[0].S, n)
	return w.done()
}

func translate(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	to := []rune(a[2].S)
	becomes := map[rune]rune{} // -1: nothing
	for i, r := range []rune(a[1].S) {
		if _, ok := becomes[r]; ok {
			continue
		}
		becomes[r] = -1
		if i < len(to) {
			becomes[r] = to[i]
		}
	}
	w := newWriter(rt)
	for _, r := range a[0].S {
		if t, ok := becomes[r]; ok {
			r = t
		}
		if r >= 0 {
			w.rune(r)
		}
		if w.err != nil {
			break
		}
	}
	return w.done()
}

func position(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	i, err := indexOf(rt, a[0].S, a[1].S)
	if i < 0 || err != nil {
		return types.NewInt(0), err
	}
	n, err := countRunes(rt, a[0].S[:i])
	return types.NewInt(n + 1), err
}

// indexOf is strings.Index with checks of the statement's context.
func indexOf(rt *expr.Runtime, s, part string) (int, error) {
	for from := 0; ; from += copyPiece {
		to := min(len(s), from+copyPiece+len(part))
		if i := strings.Index(s[from:to], part); i >= 0 {
			return from + i, nil
		}
		if to == len(s) {
			return -1, nil
		}
		if err := rt.Tick(copyPiece); err != nil {
			return -1, err
		}
	}
}

// prefixLen returns the number of bytes of the first n characters.
func prefixLen(s string, n int64) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

func left(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n := a[1].I
	if n < 0 {
		n = max(0, n+int64(utf8.RuneCountInString(a[0].S)))
	}
	return types.NewString(a[0].S[:prefixLen(a[0].S, n)]), nil
}

func right(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n := -a[1].I // characters to omit, if positive
	if n == -math.MinInt32 {
		return a[0], nil // overflows in PostgreSQL, which omits none then
	}
	if n <= 0 {
		n = max(0, n+int64(utf8.RuneCountInString(a[0].S)))
	}
	if a[1].I == 0 {
		return types.NewString(""), nil
	}
	return types.NewString(a[0].S[prefixLen(a[0].S, n):]), nil
}

// pad is lpad or rpad.
func pad(onLeft bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, n, fill := a[0].S, a[1].I, textAt(a, 2, " ")
		if n <= 0 {
			return types.NewString(""), nil
		}
		have := int64(utf8.RuneCountInString(s))
		if have >= n {
			return types.NewString(s[:prefixLen(s, n)]), nil
		}
		if fill == "" {
			return types.NewString(s), nil
		}
		if n*4 > maxTextLen {
			return types.Null, errTooLong()
		}
		width := int64(utf8.RuneCountInString(fill))
		missing := n - have
		w := newWriter(rt)
		if !onLeft {
			w.text(s)
		}
		w.fill(fill, missing/width)
		w.text(fill[:prefixLen(fill, missing%width)])
		if onLeft {
			w.text(s)
		}
		return w.done()
	}
}

func trim(front, back bool) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, set := a[0].S, textAt(a, 1, " ")
		if front {
			s = strings.TrimLeft(s, set)
		}
		if back {
			s = strings.TrimRight(s, set)
		}
		return types.NewString(s), nil
	}
}

func trimBytes(front, back bool) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, set := a[0].S, a[1].S
		for front && s != "" && strings.IndexByte(set, s[0]) >= 0 {
			s = s[1:]
		}
		for back && s != "" && strings.IndexByte(set, s[len(s)-1]) >= 0 {
			s = s[:len(s)-1]
		}
		return types.NewString(s), nil
	}
}

func errSubstring() error {
	return sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
}

// substring is substring by characters, or by bytes, counted from 1. Positions before the first one
// count too.
func substring(bytes bool) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, from := a[0].S, a[1].I
		n := intAt(a, 2, 1<<40)
		if n < 0 {
			return types.Null, errSubstring()
		}
		to := from + n
		from = max(from, 1)
		if to <= from {
			return types.NewString(""), nil
		}
		if bytes {
			lo := min(from-1, int64(len(s)))
			return types.NewString(s[lo:min(to-1, int64(len(s)))]), nil
		}
		s = s[prefixLen(s, from-1):]
		return types.NewString(s[:prefixLen(s, to-from)]), nil
	}
}

// overlay replaces a part of the text from a position counted from 1. The part has the length of
// the replacement, or the length in the last argument.
func overlay(bytes bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, repl, from := a[0].S, a[1].S, a[2].I
		n := int64(utf8.RuneCountInString(repl))
		if bytes {
			n = int64(len(repl))
		}
		n = intAt(a, 3, n)
		if from <= 0 {
			return types.Null, errSubstring()
		}
		if end := from + n; end != int64(int32(end)) {
			return types.Null, errIntRange(math.MaxInt32)
		}
		sub := substring(bytes)
		before, err := sub(rt, []types.Datum{{S: s}, {I: 1}, {I: from - 1}})
		if err != nil {
			return types.Null, err
		}
		after, err := sub(rt, []types.Datum{{S: s}, {I: from + n}})
		if err != nil {
			return types.Null, err
		}
		return joined(rt, before.S, repl, after.S)
	}
}

func splitPart(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	s, sep, n := a[0].S, a[1].S, a[2].I
	if n == 0 {
		return types.Null, errInvalid("field position must not be zero")
	}
	if s == "" {
		return types.NewString(""), nil
	}
	if n < 0 {
		count := int64(1)
		if sep != "" {
			count += int64(strings.Count(s, sep))
		}
		if n += count + 1; n < 1 {
			return types.NewString(""), nil
		}
	}
	if sep == "" {
		if n == 1 {
			return types.NewString(s), nil
		}
		return types.NewString(""), nil
	}
	for ; n > 1; n-- {
		_, rest, found := strings.Cut(s, sep)
		if !found {
			return types.NewString(""), nil
		}
		s = rest
		if err := rt.TickSteps(1); err != nil {
			return types.Null, err
		}
	}
	part, _, _ := strings.Cut(s, sep)
	return types.NewString(part), nil
}
