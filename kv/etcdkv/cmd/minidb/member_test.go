package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// runMember runs a member of a cluster: its directory, its place, and the URLs of all peers and of
// all members for clients.
func runMember(args []string) error {
	dir, place := args[0], 0
	if _, err := fmt.Sscan(args[1], &place); err != nil {
		return err
	}
	peers, clients := strings.Split(args[2], ","), strings.Split(args[3], ",")
	c := embed.NewConfig()
	c.Name, c.Dir, c.LogLevel = name(place), dir, "fatal"
	c.UnsafeNoFsync = true // processes are killed, not machines
	// as docs/scaling.md has it
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, "2m"
	peer, err := url.Parse(peers[place])
	if err != nil {
		return err
	}
	client, err := url.Parse(clients[place])
	if err != nil {
		return err
	}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	var all []string
	for i, p := range peers {
		all = append(all, name(i)+"="+p)
	}
	c.InitialCluster = strings.Join(all, ",")
	e, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	select {
	case err = <-e.Err():
	case <-e.Server.StopNotify():
	}
	return err
}

func name(place int) string { return fmt.Sprint("m", place) }

// leader returns the place of the member that leads.
func (c *cluster) leader(t *testing.T) int {
	client, err := clientv3.New(clientv3.Config{Endpoints: c.clients})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	for {
		for i, at := range c.clients {
			s, err := client.Status(context.Background(), at)
			if err == nil && s.Leader == s.Header.MemberId {
				return i
			}
		}
	}
}
