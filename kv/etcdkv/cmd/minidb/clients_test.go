package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// someClients are the programs of tests/clients that are run unless MINIDB_CLIENTS is "all": one of
// libpq, one that speaks the protocol itself, one that asks the catalog for everything, and one
// that takes advisory locks.
const someClients = "TestClients/(psycopg3|pgx|sqlalchemy|golang-migrate)$"

// TestClients runs the programs of PostgreSQL's clients on gateways, one program on one after the
// other, and on PostgreSQL: they print the same but for what is refused by name on a shared store
// (tests/clients/clients.json). Programs that are not installed are skipped, as there.
func TestClients(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	var gateways []string
	for _, g := range c.gateways {
		gateways = append(gateways, "postgres://postgres@"+g.addr+"/postgres?sslmode=disable")
	}
	run := someClients
	if os.Getenv("MINIDB_CLIENTS") == "all" {
		run = "TestClients"
	}
	cmd := exec.Command("go", "test", "-count=1", "-run", run, "-timeout", "40m")
	cmd.Dir = "../../../../tests/clients"
	cmd.Env = append(os.Environ(), "MINIDB_CLIENTS_GATEWAYS="+strings.Join(gateways, " "))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
	t.Log(c.run(t, "check", "--store", c.store))
}
