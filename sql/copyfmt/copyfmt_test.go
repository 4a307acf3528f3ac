package copyfmt

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
)

// pieces gives a stream a few bytes at a time.
type pieces struct {
	data []byte
	n    int
}

func (p *pieces) Next() ([]byte, error) {
	if len(p.data) == 0 {
		return nil, io.EOF
	}
	n := min(p.n, len(p.data))
	piece := p.data[:n]
	p.data = p.data[n:]
	return append([]byte(nil), piece...), nil
}

func options(t testing.TB, from bool, kv ...string) Options {
	var opts []ast.Option
	for i := 0; i < len(kv); i += 2 {
		opts = append(opts, ast.Option{Name: kv[i], Value: kv[i+1]})
	}
	o, err := ParseOptions(opts, from)
	require.NoError(t, err)
	return o
}

func readAll(o Options, data string, step int, columns ...string) (rows []string, err error) {
	r := NewReader(&pieces{[]byte(data), step}, o, columns)
	for {
		fields, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		cells := make([]string, len(fields))
		for i, f := range fields {
			if cells[i] = "<" + string(f) + ">"; f == nil {
				cells[i] = "NULL"
			}
		}
		rows = append(rows, strings.Join(cells, " "))
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		o    []string
		data string
		want []string
	}{
		{"text", nil, "1\ta\n2\t\\N\n", []string{"<1> <a>", "<2> NULL"}},
		{"text without the last newline", nil, "1\ta", []string{"<1> <a>"}},
		{"carriage returns", nil, "1\ta\r\n2\tb\r\n", []string{"<1> <a>", "<2> <b>"}},
		{"escapes", nil, `\b\f\n\r\t\v\\\x41\101\q` + "\tx\n", []string{"<\b\f\n\r\t\v\\AAq> <x>"}},
		{"escaped delimiter and newline", nil, "a\\\tb\tc\\\nd\n", []string{"<a\tb> <c\nd>"}},
		{"empty is not NULL", nil, "\t\n", []string{"<> <>"}},
		{"end mark", nil, "1\ta\n\\.\nrubbish\n", []string{"<1> <a>"}},
		{"other NULL", []string{"null", "-", "delimiter", "|"}, "-|\\-\n", []string{"NULL <->"}},
		{"csv", []string{"format", "csv"}, "1,a\n2,\n\"3\",\"\"\n",
			[]string{"<1> <a>", "<2> NULL", "<3> <>"}},
		{"csv quotes", []string{"format", "csv"}, "\"a,\"\"b\"\"\nc\",d\n",
			[]string{"<a,\"b\"\nc> <d>"}},
		{"csv escape", []string{"format", "csv", "escape", `\`}, `"a\"b\\",c` + "\n",
			[]string{`<a"b\> <c>`}},
		{"csv header", []string{"format", "csv", "header", "true"}, "x,y\n1,2\n",
			[]string{"<1> <2>"}},
		{"csv header match", []string{"format", "csv", "header", "match"}, "a,b\n1,2\n",
			[]string{"<1> <2>"}},
		{"csv end mark", []string{"format", "csv"}, "1,2\n\\.\n", []string{"<1> <2>"}},
		{"binary", []string{"format", "binary"}, string(signature) +
			"\x00\x00\x00\x00\x00\x00\x00\x02xx\x00\x02\x00\x00\x00\x01A\xff\xff\xff\xff\xff\xff",
			[]string{"<A> NULL"}},
		{"nothing", nil, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 2, 3, 1000} {
				got, err := readAll(options(t, true, c.o...), c.data, step, "a", "b")
				require.NoError(t, err)
				require.Equal(t, c.want, got, "in pieces of %d", step)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, format, data string }{
		{"missing", "text", "1\n"}, {"extra", "text", "1\t2\t3\n"}, {"unterminated", "csv",
			"\"1,2\n"}, {"no signature", "binary", "PGCOPX"},
		{"cut", "binary", string(signature) +
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x09A"},
		{"flags", "binary", string(signature) + "\x00\x01\x00\x00\x00\x00\x00\x00"},
		{"fields", "binary", string(signature) + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"},
		{"negative", "binary",
			string(signature) + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\xff\xff\xff\xfe"},
		{"empty", "binary", ""},
	} {
		_, err := readAll(options(t, true, "format", c.format), c.data, 7, "a", "b")
		requireCode(t, BadFormat, err, c.name)
	}
	_, err := readAll(options(t, true, "format", "csv", "header", "match"), "a,c\n", 7, "a", "b")
	require.ErrorContains(t, err, "column name mismatch")
}

func requireCode(t *testing.T, code string, err error, about ...any) {
	t.Helper()
	var e *sqlerr.Error
	require.ErrorAs(t, err, &e, about...)
	require.Equal(t, code, e.Code, about...)
}

// Lines are counted as PostgreSQL counts them: newlines in quotes once it is known how lines end.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, format, data string
		line               int
		text               string
	}{
		{"missing", "text", "1\ta\n2\n", 2, "2"},
		{"newlines in quotes", "csv", "\"a\n\",b\n\"a\n\n\",b\nc\n", 5, "c"},
		{"unterminated", "csv", "1,2\n\"a\n", 3, "\"a\n"},
		{"escaped bytes", "text", "1\ta\n2\t\\xff\n", 2, "2\t\\xff"},
		{"bytes", "text", "1\ta\n2\t\xff\n", 2, ""},
		{"a row that is too wide", "binary",
			string(signature) + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09", 1, ""},
		{"no signature", "binary", "PGCOPX", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 2, 1000} {
				r := NewReader(&pieces{[]byte(c.data), step}, options(t, true, "format", c.format),
					[]string{"a", "b"})
				var err error
				for err == nil {
					_, err = r.Next()
				}
				require.NotErrorIs(t, err, io.EOF)
				line, text := r.Line()
				require.Equal(t, c.line, line)
				require.Equal(t, c.text, string(text))
			}
		})
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range [][]string{
		{"format", "xml"}, {"delimiter", "ab"}, {"delimiter", "\n"}, {"delimiter", "a"}, {"null",
			"\n"}, {"quote", "x"}, {"nope", "1"},
		{"format", "binary", "header", "true"}, {"format", "csv", "delimiter", `"`}, {"header",
			"maybe"}, {"format", "csv", "format", "csv"},
		{"encoding", "latin1"}, {"null", "a\tb"},
	} {
		var opts []ast.Option
		for i := 0; i < len(c); i += 2 {
			opts = append(opts, ast.Option{Name: c[i], Value: c[i+1]})
		}
		_, err := ParseOptions(opts, true)
		require.Error(t, err, "%v", c)
	}
	_, err := ParseOptions([]ast.Option{{Name: "header", Value: "match"}}, false)
	require.Error(t, err)
}

// What is written is read back, in every format, whatever the fields hold.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a", "b\tc\n\\.", uint8(0), uint8(3))
	f.Add(`"`, ",\r\n", uint8(1), uint8(1))
	f.Add("\\N", "", uint8(2), uint8(9))
	f.Add("\xf2\xaa", "\xbe\x87", uint8(1), uint8(13))
	f.Fuzz(func(t *testing.T, a, b string, format, step uint8) {
		o := options(t, true, "format", []string{"text", "csv", "binary"}[format%3])
		w := NewWriter(o, []string{"a", "b"})
		data := w.Begin(nil)
		data = w.Row(data, [][]byte{[]byte(a), nil})
		data = w.Row(data, [][]byte{[]byte(b), []byte(a)})
		data = w.End(data)
		got, err := readAll(o, string(data), int(step%16)+1, "a", "b")
		// Of each alone: two halves of a character are valid side by side.
		invalid := types.CheckUTF8([]byte(a)) != nil || types.CheckUTF8([]byte(b)) != nil
		if o.Format != Binary && invalid {
			requireCode(t, sqlerr.CharacterNotInRepertoire, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, []string{"<" + a + "> NULL", "<" + b + "> <" + a + ">"}, got)
	})
}

func FuzzReader(f *testing.F) {
	f.Add("1\t2\n", uint8(0))
	f.Fuzz(func(t *testing.T, data string, format uint8) {
		o := options(t, true, "format", []string{"text", "csv", "binary"}[format%3])
		_, _ = readAll(o, data, 5, "a", "b")
	})
}
