package scale

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// What a gateway idles with.
const (
	nothing  = "nothing"
	aView    = "an incremental view"
	observed = "an observer"
	rows     = "10,000 rows"
)

// idleTime is how long idle gateways are watched: it has two collections of garbage.
const idleTime = 2 * time.Minute

// idle opens gateways, and returns the requests of two minutes in which there is no client.
func idle(t *testing.T, gateways int, with string) (c Counts) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		cl, err := newCluster(ctx, 100)
		require.NoError(t, err)
		var all []*minidb.DB
		for i := range gateways {
			// Over a minute, so that what each does every minute is spread too.
			require.NoError(t, pause(ctx, time.Minute/time.Duration(gateways)))
			db, err := cl.open()
			require.NoError(t, err)
			all = append(all, db)
			if i == 0 {
				prepare(t, db, with)
			}
			if with == observed {
				require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "o", Table: "s"},
					func(context.Context, *minidb.Tx, minidb.Change) error { return nil }))
			}
		}
		require.NoError(t, pause(ctx, 10*time.Second)) // until each knows what there is
		before := cl.counts()
		require.NoError(t, pause(ctx, idleTime))
		c = cl.counts().minus(before)
		require.NoError(t, closeAll(all))
	})
	return c
}

func prepare(t *testing.T, db *minidb.DB, with string) {
	texts := []string{"CREATE TABLE s (id int PRIMARY KEY, g int)"}
	if with == aView {
		texts = append(texts, "CREATE MATERIALIZED VIEW v WITH (incremental) AS "+
			"SELECT g, count(*) AS n FROM s GROUP BY g")
	}
	if with == rows {
		texts = append(texts, "INSERT INTO s SELECT n, n FROM generate_series(1, 10000) n")
	}
	for _, text := range texts {
		_, err := db.Exec(context.Background(), text)
		require.NoError(t, err)
	}
}

// TestCostOfCollection: what is read of the store to find garbage does not grow with the gateways,
// but for passes that follow one another after half an interval.
func TestCostOfCollection(t *testing.T) {
	gateways := []int{1, 8}
	if full() {
		gateways = []int{1, 10, 100}
	}
	table := newTable("gateways", "with", "keys scanned a second, by all of them")
	alone := 0.0
	for _, n := range gateways {
		keys := float64(idle(t, n, rows).Keys) / idleTime.Seconds()
		table.row(n, rows, int(keys))
		if alone == 0 {
			alone = keys
		}
		// What else each scans are some keys of the catalog.
		require.LessOrEqual(t, keys, 2*alone+10*float64(n), "%d gateways", n)
	}
	t.Logf("\n%s", table)
}

// TestCostOfIdleGateways: each costs the store the same, however many there are.
func TestCostOfIdleGateways(t *testing.T) {
	gateways := []int{1, 8}
	if full() {
		gateways = []int{1, 10, 100}
	}
	table := newTable("gateways", "with", "reads", "updates", "requests to the oracle")
	for _, with := range []string{nothing, aView, observed} {
		alone := 0.0
		for _, n := range gateways {
			c := idle(t, n, with)
			per := func(of int64) float64 { return float64(of) / float64(n) / idleTime.Seconds() }
			table.row(n, with, fmt.Sprintf("%.1f", per(c.Reads)), fmt.Sprintf("%.1f",
				per(c.Updates)), fmt.Sprintf("%.1f", per(c.Draws)))
			if alone == 0 {
				alone = per(c.all())
			}
			require.InEpsilon(t, alone, per(c.all()), 0.2, "%d gateways with %s", n, with)
		}
	}
	t.Logf("a gateway and second\n%s", table)
}
