package cli

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServeNotifiesTheServiceManager: it is ready once clients can connect, and says so when it
// begins to drain.
func TestServeNotifiesTheServiceManager(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // a socket's path is short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	socket := filepath.Join(dir, "s")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer func() { require.NoError(t, manager.Close()) }()
	received := func() string {
		text := make([]byte, 100)
		n, err := manager.Read(text)
		require.NoError(t, err)
		return string(text[:n])
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	at, _, end := serving(t, "--in-memory")
	require.Equal(t, "READY=1", received())
	conn, err := net.Dial("tcp", at)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	end()
	require.Equal(t, "STOPPING=1", received())
}

// TestAServerWithoutItsServiceManagerServes, and warns.
func TestAServerWithoutItsServiceManagerServes(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	_, printed, end := serving(t, "--in-memory")
	end()
	require.Contains(t, printed(), "the service manager cannot be notified")
}
