package ports

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFree(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		ports, err := Free(10)
		require.NoError(t, err)
		require.Len(t, ports, 10)
		for _, p := range ports {
			require.False(t, seen[p], "%d twice", p)
			seen[p] = true
			require.False(t, hold(p), "%d could be held by another process too", p)
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", p))
			require.NoError(t, err)
			require.NoError(t, l.Close())
		}
	}
}

func TestAPortInUseIsPassedOver(t *testing.T) {
	ports, err := Free(1)
	require.NoError(t, err)
	last := held.sockets[len(held.sockets)-1]
	held.sockets = held.sockets[:len(held.sockets)-1]
	require.NoError(t, last.Close())
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", ports[0]))
	require.NoError(t, err)
	require.False(t, hold(ports[0]))
	require.NoError(t, l.Close())
	require.True(t, hold(ports[0]))
}
