package builtin

import (
	"regexp"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/are"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// likeByDefinition is LIKE as the standard defines it, without regard to speed.
func likeByDefinition(s, p string) bool {
	if p == "" {
		return s == ""
	}
	switch p[0] {
	case '%':
		for i := 0; i <= len(s); i++ {
			if likeByDefinition(s[i:], p[1:]) {
				return true
			}
		}
		return false
	case '_':
		_, n := utf8.DecodeRuneInString(s)
		return s != "" && likeByDefinition(s[n:], p[1:])
	case '\\':
		p = p[1:]
	}
	return s != "" && s[0] == p[0] && likeByDefinition(s[1:], p[1:])
}

func FuzzLike(f *testing.F) {
	for _, s := range [][2]string{{"abc", "a%"}, {"aXbXc", "%X%X_"}, {"a%", `a\%`}, {"é", "_"},
		{"", "%"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, s, p string) {
		if len(s) > 12 || len(p) > 8 || !utf8.ValidString(s) || !utf8.ValidString(p) {
			return
		}
		lp := parseLike(p)
		got, err := lp.match(s)
		if err != nil || endsInEscape(p) {
			return
		}
		require.Equal(t, likeByDefinition(s, p), got, "%q LIKE %q", s, p)
	})
}

// endsInEscape reports whether a pattern is invalid. A match may be decided before the end of the
// pattern is reached.
func endsInEscape(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' {
			if i++; i == len(p) {
				return true
			}
		}
	}
	return false
}

func FuzzRegex(f *testing.F) {
	for _, p := range []string{`a|b`, `[[:alpha:]]+`, `(?i)a{1,2}?`, `\mfoo\M`, `[^]a]`, `***=a.b`,
		`a(?#x)b`, `[\d\-]`} {
		f.Add(p, "x")
	}
	f.Fuzz(func(t *testing.T, p, flags string) {
		fl, err := are.ParseFlags(flags, are.Flags{})
		if err != nil {
			return
		}
		text, err := are.Translate(p, fl)
		if err != nil {
			return
		}
		if _, err := regexp.Compile(text); err != nil {
			require.NotEmpty(t, are.Fault(err))
		}
	})
}

// FuzzFormats formats and parses with any format: both may fail, and must not panic.
func FuzzFormats(f *testing.F) {
	f.Add("2024-02-29 10:00", "YYYY-MM-DD HH24:MI", int64(12345))
	f.Add("$1,234.5-", "L9,999.99S", int64(-5))
	f.Add("", `FM"x"99V9th RN EEEE`, int64(0))
	f.Fuzz(func(t *testing.T, s, format string, x int64) {
		if len(format) > 40 {
			return
		}
		rt := &expr.Runtime{Location: time.UTC, Format: types.DefaultFormat}
		text := []types.Datum{types.NewString(s), types.NewString(format)}
		for _, fn := range []scalar{toDate, toTimestamp, toNumber} {
			_, _ = fn(rt, text)
		}
		for _, fn := range []scalar{toCharInt, toCharTimestamp} {
			_, _ = fn(rt, []types.Datum{types.NewInt(x), types.NewString(format)})
		}
		_, _ = toCharFloat(15)(rt,
			[]types.Datum{types.NewFloat(float64(x) / 7), types.NewString(format)})
		_, _ = toCharInterval(rt,
			[]types.Datum{{Iv: types.IntervalValue{Months: int32(x), Micros: x}},
				types.NewString(format)})
		_, _ = parseIdent(rt, text[1:])
		_, _ = unistr(rt, text[1:])
	})
}
