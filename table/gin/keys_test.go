package gin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

func column(t *testing.T, class string, of *types.Type) *gin.Column {
	c := gin.NewColumn(1, class, of)
	require.NotNil(t, c)
	return c
}

// keys returns the descriptions of the keys of a value given as text.
func keys(t *testing.T, class string, of *types.Type, text string) (out []string) {
	c := column(t, class, of)
	v := types.Null
	if text != "NULL" {
		var err error
		v, err = types.ParseText(of, text, nil)
		require.NoError(t, err)
	}
	list, err := c.AppendKeys(nil, v)
	require.NoError(t, err)
	for _, k := range list {
		s, rest, err := gin.Describe([]*gin.Column{c}, k)
		require.NoError(t, err)
		require.Empty(t, rest)
		rest, err = gin.Skip([]*gin.Column{c}, append(k[:len(k):len(k)], "row"...))
		require.NoError(t, err)
		require.Equal(t, "row", string(rest))
		out = append(out, s)
	}
	return out
}

func TestAnArrayHasItsElementsAsKeys(t *testing.T) {
	of := types.ArrayOf(types.TInt4)
	require.Equal(t, []string{"1", "2", "NULL"}, keys(t, "", of, "{2,1,NULL,2}"))
	require.Equal(t, []string{"1", "2"}, keys(t, "array_ops", of, "{{1,2},{2,1}}"))
	require.Equal(t, []string{"no key"}, keys(t, "", of, "{}"))
	require.Equal(t, []string{"null value"}, keys(t, "", of, "NULL"))
	require.Equal(t, []string{"1"}, keys(t, "", types.ArrayOf(types.TNumeric), "{1.0,1.00}"))
}

func TestADocumentHasItsKeysAndScalars(t *testing.T) {
	of := types.TJSONB
	require.Equal(t, []string{"b:t", "k:a", "k:b", "k:x", "n:1E+1", "s:y"},
		keys(t, "", of, `{"a": [10, 1e1, "x", true], "b": "y"}`))
	require.Equal(t, []string{"k:x"}, keys(t, "", of, `"x"`))
	require.Equal(t, []string{"0:", "n:0"}, keys(t, "", of, `[null, 0, -0.00]`))
	require.Equal(t, []string{"no key"}, keys(t, "", of, `{}`))
	long := strings.Repeat("x", 126)
	require.Equal(t, []string{"k#"}, []string{keys(t, "", of, `"`+long+`"`)[0][:2]})
	require.NotEqual(t, keys(t, "", of, `"`+long+`"`), keys(t, "", of, `"`+long+`y"`))
}

func TestAPathKeyTellsTheKeysOnTheWay(t *testing.T) {
	of := types.TJSONB
	of1 := func(s string) []string { return keys(t, "jsonb_path_ops", of, s) }
	require.Len(t, of1(`{"a": {"b": 1, "c": [1, 2, 1]}}`), 3)
	require.Equal(t, of1(`{"a": 1}`), of1(`{"a": [1.0]}`))
	require.NotEqual(t, of1(`{"a": {"b": 1}}`), of1(`{"b": {"a": 1}}`))
	require.NotEqual(t, of1(`{"a": "1"}`), of1(`{"a": 1}`))
	require.NotEqual(t, of1(`{"ab": {"c": 1}}`), of1(`{"a": {"bc": 1}}`))
	require.Equal(t, []string{"no key"}, of1(`{"a": {}}`))
}

// A class is for values of some types only, and has an order of its own in none.
func TestOperatorClasses(t *testing.T) {
	for _, c := range []struct {
		name           string
		of             *types.Type
		known, accepts bool
	}{
		{"", types.TJSONB, true, true},
		{"", types.ArrayOf(types.TText), true, true},
		{"", types.TText, false, false},
		{"jsonb_ops", types.TText, true, false},
		{"array_ops", types.ArrayOf(types.TJSON), true, false},
		{"text_ops", types.TText, false, false},
	} {
		known, accepts := gin.Known(c.name, c.of)
		require.Equal(t, c.known, known, c.name)
		require.Equal(t, c.accepts, accepts, c.name)
	}
}

// A key that names no column of the index is damage, not a panic.
func TestADamagedKeyIsRefused(t *testing.T) {
	cols := []*gin.Column{column(t, "", types.TJSONB)}
	for _, b := range []string{"", "\x01", "\x00\x04", "\x02\x04", "\x01\x02", "\x01\x07abc"} {
		_, err := gin.Skip(cols, []byte(b))
		require.Error(t, err, "%x", b)
		_, _, err = gin.Describe(cols, []byte(b))
		require.Error(t, err, "%x", b)
	}
}
