package pgwire_test

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

// BenchmarkSelect is a prepared select of one row as pgbench sends it: Bind, Describe, Execute and
// Sync in one packet, and one packet for the answer. Client and server share the processors.
func BenchmarkSelect(b *testing.B) {
	s := start(b, sql.Options{})
	c := s.login(b, nil)
	c.send(&pgproto3.Query{String: "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t " +
		"SELECT i, i FROM generate_series(1, 1000) i"})
	c.until("ReadyForQuery")
	open := func(b *testing.B) (round func() error) {
		c := s.login(b, nil)
		c.send(&pgproto3.Parse{Name: "p", Query: "SELECT n FROM t WHERE id = $1"}, &pgproto3.Sync{})
		c.until("ReadyForQuery")
		packet := selectPacket(b)
		var in [1024]byte
		return func() error {
			if _, err := c.conn.Write(packet); err != nil {
				return err
			}
			return readUntilReady(c.conn, in[:])
		}
	}
	b.Run("1 client", func(b *testing.B) {
		round := open(b)
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, round())
		}
	})
	b.Run("8 clients", func(b *testing.B) {
		b.SetParallelism(4)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			round := open(b)
			for pb.Next() {
				if err := round(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

// selectPacket runs the prepared statement "p", as pgbench does it.
func selectPacket(t testing.TB) (packet []byte) {
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Bind{PreparedStatement: "p", Parameters: [][]byte{[]byte("77")},
			ResultFormatCodes: []int16{0}},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{},
	} {
		var err error
		packet, err = m.Encode(packet)
		require.NoError(t, err)
	}
	return packet
}

// readUntilReady reads messages, which must fit into buf, up to ReadyForQuery.
func readUntilReady(r io.Reader, buf []byte) error {
	have := 0
	for {
		n, err := r.Read(buf[have:])
		if err != nil {
			return err
		}
		have += n
		for at := 0; have-at >= 5; {
			size := 1 + int(binary.BigEndian.Uint32(buf[at+1:]))
			if at+size > have {
				break
			}
			if at += size; buf[at-size] == 'Z' {
				return nil
			}
		}
	}
}
