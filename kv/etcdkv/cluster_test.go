package etcdkv_test

import (
	"fmt"
	"net/url"
	"os"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/minidb/minidb/internal/ports"
)

// members are the addresses of the cluster's clients.
var members []string

func TestMain(m *testing.M) {
	stop, err := startCluster(3)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

// startCluster runs so many members in this process, on loopback.
func startCluster(n int) (stop func(), err error) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		return nil, err
	}
	free, err := ports.Free(2 * n)
	if err != nil {
		return nil, err
	}
	var configs []*embed.Config
	initial := ""
	for i := range n {
		c := embed.NewConfig()
		c.Name, c.Dir = fmt.Sprint("m", i), fmt.Sprint(dir, "/", i)
		c.LogLevel = "fatal"
		peer, client := at(free[2*i]), at(free[2*i+1])
		c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		initial += fmt.Sprintf(",%s=%s", c.Name, peer.String())
		configs = append(configs, c)
		members = append(members, client.Host)
	}
	var running []*embed.Etcd
	for _, c := range configs {
		c.InitialCluster = initial[1:]
		e, err := embed.StartEtcd(c)
		if err != nil {
			return nil, err
		}
		running = append(running, e)
	}
	for _, e := range running {
		select {
		case <-e.Server.ReadyNotify():
		case err := <-e.Err():
			return nil, err
		}
	}
	return func() {
		for _, e := range running {
			e.Close()
		}
		_ = os.RemoveAll(dir)
	}, nil
}

func at(port int) url.URL {
	return url.URL{Scheme: "http", Host: fmt.Sprint("127.0.0.1:", port)}
}
