package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// pages is what makes the copy some pages long.
const pages = `
CREATE TABLE page (id int PRIMARY KEY, text text NOT NULL);
CREATE INDEX page_text ON page (left(text, 20));
INSERT INTO page SELECT g, md5(g::text) || repeat('page ', 600) FROM generate_series(1, 1500) g;`

// TestCopyUnderKills: the process of a copy is killed when the target has just been marked, in the
// middle of the versions, and when all is copied and to be compared. Clients change the source all
// the time. The same command goes on each time, and what it leaves is what the source showed at one
// timestamp.
func TestCopyUnderKills(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	l := startLoad(t, c)
	c.run(t, "sql", "--url", "postgres://postgres@"+c.gateways[0].addr+"/postgres", "-c", pages)
	to := strings.TrimSuffix(c.store, "/test") + "/copied"
	args := []string{"copy", "--from", c.store, "--to", to}

	client, err := clientv3.New(clientv3.Config{Endpoints: c.clients})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	c.killAt(t, args, client, "", 1)
	l.more(5)
	c.killAt(t, args, client, "copy/", 2) // the positions, one with each page
	l.more(5)
	compared := &child{t: t, role: "minidb", args: args, ready: "notifications: "}
	compared.start()
	compared.kill()
	l.more(5)
	out := c.run(t, args...)
	require.Contains(t, out, "both stores are the same")
	require.NotContains(t, out, "versions:", "all of them had been copied")
	at := regexp.MustCompile(`copied as of (\S+) \(`).FindStringSubmatch(out)
	require.NotNil(t, at, out)

	c.run(t, "check", "--store", to)
	for _, table := range []string{"account", "journal", "document", "page"} {
		text := "SELECT count(*), md5(string_agg(x::text, ',' ORDER BY x::text)) FROM " +
			"(SELECT * FROM " + table + "%s) x"
		require.Equal(t, c.run(t, "sql", "--store", c.store, "-c",
			fmt.Sprintf(text, " AS OF SYSTEM TIME '"+at[1]+"'")),
			c.run(t, "sql", "--store", to, "-c", fmt.Sprintf(text, "")), table)
	}
	require.Contains(t, c.run(t, "sql", "--store", to, "-c", "SELECT sum(balance) FROM account"),
		fmt.Sprint(accounts*money))
	l.finish(t)
}

// killAt runs a copy, and kills its process at the n-th update of the target with a cell whose name
// has a text.
func (c *cluster) killAt(t *testing.T, args []string, client *clientv3.Client, text string, n int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	changes := client.Watch(ctx, "copied", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-changes
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childRole+"=minidb")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	require.NoError(t, cmd.Start())
	revisions := map[int64]bool{}
	for change := range changes {
		require.NoError(t, change.Err())
		for _, e := range change.Events {
			if strings.Contains(string(e.Kv.Key), text) {
				revisions[e.Kv.ModRevision] = true
			}
		}
		if len(revisions) >= n {
			break
		}
	}
	require.NoError(t, cmd.Process.Kill())
	require.EqualError(t, cmd.Wait(), "signal: killed")
}
