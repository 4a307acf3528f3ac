package history

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// histories is how many histories the test makes: MINIDB_HISTORIES, or one for each way and a few
// more.
func histories(t *testing.T) int {
	if v := os.Getenv("MINIDB_HISTORIES"); v != "" {
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "MINIDB_HISTORIES")
		return n
	}
	if testing.Short() {
		return len(Configs())
	}
	return 300
}

// firstSeed is MINIDB_HISTORY_SEED, or a new one.
func firstSeed(t *testing.T) uint64 {
	if v := os.Getenv("MINIDB_HISTORY_SEED"); v != "" {
		seed, err := strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "MINIDB_HISTORY_SEED")
		return seed
	}
	return rand.Uint64()
}

// TestHistories makes histories in every way and checks them. The seed of a history that is wrong
// is printed with its way: MINIDB_HISTORY_SEED=… MINIDB_HISTORIES=1 go test -run
// 'TestHistories/name'.
func TestHistories(t *testing.T) {
	n, configs := histories(t), Configs()
	seed := firstSeed(t)
	for _, c := range configs {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var sum Tally
			for j := range max(1, n/len(configs)) {
				s := seed + uint64(j)
				h, err := Run(c, s)
				require.NoError(t, err, "MINIDB_HISTORY_SEED=%d", s)
				for _, v := range Check(h) {
					t.Errorf("MINIDB_HISTORY_SEED=%d: %s", s, v)
				}
				sum.Add(h)
				if t.Failed() {
					return
				}
			}
			t.Logf("%s", sum)
		})
	}
}
