package compare

import (
	"fmt"
	"math/rand/v2"
)

// rate is a work that clients repeat for the length of a turn.
type rate struct {
	name    string
	reach   float64
	clients int
	prepare []string
	// connects: each operation opens a connection, and closes it.
	connects bool
	op       func(c *client, r *rand.Rand, rows int) error
}

// rates are the works of transactions.
func rates() (all []rate) {
	for _, w := range []struct {
		clients int
		reach   float64
	}{{1, 1}, {8, 1.4}, {32, 1.8}} {
		name := fmt.Sprintf("select by key, prepared, %d clients", w.clients)
		all = append(all, rate{name, w.reach, w.clients,
			[]string{"SELECT abalance FROM accounts WHERE aid = $1"}, false,
			func(c *client, r *rand.Rand, _ int) error { return c.run(0, 1+r.IntN(accounts)) }})
	}
	for _, w := range []struct {
		clients int
		reach   float64
	}{{8, 1.6}, {32, 2.2}} {
		all = append(all, rate{fmt.Sprintf("select by key, simple, %d clients", w.clients), w.reach,
			w.clients, nil, false, func(c *client, r *rand.Rand, _ int) error {
				return c.query(fmt.Sprintf("SELECT abalance FROM accounts WHERE aid = %d;",
					1+r.IntN(accounts)))
			}})
	}
	for _, w := range []struct {
		clients int
		reach   float64
	}{{1, 1.2}, {8, 1.4}, {32, 2}} {
		all = append(all, rate{fmt.Sprintf("TPC-B, prepared, %d clients", w.clients), w.reach,
			w.clients, tpcb, false, runTPCB})
	}
	all = append(all, rate{name: "new connections", reach: 15, clients: 1, connects: true})
	for i, name := range []string{"point select", "read only", "update index", "insert",
		"read write"} {
		all = append(all, rate{"sysbench " + name + ", 8 clients", 1.2, 8, sysbench,
			false, sysbenchOps[i]})
	}
	return all
}

// tpcb is pgbench's transaction.
var tpcb = []string{"BEGIN", "UPDATE accounts SET abalance = abalance + $1 WHERE aid = $2",
	"SELECT abalance FROM accounts WHERE aid = $1",
	"UPDATE tellers SET tbalance = tbalance + $1 WHERE tid = $2",
	"UPDATE branches SET bbalance = bbalance + $1 WHERE bid = $2",
	"INSERT INTO history VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)", "END"}

func runTPCB(c *client, r *rand.Rand, _ int) error {
	aid, tid, bid, delta := 1+r.IntN(accounts), 1+r.IntN(100), 1+r.IntN(10), r.IntN(10001)-5000
	for n, params := range [][]int{{}, {delta, aid}, {aid}, {delta, tid}, {delta, bid},
		{tid, bid, aid, delta}, {}} {
		if err := c.run(n, params...); err != nil {
			return err
		}
	}
	return nil
}

// sysbench are the statements of its OLTP tests.
var sysbench = []string{"BEGIN", "COMMIT", "SELECT c FROM sb WHERE id = $1",
	"SELECT c FROM sb WHERE id BETWEEN $1 AND $2",
	"SELECT sum(k) FROM sb WHERE id BETWEEN $1 AND $2",
	"SELECT c FROM sb WHERE id BETWEEN $1 AND $2 ORDER BY c",
	"SELECT DISTINCT c FROM sb WHERE id BETWEEN $1 AND $2 ORDER BY c",
	"UPDATE sb SET k = k + 1 WHERE id = $1", "UPDATE sb SET c = 'changed' WHERE id = $1",
	"DELETE FROM sb WHERE id = $1",
	"INSERT INTO sb VALUES ($1, 1, 'c', 'p') ON CONFLICT DO NOTHING",
	"INSERT INTO sb VALUES (nextval('sbs'), 1, 'c', 'p')"}

var sysbenchOps = []func(c *client, r *rand.Rand, rows int) error{
	func(c *client, r *rand.Rand, _ int) error { return c.run(2, 1+r.IntN(accounts)) },
	func(c *client, r *rand.Rand, _ int) error { return readWrite(c, r, false) },
	func(c *client, r *rand.Rand, _ int) error { return c.run(7, 1+r.IntN(accounts)) },
	func(c *client, _ *rand.Rand, _ int) error { return c.run(11) },
	func(c *client, r *rand.Rand, _ int) error { return readWrite(c, r, true) },
}

func readWrite(c *client, r *rand.Rand, writes bool) error {
	if err := c.run(0); err != nil {
		return err
	}
	for range 10 {
		if err := c.run(2, 1+r.IntN(accounts)); err != nil {
			return err
		}
	}
	for n := 3; n <= 6; n++ {
		at := 1 + r.IntN(accounts-100)
		if err := c.run(n, at, at+99); err != nil {
			return err
		}
	}
	if writes {
		id := 1 + r.IntN(accounts)
		for n := 7; n <= 10; n++ {
			if err := c.run(n, id); err != nil {
				return err
			}
		}
	}
	return c.run(1)
}
