package stats

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// countedIn counts the keys of rows, each with elements made from its number.
func countedIn(t *testing.T, rows int, row func(i int) []string) (*Keys, *gin.Column) {
	of := types.ArrayOf(types.TText)
	d := &table.Desc{Name: "g", Columns: []table.Column{
		{ID: 1, Name: "id", Type: types.TInt4, NotNull: true}, {ID: 2, Name: "tags", Type: of}},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{{ID: 2, Name: "g_tags", Method: table.MethodGIN,
			Columns: []table.IndexColumn{{ColumnID: 2}}}}}
	a := newAnalysis(d, &Options{Seed: 1})
	require.Len(t, a.keys, 1)
	v := types.NewVec(of, 0)
	for i := range rows {
		arr := &types.ArrayValue{}
		for _, s := range row(i) {
			arr.Elems = append(arr.Elems, types.NewString(s))
		}
		v.Append(types.Datum{Arr: arr})
	}
	require.NoError(t, a.keys[0].add(v, v.Len))
	return a.keys[0].result(&ending{ctx: context.Background()}), a.keys[0].column
}

func shareOf(t *testing.T, k *Keys, c *gin.Column, key string) float64 {
	q, err := c.Query(gin.AnyEqual, types.NewString(key), 0)
	require.NoError(t, err)
	return k.Share(q.Key)
}

// Shares are those of the rows, near enough, also when only some of the rows are counted.
func TestSharesOfKeys(t *testing.T) {
	for _, rows := range []int{1000, 100_000} {
		k, c := countedIn(t, rows, func(i int) []string {
			return []string{"all", fmt.Sprint("ten", i%10), fmt.Sprint("hundred", i%100),
				fmt.Sprint("own", i)}
		})
		require.InDelta(t, 4, k.PerRow, 0.01)
		require.InDelta(t, 1, shareOf(t, k, c, "all"), 0.01)
		require.InEpsilon(t, 0.1, shareOf(t, k, c, "ten3"), 0.2)
		require.InEpsilon(t, 0.01, shareOf(t, k, c, "hundred7"), 0.5)
		require.Less(t, shareOf(t, k, c, "own12"), 0.002)
		require.Less(t, shareOf(t, k, c, "nothing"), 0.002)
	}
}

func TestKeysAreReadAsTheyWereWritten(t *testing.T) {
	k, _ := countedIn(t, 50, func(i int) []string { return []string{fmt.Sprint(i % 3)} })
	require.Len(t, k.Common, 3)
	read, err := decodeKeys(encodeKeys(k))
	require.NoError(t, err)
	require.Equal(t, k, read)
	for n := range encodeKeys(k) {
		_, err := decodeKeys(encodeKeys(k)[:n])
		require.Error(t, err)
	}
}

// The counts are bounded, whatever the keys are.
func TestCountsOfKeysAreBounded(t *testing.T) {
	k, _ := countedIn(t, 10_000, func(i int) []string {
		var out []string
		for n := range 20 {
			out = append(out, fmt.Sprint(i*20+n))
		}
		return out
	})
	require.LessOrEqual(t, len(k.Common), commonKeys)
	require.Less(t, k.Rest, 0.001)
}
