package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// rounds is how often each fault is made; MINIDB_FAULT_ROUNDS says more.
func rounds(t *testing.T, usual int) int {
	text := os.Getenv("MINIDB_FAULT_ROUNDS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// serves is what a gateway logs when it takes the office of the oracle.
const serves = "this process serves them now"

// TestKilledProcesses kills gateways, the one that serves timestamps, and members of the store, the
// leader too, under load: no acknowledged commit is lost, and no transaction is there by half.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	l := startLoad(t, c)
	l.more(50)
	for round := range rounds(t, 3) {
		for _, v := range c.victims(t, round) {
			v.kill()
			t.Logf("round %d, %s: 20 commits after %s", round, v.what, l.more(20))
			v.start()
			l.more(20)
		}
	}
	l.finish(t)
}

// victim is a process that is to be killed.
type victim struct {
	what string
	*child
}

// victims returns what each round kills, one after the other.
func (c *cluster) victims(t *testing.T, round int) []victim {
	return []victim{
		{"a gateway", c.gateways[round%3]},
		{"the gateway that serves timestamps", c.serving()},
		{"a member", c.members[round%3]},
		{"the leading member", c.members[c.leader(t)]},
	}
}

// serving returns the gateway that took the office last, as far as the logs say: where several
// have had it, the one whose log is newest.
func (c *cluster) serving() *child {
	var newest *child
	at := ""
	for _, g := range c.gateways {
		if line := g.last(serves); line > at {
			newest, at = g, line
		}
	}
	return newest
}
