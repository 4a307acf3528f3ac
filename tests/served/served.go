// Package served lets tests speak over the wire to a database of their own process, on a port that
// the kernel has chosen for the listener: InMemory and In open one, DB serves one that is open.
// tests/command has servers that are processes of their own.
package served

import (
	"net"
	"testing"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/txn"
)

// InMemory serves a database in memory until the test ends, and returns its URL.
func InMemory(t testing.TB) string {
	t.Helper()
	return serve(t, "", minidb.InMemory())
}

// In serves the database in a directory until the test ends, and returns its URL.
func In(t testing.TB, dir string) string {
	t.Helper()
	return serve(t, dir)
}

func serve(t testing.TB, dir string, opts ...minidb.Option) string {
	t.Helper()
	db, err := minidb.Open(dir, append(opts, minidb.OnStore(SmallSections))...)
	if err != nil {
		t.Fatalf("opening a database to serve: %v", err)
	}
	url, _ := DB(t, db)
	return url
}

// SmallSections has columns kept of the small tables of tests, too.
func SmallSections(o *txn.Options) { o.SectionRows = 8 }

// DB serves an open database and closes it when the test ends. It returns the URL at which clients
// connect, and a channel with what Serve returns, which is closed behind that.
func DB(t testing.TB, db *minidb.DB) (url string, ended <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening for clients: %v", err)
	}
	end := make(chan error, 1)
	go func() {
		end <- db.Serve(l)
		close(end)
	}()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing the database: %v", err)
		}
		if err := <-end; err != nil { // nil as well if the test has received it
			t.Errorf("serving clients: %v", err)
		}
	})
	return "postgres://postgres@" + l.Addr().String() + "/postgres?sslmode=disable", end
}
