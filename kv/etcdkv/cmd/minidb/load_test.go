package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

const (
	accounts = 12
	money    = 1000 // of each account
	hashes   = 40
	// stuck is how long one call may take before its connection is given up.
	stuck = 30 * time.Second
)

// load is clients that transfer money, note each transfer in a journal with an index, and register
// documents of which no two may have one hash, on all gateways.
type load struct {
	c       *cluster
	clients sync.WaitGroup
	end     chan struct{}
	next    atomic.Int64
	tally

	names sync.Mutex
	by    map[string]outcome // transfers and documents by their name
}

// tally is what came of the transactions of all clients.
type tally struct {
	commits atomic.Int64

	mu       sync.Mutex
	refused  map[string]int // codes of failures
	anything error          // what no client should see
}

type outcome byte

const (
	acknowledged outcome = iota + 1
	refused
	unknown
)

const schema = `
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
CREATE TABLE journal (name text PRIMARY KEY, source int NOT NULL, target int NOT NULL,
	amount int NOT NULL);
CREATE INDEX journal_source ON journal (source);
CREATE TABLE document (url text PRIMARY KEY, hash int NOT NULL UNIQUE);
INSERT INTO account SELECT g, 1000 FROM generate_series(1, 12) g;`

func startLoad(t *testing.T, c *cluster) *load {
	l := &load{c: c, end: make(chan struct{}), by: map[string]outcome{}}
	conn, err := connect(context.Background(), c.gateways[0].addr)
	require.NoError(t, err)
	_, err = conn.Exec(context.Background(), schema, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	require.NoError(t, conn.Close(context.Background()))
	for i := range 12 {
		l.clients.Go(func() { c.client(i, l.end, l.work) })
	}
	return l
}

func connect(ctx context.Context, addr string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, stuck)
	defer cancel()
	return pgx.Connect(ctx, "postgres://postgres@"+addr+
		"/postgres?default_query_exec_mode=simple_protocol")
}

// client works until the end on one gateway after the other: on the next when it loses its
// connection.
func (c *cluster) client(n int, end <-chan struct{}, work func(*pgx.Conn, *rand.Rand)) {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var conn *pgx.Conn
	for gateway := n; ; {
		select {
		case <-end:
			if conn != nil {
				_ = conn.Close(context.Background())
			}
			return
		default:
		}
		if conn == nil || conn.IsClosed() {
			gateway++
			var err error
			conn, err = connect(context.Background(), c.gateways[gateway%len(c.gateways)].addr)
			if err != nil {
				continue
			}
		}
		work(conn, r)
	}
}

// work is one transfer or one document.
func (l *load) work(conn *pgx.Conn, r *rand.Rand) {
	name := fmt.Sprint(l.next.Add(1))
	work := l.transfer
	if r.IntN(3) == 0 {
		work = l.register
	}
	out, err := work(conn, r, name)
	l.names.Lock()
	l.by[name] = out
	l.names.Unlock()
	l.note(name, out, err)
}

// transfer moves money in a transaction of four statements.
func (l *load) transfer(conn *pgx.Conn, r *rand.Rand, name string) (outcome, error) {
	from, to := 1+r.IntN(accounts), 1+r.IntN(accounts)
	level := []string{"read committed", "repeatable read", "serializable"}[r.IntN(3)]
	for _, text := range []string{
		"BEGIN ISOLATION LEVEL " + level,
		fmt.Sprintf("UPDATE account SET balance = balance - 1 WHERE id = %d", from),
		fmt.Sprintf("UPDATE account SET balance = balance + 1 WHERE id = %d", to),
		fmt.Sprintf("INSERT INTO journal VALUES ('%s', %d, %d, 1)", name, from, to),
	} {
		if err := execute(conn, text); err != nil {
			return refused, undo(conn, err)
		}
	}
	return ended(execute(conn, "COMMIT"))
}

// undo ends a transaction that has failed, and returns its error.
func undo(conn *pgx.Conn, err error) error {
	if !conn.IsClosed() {
		_ = execute(conn, "ROLLBACK")
	}
	return err
}

// register adds a document by one statement, if no other one has its hash.
func (l *load) register(conn *pgx.Conn, r *rand.Rand, name string) (outcome, error) {
	return ended(execute(conn, fmt.Sprintf("INSERT INTO document VALUES ('%s', %d)", name,
		r.IntN(hashes))))
}

// ended returns what is known after a commit.
func ended(err error) (outcome, error) {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return acknowledged, nil
	case errors.As(err, &pg) && pg.Code != "40003":
		return refused, err
	}
	return unknown, err
}

func execute(conn *pgx.Conn, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stuck)
	defer cancel()
	_, err := conn.Exec(ctx, text)
	return err
}

// note counts what came of a transaction.
func (l *tally) note(name string, out outcome, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if out == acknowledged {
		l.commits.Add(1)
		return
	}
	code := "lost connection"
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		code = pg.Code
	}
	if out == unknown {
		code += ", unknown"
	}
	if l.refused == nil {
		l.refused = map[string]int{}
	}
	l.refused[code]++
	switch code {
	case "40001", "40P01", "23505", "57P03", "40003, unknown", "lost connection",
		"lost connection, unknown":
	default:
		l.anything = errors.Join(l.anything, fmt.Errorf("%s: %w: %s", name, err, detail(err)))
	}
}

// more waits until so many further commits were acknowledged.
func (l *tally) more(n int64) time.Duration {
	begun := time.Now()
	for want := l.commits.Load() + n; l.commits.Load() < want; {
		pause()
	}
	return time.Since(begun)
}

func pause() { <-time.After(5 * time.Millisecond) }

// finish ends the clients and proves that what they were sent is true.
func (l *load) finish(t *testing.T) {
	close(l.end)
	l.clients.Wait()
	ctx := context.Background()
	conn, err := connect(ctx, l.c.gateways[0].addr)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	var sum int
	require.NoError(t, conn.QueryRow(ctx, "SELECT sum(balance) FROM account").Scan(&sum))
	require.Equal(t, accounts*money, sum)
	var wrong int
	require.NoError(t, conn.QueryRow(ctx, `SELECT count(*) FROM account a WHERE balance <> 1000
		- (SELECT count(*) FROM journal WHERE source = a.id)
		+ (SELECT count(*) FROM journal WHERE target = a.id)`).Scan(&wrong))
	require.Zero(t, wrong, "accounts that are not what the journal says")
	rows, err := conn.Query(ctx, "SELECT name FROM journal UNION ALL SELECT url FROM document")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	there := map[string]bool{}
	for _, n := range names {
		there[n] = true
	}
	counts := map[outcome]int{}
	for name, out := range l.by {
		counts[out]++
		switch out {
		case acknowledged:
			require.True(t, there[name], "%s was acknowledged and is lost", name)
		case refused:
			require.False(t, there[name], "%s was refused and is there", name)
		}
	}
	require.NoError(t, l.anything)
	t.Logf("%d acknowledged, %d refused, %d unknown: %v", counts[acknowledged], counts[refused],
		counts[unknown], l.refused)
	t.Log(l.c.run(t, "check", "--store", l.c.store))
}

// detail returns what a server says beside its message.
func detail(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Detail
	}
	return ""
}
