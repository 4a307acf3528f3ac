package types

import (
	"bufio"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// typeNamed reads the SQL names that the scripts use.
func typeNamed(t *testing.T, name string) *Type {
	t.Helper()
	if base, ok := strings.CutSuffix(name, "[]"); ok {
		return ArrayOf(typeNamed(t, base))
	}
	if rest, ok := strings.CutPrefix(name, "interval "); ok {
		m := regexp.MustCompile(`^([a-z ]+?)(?:\((\d+)\))?$`).FindStringSubmatch(rest)
		precision := -1
		if m[2] != "" {
			precision, _ = strconv.Atoi(m[2])
		}
		for fields, name := range intervalFieldNames {
			if name == " "+m[1] {
				return TInterval.WithMod(IntervalTypeMod(fields, int32(precision)))
			}
		}
		require.Fail(t, "no such interval", name)
	}
	m := regexp.MustCompile(`^("?[a-z0-9_ ]+"?)(?:\(([-0-9, ]+)\))?$`).FindStringSubmatch(name)
	require.NotNil(t, m, name)
	base := map[string]string{"char": "bpchar", `"char"`: "char"}[m[1]]
	if base == "" {
		base = m[1]
	}
	typ, ok := named(base)
	require.True(t, ok, name)
	var mods []int
	for _, s := range strings.Split(m[2], ",") {
		if s != "" {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			require.NoError(t, err)
			mods = append(mods, n)
		}
	}
	typ, err := TypeWithMods(typ, mods)
	require.NoError(t, err)
	return typ
}

// outcome is a result in the scripts' form.
func outcome(s string, err error) string {
	if err == nil {
		return "ok:" + s
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return "err:" + err.Error()
	}
	r := "err:" + e.Code + ":" + e.Message
	if e.Detail != "" {
		r += "|" + e.Detail
	}
	return r
}

// applySettings changes the format as SET does.
func applySettings(t *testing.T, f *Format, sets string) {
	t.Helper()
	for _, s := range strings.Split(sets, "; ") {
		k, v, _ := strings.Cut(s, "=")
		v = strings.Trim(v, "'")
		switch k {
		case "datestyle":
			style, order, both := strings.Cut(v, ", ")
			f.DateStyle = style
			if both {
				f.DateOrder = order
			} else if style == "German" {
				f.DateOrder = "DMY"
			}
		case "timezone":
			l, err := time.LoadLocation(v)
			require.NoError(t, err)
			f.Location = l
		case "intervalstyle":
			f.IntervalStyle = v
		case "extra_float_digits":
			n, err := strconv.Atoi(v)
			require.NoError(t, err)
			f.ExtraFloatDigits = n
		case "bytea_output":
			f.ByteaOutput = v
		default:
			t.Fatalf("unknown setting %s", s)
		}
	}
}

// script runs the lines of a file in testdata; each has fields separated by tabs.
func script(t *testing.T, file string, line func(f *Format, fields []string) (got, want string)) {
	r, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer r.Close()
	f := DefaultFormat
	failed := 0
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		text := sc.Text()
		switch {
		case text == "" || text[0] == '#':
			continue
		case strings.HasPrefix(text, "set "):
			f = DefaultFormat
			applySettings(t, &f, text[4:])
			continue
		}
		fields := strings.Split(text, "\t")
		for i, s := range fields {
			if strings.HasPrefix(s, `"`) && i > 0 {
				var uerr error
				fields[i], uerr = strconv.Unquote(s)
				require.NoError(t, uerr, text)
			}
		}
		if got, want := line(&f, fields); got != want {
			failed++
			t.Errorf("%s:%d: %s\n  got  %s\n  want %s", file, n, text, got, want)
		}
		if failed > 400 {
			t.Fatal("too many")
		}
	}
	require.NoError(t, sc.Err())
}

func TestTextLikePostgres(t *testing.T) {
	script(t, "io.txt", func(f *Format, fields []string) (string, string) {
		typ := typeNamed(t, fields[0])
		base := typ
		if typ.Family == String || typ.Family == Array {
			base = typ.Apply(NoMod) // a literal is read first, and fitted as by an explicit cast
		}
		d, err := ParseText(base, fields[1], f)
		if err == nil {
			d, err = Cast(d, base, typ, true, f)
		}
		if err != nil {
			return outcome("", err), fields[2]
		}
		return outcome(string(AppendText(nil, typ, d, f)), nil), fields[2]
	})
}
