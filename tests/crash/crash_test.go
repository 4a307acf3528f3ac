package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/tests/command"
)

const (
	accounts = 40
	opening  = 1000
	clients  = 8
	perLife  = 60 // commits acknowledged between two kills, on top of a random number up to as many
)

const schema = `
CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0));
CREATE TABLE leg (transfer bigint, side int, account int NOT NULL, amount bigint NOT NULL,
	PRIMARY KEY (transfer, side));
CREATE INDEX leg_account ON leg (account, transfer);
CREATE TABLE receipt (number text PRIMARY KEY, transfer bigint NOT NULL UNIQUE);`

// ledger is what the clients know: which transfers were acknowledged, which surely failed. Those in
// neither may or may not have happened.
type ledger struct {
	mu     sync.Mutex
	acked  map[int64]bool
	failed map[int64]bool
	next   int64
	target int
	full   chan struct{}
}

func newLedger() *ledger {
	return &ledger{acked: map[int64]bool{}, failed: map[int64]bool{}}
}

// expect returns a channel that is closed after n more acknowledgements.
func (l *ledger) expect(n int) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target, l.full = len(l.acked)+n, make(chan struct{})
	return l.full
}

func (l *ledger) number() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next
}

func (l *ledger) ack(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[n] = true
	if len(l.acked) == l.target {
		close(l.full)
	}
}

func (l *ledger) fail(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed[n] = true
}

func kills(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("MINIDB_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 2
	}
	return 8
}

func TestKilledServersLoseNoAcknowledgedCommit(t *testing.T) {
	s, book := command.Build(t), newLedger()
	url := s.Start(t)
	prepare(t, url)
	for life := range kills(t) {
		ctx, cancel := context.WithCancel(t.Context())
		full := book.expect(perLife + rand.IntN(perLife))
		var wg sync.WaitGroup
		failures := make(chan error, clients)
		for range clients {
			wg.Go(func() {
				if err := client(ctx, url, book); err != nil {
					failures <- err
				}
			})
		}
		select {
		case <-full:
		case err := <-failures:
			t.Fatalf("life %d: %v\n%s", life, err, s.Log())
		}
		require.NoError(t, s.Kill())
		cancel()
		wg.Wait()
		url = s.Start(t)
		verify(t, url, book)
	}
	s.Stop(t)
	s.Check(t)
	t.Logf("%d kills, %d transfers acknowledged, %d refused", kills(t), len(book.acked),
		len(book.failed))
}

func prepare(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), schema)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), fmt.Sprintf(
		`INSERT INTO account SELECT g, %d FROM generate_series(1, %d) AS s (g)`, opening, accounts))
	require.NoError(t, err)
}

// client makes transfers until its connection or ctx ends. An error is one that no kill explains.
func client(ctx context.Context, url string, book *ledger) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil
	}
	defer conn.Close(context.Background())
	for ctx.Err() == nil {
		n := book.number()
		err := transfer(ctx, conn, n)
		var coded interface{ SQLState() string }
		switch {
		case err == nil:
			book.ack(n)
		case conn.IsClosed() || ctx.Err() != nil:
			return nil // it may or may not have happened
		case errors.As(err, &coded) &&
			(coded.SQLState() == "40001" || coded.SQLState() == "40P01"), errors.Is(err, errUndone):
			book.fail(n)
		default:
			return fmt.Errorf("transfer %d: %w", n, err)
		}
	}
	return nil
}

// errUndone ends a transfer that the client itself rolls back.
var errUndone = errors.New("rolled back on purpose")

func transfer(ctx context.Context, conn *pgx.Conn, n int64) error {
	from, to := 1+rand.IntN(accounts), 1+rand.IntN(accounts-1)
	if to >= from {
		to++
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var balance int64
		if err := tx.QueryRow(ctx, `SELECT balance FROM account WHERE id = $1`,
			from).Scan(&balance); err != nil {
			return err
		}
		amount := rand.Int64N(balance/4 + 1)
		for side, id := range []int{from, to} {
			signed := amount * int64(2*side-1)
			if _, err := tx.Exec(ctx, `UPDATE account SET balance = balance + $1 WHERE id = $2`,
				signed, id); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `INSERT INTO leg VALUES ($1, $2, $3, $4)`, n, side, id,
				signed); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `INSERT INTO receipt VALUES ($1, $2)`, fmt.Sprintf("r%d", n),
			n); err != nil {
			return err
		}
		if rand.IntN(20) == 0 {
			return errUndone
		}
		return nil
	})
}

// verify compares the database with the ledger.
func verify(t *testing.T, url string, book *ledger) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	one := func(sql string) (n int64) {
		require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n), sql)
		return n
	}
	require.EqualValues(t, accounts*opening, one(`SELECT sum(balance)::bigint FROM account`),
		"money is neither made nor lost")
	require.Zero(t, one(fmt.Sprintf(`SELECT count(*) FROM account a LEFT JOIN
		(SELECT account, sum(amount) AS moved FROM leg GROUP BY account) l ON l.account = a.id
		WHERE a.balance <> %d + coalesce(l.moved, 0)`, opening)),
		"every balance follows from its legs")
	require.Zero(t, one(`SELECT count(*) FROM (SELECT transfer FROM leg
		GROUP BY transfer HAVING count(*) <> 2 OR sum(amount) <> 0) x`),
		"every transfer has both legs")
	require.Equal(t, one(`SELECT count(DISTINCT transfer) FROM leg`),
		one(`SELECT count(*) FROM receipt`))

	rows, err := conn.Query(t.Context(), `SELECT transfer FROM receipt`)
	require.NoError(t, err)
	there, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	present := map[int64]bool{}
	for _, n := range there {
		present[n] = true
		require.False(t, book.failed[n], "transfer %d was refused and is there", n)
	}
	for n := range book.acked {
		require.True(t, present[n], "transfer %d was acknowledged and is gone", n)
		var byIndex int64
		if n%7 == 0 {
			require.NoError(t, conn.QueryRow(t.Context(),
				`SELECT count(*) FROM receipt WHERE transfer = $1 AND number = $2`, n,
				fmt.Sprintf("r%d", n)).Scan(&byIndex))
			require.EqualValues(t, 1, byIndex)
		}
	}
}
