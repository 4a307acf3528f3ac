package clients

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// serve starts minidb in memory on a free port and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	db, err := minidb.Open("", minidb.InMemory())
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- db.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, db.Close())
		<-served
	})
	return fmt.Sprintf("postgres://tester@%s/postgres?sslmode=disable", l.Addr())
}

func background(t *testing.T) context.Context {
	t.Helper()
	return t.Context()
}
