package bench

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryMeasurementRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("loads stores")
	}
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(), Options{Dir: t.TempDir(), Round: time.Millisecond, Rounds: 1}, &out), out.String())
	for _, name := range []string{"timestamps", "point read", "5-key commit, 1PC", "5-key commit, 2PC", "select by primary key"} {
		require.Contains(t, out.String(), name)
	}
}
