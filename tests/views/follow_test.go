package views

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/served"
)

// fromEnv is a number of the environment, or another one.
func fromEnv(t *testing.T, name string, otherwise uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	require.NoError(t, err, name)
	return n
}

// TestViewsFollowEightWriters compares all views with their queries at MINIDB_VIEW_TIMESTAMPS
// timestamps over MINIDB_VIEW_ROWS live rows, under eight writers. What each writer does depends on
// MINIDB_VIEW_SEED, how they meet does not.
func TestViewsFollowEightWriters(t *testing.T) {
	timestamps, rows := uint64(40), uint64(6_000)
	if testing.Short() {
		timestamps, rows = 20, 2_000
	}
	timestamps = fromEnv(t, "MINIDB_VIEW_TIMESTAMPS", timestamps)
	rows = fromEnv(t, "MINIDB_VIEW_ROWS", rows)
	seed := fromEnv(t, "MINIDB_VIEW_SEED", rand.Uint64())
	t.Logf("MINIDB_VIEW_SEED=%d", seed)
	for i, protocol := range []string{"auto", "two-phase"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			f := newFollowing(t, protocol, sized(int(rows)), seed+uint64(i))
			f.run(max(int(timestamps)/2, 1))
		})
	}
}

// following is a database with the views, and writers.
type following struct {
	t       *testing.T
	db      *minidb.DB
	z       size
	writers []*writer
	orders  chan *statement // what is to be done; nil: as the dice say
	done    chan error
	log     complaints
}

// complaints are what the database has logged as errors.
type complaints struct {
	mu    sync.Mutex
	lines []string
}

func (c *complaints) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, string(line))
	return len(line), nil
}

func newFollowing(t *testing.T, protocol string, z size, seed uint64) *following {
	f := &following{t: t, z: z, orders: make(chan *statement, 1000), done: make(chan error, 1000)}
	retention := 20 * time.Second // so that versions are collected meanwhile
	if z.docs > 100_000 {
		retention = 10 * time.Minute // a comparison takes long
	}
	var err error
	f.db, err = minidb.Open(t.TempDir(), minidb.CommitProtocol(protocol),
		minidb.Retention(retention), minidb.GCInterval(time.Second), minidb.Logger(slog.New(
			slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelError}))))
	require.NoError(t, err)
	t.Cleanup(func() { require.Empty(t, f.log.lines) }) // once the database is closed
	url, _ := served.DB(t, f.db)
	ctx := context.Background()
	require.NoError(t, create(ctx, f.db, z, 600))
	require.NoError(t, f.db.Settle(ctx, 0))
	for i := range 8 {
		w := newWriter(z, i, seed)
		if i%4 == 3 {
			conn, err := pgx.Connect(ctx, url)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, conn.Close(ctx)) })
			w.wire = conn.PgConn()
		} else {
			w.conn, err = f.db.Conn(ctx)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, w.conn.Close()) })
		}
		f.writers = append(f.writers, w)
	}
	return f
}

const (
	perTimestamp = 5   // orders for each timestamp
	fewest       = 100 // timestamps after which everything was done
)

const tooOld = "72000"

// run compares the views at so many different frontiers, while the writers write: behind each
// comparison there is new work for them, and of the work before half may still be under way.
func (f *following) run(timestamps int) {
	ctx := context.Background()
	var writers sync.WaitGroup
	for _, w := range f.writers {
		writers.Go(func() {
			for order := range f.orders {
				f.done <- w.work(ctx, order)
			}
		})
	}
	var last int64
	var sum multisets
	ordered, rares, compared := 0, 0, 0
	rareEvery := max(timestamps/len(rare)/(1+timestamps/200), 1) // timestamps for each of rare
	for compared < timestamps {
		if compared/rareEvery >= rares {
			f.orders <- &rare[rares%len(rare)]
			ordered++
			rares++
		}
		for range perTimestamp {
			f.orders <- nil
		}
		for ordered += perTimestamp; ordered > perTimestamp/2; ordered-- {
			require.NoError(f.t, <-f.done)
		}
		c, err := look(ctx, f.db)
		require.NoError(f.t, err)
		if c.at == last {
			continue
		}
		require.Greater(f.t, c.at, last, "a frontier went back")
		last = c.at
		// All views have tables in common, or views, so they advance together.
		require.True(f.t, c.one, "%v", c)
		err = c.compare(ctx)
		if stateOf(err) == tooOld {
			continue // a busy machine: the frontier was collected before the tables were read there
		}
		require.NoError(f.t, err)
		sum.add(c)
		compared++
	}
	close(f.orders)
	writers.Wait()
	close(f.done)
	for err := range f.done {
		require.NoError(f.t, err)
	}
	requireEqual(f.t, f.db)
	f.report(sum, timestamps)
}

// multisets sums up what was compared.
type multisets map[string][2]int // fewest and most rows of each view

func (m *multisets) add(c *comparison) {
	if *m == nil {
		*m = multisets{}
	}
	for name, of := range c.of {
		was, is := (*m)[name]
		if !is {
			was[0] = of.rows
		}
		(*m)[name] = [2]int{min(was[0], of.rows), max(was[1], of.rows)}
	}
}

// report requires that what was compared was worth it.
func (f *following) report(sum multisets, timestamps int) {
	done, refused := map[string]int{}, map[string]int{}
	for _, w := range f.writers {
		for name, n := range w.done {
			done[name] += n
		}
		for code, n := range w.refused {
			refused[code] += n
		}
	}
	var live int
	require.NoError(f.t, f.db.QueryRow(context.Background(), "SELECT (SELECT count(*) FROM host) "+
		"+ (SELECT count(*) FROM doc) + (SELECT count(*) FROM word)").Scan(&live))
	f.t.Logf("%d timestamps, %d live rows in the end; done: %v; refused: %v; rows of views: %v",
		timestamps, live, done, refused, sum)
	for _, v := range views {
		require.Positive(f.t, sum[v.name][1], "%s never had a row", v.name)
	}
	for i, s := range append(statements, rare...) {
		if timestamps >= fewest || timestamps >= len(rare) && i >= len(statements) {
			require.Positive(f.t, done[s.name], "%q was never done", s.name)
		}
	}
}

// checkAll runs what minidb check runs.
func checkAll(ctx context.Context, db *minidb.DB) error {
	problems, err := db.Check(ctx)
	if err == nil && len(problems) > 0 {
		err = errors.New("minidb check has found " + strings.Join(problems, "\n"))
	}
	return err
}
