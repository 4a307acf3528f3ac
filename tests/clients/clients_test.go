package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/tests/command"
)

// client is an entry of clients.json.
type client struct {
	Name string // also of its database
	Run  []string
	// Needs are programs of PATH or files without which the client is skipped.
	Needs []string
	// Differs lists cases whose output differs today, each with the reason. One that is equal after
	// all fails the test, so that the list cannot outlive its reasons.
	Differs map[string]string
	// Shared lists cases that differ besides on gateways of a store that several processes share,
	// each with what is refused there by name (docs/scaling.md).
	Shared map[string]string
}

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestClients runs each program against both servers and compares its cases.
func TestClients(t *testing.T) {
	text, err := os.ReadFile("clients.json")
	require.NoError(t, err)
	var list []client
	require.NoError(t, json.Unmarshal(text, &list))
	postgres, gateways := pgtest.Server(t), strings.Fields(os.Getenv("MINIDB_CLIENTS_GATEWAYS"))
	shared := len(gateways) > 0
	if !shared {
		gateways = []string{command.Build(t).Start(t)}
	}
	for i, c := range list {
		if shared {
			c.Differs = both(c.Differs, c.Shared)
		}
		t.Run(c.Name, func(t *testing.T) {
			if missing := c.missing(); missing != "" {
				if os.Getenv("MINIDB_CLIENTS") == "all" {
					t.Fatalf("%s is missing (./install)", missing)
				}
				t.Skipf("skipped: %s is missing (./install)", missing)
			}
			c.compare(t, postgres, gateways[i%len(gateways)])
		})
	}
}

// both returns the entries of two maps.
func both(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return all
}

func (c *client) missing() string {
	for _, need := range c.Needs {
		if _, err := exec.LookPath(need); err == nil {
			continue
		}
		if _, err := os.Stat(need); err != nil {
			return need
		}
	}
	return ""
}

func (c *client) compare(t *testing.T, postgres, minidb string) {
	want, got := c.cases(t, postgres), c.cases(t, minidb)
	passed := 0
	for _, name := range want.names {
		equal := want.text[name] == got.text[name]
		reason, known := c.Differs[name]
		switch {
		case equal && known:
			t.Errorf("%s: equal now; take it out of clients.json (%q)", name, reason)
		case equal:
			passed++
		case !known:
			t.Errorf("%s differs\nPostgreSQL:\n%s\nminidb:\n%s", name, want.text[name],
				got.text[name])
		}
	}
	for _, name := range got.names {
		if !slices.Contains(want.names, name) {
			t.Errorf("%s: a case that PostgreSQL has not", name)
		}
	}
	for name := range c.Differs {
		if !slices.Contains(want.names, name) {
			t.Errorf("clients.json names a case that there is not: %s", name)
		}
	}
	require.NotEmpty(t, want.names, "the program printed no case")
	fmt.Printf("%-16s ran %d, passed %d, skipped 0\n", c.Name, len(want.names), passed)
}

// transcript is what a program printed.
type transcript struct {
	names []string // of the cases in their order
	text  map[string]string
}

// timeLimit is how long a program may take on one server.
const timeLimit = 3 * time.Minute

// cases runs the program in a new database of a server.
func (c *client) cases(t *testing.T, server string) transcript {
	t.Helper()
	database := "client_" + regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(c.Name, "_")
	ctx, cancel := context.WithTimeout(t.Context(), timeLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	for _, q := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
		_, err = conn.Exec(ctx, q+database)
		require.NoError(t, err)
	}
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + database
	cmd := exec.CommandContext(ctx, c.Run[0], c.Run[1:]...)
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER=postgres",
		"PGDATABASE="+database, "PGSSLMODE=disable", "DATABASE_URL="+u.String(), "TZ=UTC",
		"LC_ALL=C.UTF-8", "GOFLAGS=-mod=mod")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	tr := parse(string(out))
	if err != nil {
		tr.names = append(tr.names, "end of the program")
		tr.text["end of the program"] = fmt.Sprintf("%v\n%s", err, tail(stderr.String()))
	}
	return tr
}

// parse cuts the output of a program into its cases.
func parse(out string) transcript {
	tr := transcript{text: map[string]string{}}
	name := ""
	for line := range strings.Lines(out) {
		if after, ok := strings.CutPrefix(line, "== "); ok {
			name = strings.TrimSpace(after)
			tr.names = append(tr.names, name)
			continue
		}
		if name != "" {
			tr.text[name] += line
		}
	}
	return tr
}

func tail(s string) string { return s[max(0, len(s)-2000):] }
