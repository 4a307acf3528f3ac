package pebblekv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
)

// What is measured is the same from call to call, counts what was done, and has no values once the
// engine is closed.
func TestMeasures(t *testing.T) {
	e := open(t, "", pebblekv.Options{InMemory: true})
	values := func() map[string][]kv.Value {
		out := map[string][]kv.Value{}
		for _, m := range kv.MeasuresOf(kv.Wrapped{Engine: e}) {
			require.NotContains(t, out, m.Name)
			if len(m.Values) > 0 {
				require.Equal(t, m.Label != "", len(m.Values) > 1, m.Name)
			}
			out[m.Name] = m.Values
		}
		return out
	}
	before := values()
	rows, step := put("a", "1")
	require.NoError(t, e.Update(t.Context(), rows, step))
	written := values()
	require.Greater(t, written["log_written_bytes_total"][0].Number,
		before["log_written_bytes_total"][0].Number)
	require.NoError(t, e.Flush())
	flushed := values()
	require.InDelta(t, before["flushes_total"][0].Number+1, flushed["flushes_total"][0].Number, 0)
	tables, bytes := 0.0, 0.0
	for i := range flushed["level_tables"] {
		tables += flushed["level_tables"][i].Number
		bytes += flushed["level_bytes"][i].Number
	}
	require.InDelta(t, 1, tables, 0)
	require.Positive(t, bytes)
	require.NoError(t, e.Close())
	for name, none := range values() {
		require.Empty(t, none, name)
		require.Contains(t, before, name)
	}
}
