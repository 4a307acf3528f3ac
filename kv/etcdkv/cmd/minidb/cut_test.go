package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// proxied starts a gateway again that reaches the store through proxies, one for each member.
func (c *cluster) proxied(t *testing.T, gateway *child) (all []*proxy) {
	var hosts []string
	for _, u := range c.clients {
		p := newProxy(t, strings.TrimPrefix(u, "http://"))
		all = append(all, p)
		hosts = append(hosts, p.addr())
	}
	gateway.args = []string{"serve", "--listen", gateway.addr, "--store",
		"etcd://" + strings.Join(hosts, ",") + "/test"}
	gateway.kill()
	gateway.start()
	return all
}

func set(all []*proxy, mode int32) {
	for _, p := range all {
		p.set(mode)
	}
}

// TestAGatewayThatIsCutOffRefuses: it shows nothing old, serves no timestamps, and is back by
// itself.
func TestAGatewayThatIsCutOffRefuses(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	ctx := context.Background()
	for _, other := range c.gateways[1:] { // so that the first one takes the office
		other.kill()
	}
	proxies := c.proxied(t, c.gateways[0])
	for _, other := range c.gateways[1:] {
		other.start()
	}
	there, err := connect(ctx, c.gateways[1].addr)
	require.NoError(t, err)
	require.NoError(t, execute(there, "CREATE TABLE counter (n int)"))
	require.NoError(t, execute(there, "INSERT INTO counter VALUES (0)"))
	here, err := connect(ctx, c.gateways[0].addr)
	require.NoError(t, err)
	n := 0
	for _, mode := range []int32{cut, halfOpen} {
		require.Equal(t, n, counter(t, here))
		set(proxies, mode)
		n++
		require.NoError(t, execute(there, fmt.Sprintf("UPDATE counter SET n = %d", n)))
		for _, text := range []string{"SELECT n FROM counter", "UPDATE counter SET n = -1"} {
			begun := time.Now()
			err := execute(here, text)
			var pg *pgconn.PgError
			require.True(t, errors.As(err, &pg), "mode %d: %s: %v", mode, text, err)
			require.Equal(t, "57P03", pg.Code, "mode %d: %s: %v", mode, text, pg)
			t.Logf("mode %d: %s: refused after %s: %s", mode, text, time.Since(begun), pg.Message)
		}
		require.NoError(t, execute(there, "SELECT n FROM counter"))
		set(proxies, passing)
		require.Equal(t, n, counter(t, here), "once it reaches the store again")
	}
	require.NoError(t, here.Close(ctx))
	require.NoError(t, there.Close(ctx))
}

// counter reads it, as often as the gateway refuses to.
func counter(t *testing.T, conn *pgx.Conn) (n int) {
	for {
		err := conn.QueryRow(context.Background(), "SELECT n FROM counter").Scan(&n)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "57P03" {
			continue
		}
		require.NoError(t, err)
		return n
	}
}

// TestStoppedProcesses stops gateways, the one that serves timestamps too, for longer than all
// leases, and lets them go on.
func TestStoppedProcesses(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	l := startLoad(t, c)
	l.more(50)
	for round := range rounds(t, 1) {
		for _, v := range []*child{c.gateways[round%3], c.serving()} {
			v.signal(syscall.SIGSTOP)
			<-time.After(6 * time.Second)
			v.signal(syscall.SIGCONT)
			t.Logf("round %d: 20 commits after %s", round, l.more(20))
		}
	}
	l.finish(t)
}

// TestBadNetworks delays, cuts and half-opens what one gateway exchanges with the store, under
// load.
func TestBadNetworks(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	proxies := c.proxied(t, c.gateways[0])
	l := startLoad(t, c)
	l.more(50)
	for round := range rounds(t, 1) {
		for _, mode := range []int32{slow, cut, halfOpen} {
			set(proxies, mode)
			l.more(30)
			<-time.After(3 * time.Second)
			set(proxies, passing)
			t.Logf("round %d, mode %d: 30 commits after %s", round, mode, l.more(30))
		}
	}
	l.finish(t)
}

// TestTheStoreIsCompactedAndFull: snapshots are taken away all the time, and then the store takes
// no writes.
func TestTheStoreIsCompactedAndFull(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	l := startLoad(t, c)
	client, err := clientv3.New(clientv3.Config{Endpoints: c.clients})
	require.NoError(t, err)
	ctx := context.Background()
	for range 40 {
		got, err := client.Get(ctx, "x", clientv3.WithCountOnly())
		require.NoError(t, err)
		_, err = client.Compact(ctx, got.Header.Revision)
		require.NoError(t, err)
		l.more(5)
	}
	l.finish(t)

	conn, err := connect(ctx, c.gateways[0].addr)
	require.NoError(t, err)
	maintenance := pb.NewMaintenanceClient(client.ActiveConnection())
	member, err := client.Status(ctx, c.clients[0])
	require.NoError(t, err)
	alarm := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE,
		MemberID: member.Header.MemberId}
	_, err = maintenance.Alarm(ctx, alarm)
	require.NoError(t, err)
	var pg *pgconn.PgError
	require.ErrorAs(t, execute(conn, "INSERT INTO document VALUES ('full', 1000)"), &pg)
	require.Equal(t, "53100", pg.Code, "%v", pg)
	require.NoError(t, execute(conn, "SELECT count(*) FROM document"))
	alarm.Action = pb.AlarmRequest_DEACTIVATE
	_, err = maintenance.Alarm(ctx, alarm)
	require.NoError(t, err)
	require.NoError(t, execute(conn, "INSERT INTO document VALUES ('full', 1000)"))
	require.NoError(t, conn.Close(ctx))
	require.NoError(t, client.Close())
}
