package types

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrderLikePostgres(t *testing.T) {
	file, err := os.Open("testdata/order.txt")
	require.NoError(t, err)
	defer file.Close()
	type value struct {
		text string
		d    Datum
	}
	lists := map[string][]value{}
	for sc := bufio.NewScanner(file); sc.Scan(); {
		name, quoted, ok := strings.Cut(sc.Text(), "\t")
		if !ok {
			continue
		}
		text, err := strconv.Unquote(quoted)
		require.NoError(t, err)
		d, err := ParseText(typeNamed(t, name), text, nil)
		require.NoError(t, err)
		lists[name] = append(lists[name], value{text, d})
	}
	require.NotEmpty(t, lists)
	for name, list := range lists {
		typ := typeNamed(t, name)
		for i, a := range list {
			for j, b := range list {
				c := Compare(typ, a.d, b.d)
				switch {
				case i == j:
					require.Zero(t, c, "%s: %s", name, a.text)
				case i < j:
					require.LessOrEqual(t, c, 0, "%s: %s, %s", name, a.text, b.text)
				default:
					require.GreaterOrEqual(t, c, 0, "%s: %s, %s", name, a.text, b.text)
				}
				require.Equal(t, c == 0, Equal(typ, a.d, b.d))
				if c == 0 {
					require.Equal(t, Hash(typ, a.d, 7), Hash(typ, b.d, 7), "%s: %s, %s", name,
						a.text, b.text)
				}
			}
		}
	}
}

func TestEqualValuesHashAlike(t *testing.T) {
	pair := func(typ *Type, a, b string) {
		t.Helper()
		da, err := ParseText(typ, a, nil)
		require.NoError(t, err)
		db, err := ParseText(typ, b, nil)
		require.NoError(t, err)
		require.Zero(t, Compare(typ, da, db))
		require.Equal(t, Hash(typ, da, 3), Hash(typ, db, 3), "%s %s", a, b)
	}
	pair(TNumeric, "1", "1.000")
	pair(TNumeric, "100", "100.0")
	pair(TNumeric, "0", "0.0000")
	pair(TNumeric, "123456789012345678901234567890", "123456789012345678901234567890.00")
	pair(TNumeric, "100000000000000000000000000000", "1e29")
	pair(TNumeric, "-0.50", "-0.5")
	pair(TFloat8, "0", "-0")
	pair(TInterval, "1 mon", "30 days")
	pair(TInterval, "1 day", "24:00:00")
	pair(TBPChar, "ab", "ab   ")
	pair(TJSONB, `{"a":1.0}`, `{"a":1.00}`)
	nan := Datum{F: math.Float64frombits(0x7ff8000000000123)}
	require.Zero(t, Compare(TFloat8, nan, Datum{F: math.NaN()}))
	require.Equal(t, Hash(TFloat8, nan, 0), Hash(TFloat8, Datum{F: math.NaN()}, 0))
}

func TestNullsSortLastInside(t *testing.T) {
	require.Equal(t, 1, Compare(TInt4, Null, Datum{I: 5}))
	require.Equal(t, -1, Compare(TInt4, Datum{I: 5}, Null))
	require.Zero(t, Compare(TInt4, Null, Null))
	a := Datum{Arr: &ArrayValue{Elems: []Datum{{I: 1}, Null}, Types: []*Type{TInt4, TText}}}
	b := Datum{Arr: &ArrayValue{Elems: []Datum{{I: 1}, {S: "x"}}, Types: []*Type{TInt4, TText}}}
	require.Equal(t, 1, Compare(TRecord, a, b))
}
