package rowlock_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/txn/rowlock"
)

// TestTheLaterClaimSeesTheEarlierOne, and not the reverse, however often they claim; what is given
// back is not seen.
func TestTheLaterClaimSeesTheEarlierOne(t *testing.T) {
	tb, ctx := new(rowlock.Table), context.Background()
	a, b, c := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3)
	claim := func(o *rowlock.Owner, group, key string) []string {
		others, err := tb.Claim(ctx, o, group, []byte(key), rowlock.Request{})
		require.NoError(t, err)
		return others
	}
	require.Empty(t, claim(a, "g", "a"))
	require.Equal(t, []string{"a"}, claim(b, "g", "b"))
	require.Empty(t, claim(a, "g", "a"), "the earlier one keeps its place")
	require.Empty(t, claim(c, "other", "c"))
	before := b.Mark()
	require.ElementsMatch(t, []string{"a"}, claim(b, "g", "b2"))
	require.ElementsMatch(t, []string{"a", "b", "b2"}, claim(c, "g", "c2"))
	b.ReleaseTo(before)
	require.ElementsMatch(t, []string{"a", "b"}, claim(c, "g", "c3"))
	_, err := tb.Claim(ctx, c, "g", []byte("a"), rowlock.Request{NoWait: true})
	require.ErrorIs(t, err, rowlock.ErrNotAvailable)
	for _, o := range []*rowlock.Owner{a, b, c} {
		o.Close()
	}
	require.True(t, tb.Empty())
	d := tb.NewOwner(4)
	require.Empty(t, claim(d, "g", "d"))
	d.Close()
}
