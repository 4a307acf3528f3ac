package main

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

const childRole = "MINIDB_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childRole) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestTheCommandOpensTiKV: it knows the scheme and its options, and says what it did not find.
func TestTheCommandOpensTiKV(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := l.Addr().String()
	require.NoError(t, l.Close())
	for url, want := range map[string]string{
		"tikv://" + at + "/app?compress=1": `unknown option "compress"`,
		"tikv://" + at + "/app":            "the store does not answer",
		"etcd://" + at + "/app":            "kv/etcdkv/cmd/minidb",
	} {
		cmd := exec.Command(os.Args[0], "check", "--store", url)
		cmd.Env = append(os.Environ(), childRole+"=minidb")
		out, err := cmd.CombinedOutput()
		require.Error(t, err, url)
		require.Contains(t, string(out), want)
	}
}
