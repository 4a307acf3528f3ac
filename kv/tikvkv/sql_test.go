package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// join opens the database of a cluster, as a process of its own would.
func (c *cluster) join(t *testing.T, wrap func(tikv.Client) tikv.Client,
	opts ...minidb.Option) (*minidb.DB, *Engine) {
	var e *Engine
	db, err := minidb.Open("tikv://pd:2379/test", append(opts,
		minidb.Logger(slog.New(slog.DiscardHandler)),
		minidb.Engine("tikv", func(_ context.Context, u kv.URL) (kv.Engine, error) {
			o, err := FromURL(u)
			if err == nil {
				e = c.open(t, o, wrap)
			}
			return e, err
		}))...)
	require.NoError(t, err)
	return db, e
}

const (
	accounts  = 10
	transfers = 25 // of each client
)

// TestTransfersByTwoProcesses: money is neither made nor lost, each transfer is in the journal that
// was acknowledged and no other one, and indexes agree with their tables.
func TestTransfersByTwoProcesses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newCluster(t)
	var dbs []*minidb.DB
	for range 2 {
		db, _ := c.join(t, func(below tikv.Client) tikv.Client {
			return newNetwork(t, c, below, 200)
		})
		dbs = append(dbs, db)
	}
	for _, text := range []string{
		"CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)",
		"CREATE TABLE journal (name text PRIMARY KEY, source int NOT NULL, target int NOT NULL)",
		"CREATE INDEX journal_source ON journal (source)",
		fmt.Sprintf("INSERT INTO account SELECT g, 100 FROM generate_series(1, %d) g", accounts),
	} {
		_, err := dbs[0].Exec(ctx, text)
		require.NoError(t, err, text)
	}
	var acknowledged, refused sync.Map
	var n, unknown atomic.Int64
	var clients sync.WaitGroup
	for i := range 6 {
		dice := rand.New(rand.NewPCG(uint64(i), 3))
		clients.Go(func() {
			for range transfers {
				name := fmt.Sprint(n.Add(1))
				err := transfer(ctx, dbs[i%2], dice, name)
				var coded *minidb.Error
				switch {
				case err == nil:
					acknowledged.Store(name, true)
				case !errors.As(err, &coded):
					t.Error(err)
				case coded.Code == "40001", coded.Code == "40P01":
					refused.Store(name, true)
				case coded.Code == "40003":
					unknown.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	var sum, wrong int
	require.NoError(t, dbs[1].QueryRow(ctx, "SELECT sum(balance) FROM account").Scan(&sum))
	require.Equal(t, 100*accounts, sum)
	require.NoError(t, dbs[1].QueryRow(ctx, `SELECT count(*) FROM account a WHERE balance <> 100
		- (SELECT count(*) FROM journal WHERE source = a.id)
		+ (SELECT count(*) FROM journal WHERE target = a.id)`).Scan(&wrong))
	require.Zero(t, wrong)
	there := map[string]bool{}
	rows, err := dbs[0].Query(ctx, "SELECT name FROM journal")
	require.NoError(t, err)
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		there[name] = true
	}
	require.NoError(t, rows.Err())
	committed := 0
	acknowledged.Range(func(name, _ any) bool {
		committed++
		require.True(t, there[name.(string)], "%s was acknowledged and is lost", name)
		return true
	})
	refused.Range(func(name, _ any) bool {
		require.False(t, there[name.(string)], "%s was refused and is there", name)
		return true
	})
	require.Positive(t, committed)
	problems, err := dbs[0].Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
	t.Logf("%d committed, %d unknown, %d regions", committed, unknown.Load(),
		len(c.GetAllRegions()))
	for _, db := range dbs {
		require.NoError(t, db.Close())
	}
}

// transfer moves money in a transaction of three statements.
func transfer(ctx context.Context, db *minidb.DB, dice *rand.Rand, name string) error {
	from, to := 1+dice.IntN(accounts), 1+dice.IntN(accounts)
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	for _, text := range []string{
		fmt.Sprintf("UPDATE account SET balance = balance - 1 WHERE id = %d", from),
		fmt.Sprintf("UPDATE account SET balance = balance + 1 WHERE id = %d", to),
		fmt.Sprintf("INSERT INTO journal VALUES ('%s', %d, %d)", name, from, to),
	} {
		if _, err := tx.Exec(ctx, text); err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
	}
	return tx.Commit(ctx)
}

// TestRequestsOfStatements counts what SQL statements ask the cluster for, with what is done in the
// background after them. All keys lie in one region: each one more costs a prewrite and a commit.
func TestRequestsOfStatements(t *testing.T) {
	ctx := context.Background()
	c := newCluster(t)
	db, e := c.join(t, nil, minidb.GCInterval(-1), minidb.AnalyzeInterval(-1),
		minidb.OnStore(func(o *txn.Options) { o.LeaseRenewal = -1 }))
	run := func(format string, args ...any) {
		_, err := db.Exec(ctx, fmt.Sprintf(format, args...))
		require.NoError(t, err)
	}
	run("CREATE TABLE t (id int PRIMARY KEY, a int, b text)")
	run("CREATE INDEX t_a ON t (a)")
	run("INSERT INTO t SELECT g, g, 'x' FROM generate_series(1, 500) g")
	const warm, rounds = 30, 20
	for _, c := range []struct {
		name string
		run  func(i int)
		most Requests
	}{
		{"point select", func(i int) { run("SELECT * FROM t WHERE id = %d", 1+i) },
			Requests{Reads: 5, Timestamps: 2}},
		{"look-up by an index", func(i int) { run("SELECT b FROM t WHERE a = %d", 1+i) },
			Requests{Reads: 7, Timestamps: 2}},
		{"insert into a table with an index", func(i int) {
			run("INSERT INTO t VALUES (%d, %d, 'x')", 2000+i, 5000+i)
		}, Requests{Reads: 17, Prewrites: 2, Commits: 2, Timestamps: 6}},
		{"update", func(i int) { run("UPDATE t SET b = 'y' WHERE id = %d", 200+i) },
			Requests{Reads: 13, Prewrites: 2, Commits: 2, Timestamps: 6}},
	} {
		for i := range warm {
			c.run(i)
		}
		before := e.Requests()
		for i := range rounds {
			c.run(warm + i)
		}
		after := e.Requests()
		per := func(after, before int64) float64 { return float64(after-before) / rounds }
		t.Logf("%s: %.2f reads, %.2f prewrites, %.2f commits, %.2f timestamps", c.name,
			per(after.Reads, before.Reads), per(after.Prewrites, before.Prewrites),
			per(after.Commits, before.Commits), per(after.Timestamps, before.Timestamps))
		for what, n := range map[string][2]float64{
			"reads":      {per(after.Reads, before.Reads), float64(c.most.Reads)},
			"prewrites":  {per(after.Prewrites, before.Prewrites), float64(c.most.Prewrites)},
			"commits":    {per(after.Commits, before.Commits), float64(c.most.Commits)},
			"timestamps": {per(after.Timestamps, before.Timestamps), float64(c.most.Timestamps)},
		} {
			require.Less(t, n[0], n[1]+1, "%s: %s", c.name, what)
		}
	}
	require.NoError(t, db.Close())
}
