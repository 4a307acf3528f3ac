package scale

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/txntest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full reports whether MINIDB_SCALE=full asks for 100 gateways and 1,000 regions, which takes a
// minute.
func full() bool { return os.Getenv("MINIDB_SCALE") == "full" }

// seed is MINIDB_SCALE_SEED, or always the same.
func seed(t *testing.T) uint64 {
	n, err := strconv.ParseUint(cmp.Or(os.Getenv("MINIDB_SCALE_SEED"), "1"), 10, 64)
	require.NoError(t, err, "MINIDB_SCALE_SEED")
	return n
}

// result is what one simulation counted.
type result struct {
	gateways, regions, sessions int
	all                         *tally
	counts                      Counts
}

func (r *result) commits() float64 { return float64(sum(r.all.commits)) }

// ran counts the transactions that ran, those that met others too.
func (r *result) ran() int64 { return sum(r.all.commits) + sum(r.all.retries) }

// perSession returns how many requests a session had made in a second.
func (r *result) perSession() float64 {
	return float64(r.counts.all()) / float64(r.gateways*r.sessions) / r.all.lasted.Seconds()
}

// perCommit is how many of something there were for each commit.
func (r *result) perCommit(n int64) string { return fmt.Sprintf("%.2f", float64(n)/r.commits()) }

// simulate runs a load, and holds the store to what was committed.
func simulate(t *testing.T, gateways, regions, sessions int, choose mix) (r result) {
	lasts := time.Second
	if full() {
		lasts = 2 * time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		c, err := newCluster(ctx, regions)
		require.NoError(t, err)
		stores, err := c.stores(ctx, gateways)
		require.NoError(t, err)
		before := c.counts()
		r = result{gateways: gateways, regions: regions, sessions: sessions}
		r.all = load(ctx, seed(t), stores, sessions, choose, lasts)
		r.counts = c.counts().minus(before)
		require.NoError(t, closeAll(stores))
		require.NoError(t, r.all.err)
		near, err := txn.Open(ctx, c.engine, txn.Options{Oracle: c.oracle.Oracle})
		require.NoError(t, err)
		problems := check(ctx, near, r.all)
		require.NoError(t, near.Close())
		require.Empty(t, problems)
		txntest.CheckStore(t, c.engine, "after the load")
	})
	return r
}

// TestCostOfSpreadWork: what a transaction asks of the store does not grow with the gateways, nor
// with the regions beyond an update for each that it writes to.
func TestCostOfSpreadWork(t *testing.T) {
	gateways, regions := []int{1, 5, 20}, []int{1, 200}
	if full() {
		gateways, regions = []int{1, 10, 100}, []int{1, 100, 1000}
	}
	table := newTable("gateways", "regions", "commits a second", "reads", "updates",
		"requests to the oracle", "updates that waited for their region", "retries in 1,000",
		"transfer, median", "99 of 100")
	for _, n := range gateways {
		for _, m := range regions {
			r := simulate(t, n, m, 4, spread)
			table.row(n, m, int(r.commits()/r.all.lasted.Seconds()), r.perCommit(r.counts.Reads),
				r.perCommit(r.counts.Updates), r.perCommit(r.counts.Draws),
				fmt.Sprintf("%d %%", 100*r.counts.Busy/max(1, r.counts.Updates)),
				fmt.Sprintf("%.1f", 1000*float64(sum(r.all.retries))/r.commits()),
				quantile(r.all.took[transfer], 50).Round(100*time.Microsecond),
				quantile(r.all.took[transfer], 99).Round(100*time.Microsecond))
			holdToProtocol(t, &r)
		}
	}
	t.Logf("seed %d\n%s", seed(t), table)
}

// holdToProtocol holds the requests of spread work to what the protocol needs, with what renewals
// of leases add, and transactions that meet others: those roll back, and settle locks.
func holdToProtocol(t *testing.T, r *result) {
	renewals := int64(float64(r.gateways) * (1 + r.all.lasted.Seconds()/(lease.Seconds()/3)))
	writes := r.all.commits[transfer] + r.all.commits[insert]
	retries := sum(r.all.retries)
	what := fmt.Sprintf("%d gateways, %d regions", r.gateways, r.regions)
	// Two prewrites, the commit point, and the secondary.
	require.LessOrEqual(t, r.counts.Updates, 4*writes+8*retries+renewals, what)
	// A timestamp to begin and one to commit. Requests carry several.
	require.LessOrEqual(t, r.counts.Draws, r.ran()+writes+retries+renewals, what)
	// These are the reads of a gateway that is alone.
	reads := 3*r.all.commits[read] + 4*r.all.commits[transfer]
	require.LessOrEqual(t, r.counts.Reads, reads+reads/50+40*retries, what)
	if r.gateways == 1 && retries == 0 {
		require.LessOrEqual(t, r.counts.Reads, reads+reads/200, what)
	}
}

// TestCostOfHotRows: a session that waits for a row of other gateways does not ask more of the
// store than one that works.
func TestCostOfHotRows(t *testing.T) {
	gateways, regions := []int{1, 20}, []int{200}
	if full() {
		gateways, regions = []int{1, 10, 100}, []int{1, 1000}
	}
	table := newTable("gateways", "regions", "commits a second", "reads", "updates",
		"requests to the oracle", "reads a second of a session", "median", "99 of 100")
	for _, m := range regions {
		alone := 0.0
		for _, n := range gateways {
			r := simulate(t, n, m, 1, hot)
			table.row(n, m, int(r.commits()/r.all.lasted.Seconds()), r.perCommit(r.counts.Reads),
				r.perCommit(r.counts.Updates), r.perCommit(r.counts.Draws),
				int(float64(r.counts.Reads)/float64(n)/r.all.lasted.Seconds()),
				quantile(r.all.took[hotTransfer], 50).Round(time.Millisecond),
				quantile(r.all.took[hotTransfer], 99).Round(time.Millisecond))
			if alone == 0 {
				alone = r.perSession()
			}
			require.LessOrEqual(t, r.perSession(), alone, "%d gateways, %d regions", n, m)
		}
	}
	t.Logf("seed %d\n%s", seed(t), table)
}

// table is one as documents have it.
type table struct{ strings.Builder }

func newTable(heads ...any) *table {
	t := &table{}
	t.row(heads...)
	fmt.Fprintf(t, "|%s\n", strings.Repeat("---:|", len(heads)))
	return t
}

func (t *table) row(cells ...any) {
	t.WriteString("|")
	for _, c := range cells {
		fmt.Fprintf(t, " %v |", c)
	}
	t.WriteString("\n")
}
