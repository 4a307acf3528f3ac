package compare

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// client is a connection that runs prepared statements with as little work as can be: what a client
// costs is the same on both sides, and hides what the servers cost.
type client struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

// connect opens a connection and prepares statements, which are named by their index.
func connect(ctx context.Context, url string, prepare []string) (*client, error) {
	pg, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	for i, sql := range prepare {
		if _, err := pg.Prepare(ctx, fmt.Sprint("s", i), sql, nil); err != nil {
			_ = pg.Close(ctx)
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
	}
	h, err := pg.Hijack()
	if err != nil {
		return nil, err
	}
	return &client{Conn: h.Conn, in: bufio.NewReaderSize(h.Conn, 16<<10)}, nil
}

// run executes a prepared statement with texts as parameters.
func (c *client) run(n int, params ...int) error {
	c.out = c.out[:0]
	c.message('B', func(b []byte) []byte {
		b = fmt.Appendf(append(b, 0), "s%d\x00", n)
		b = binary.BigEndian.AppendUint16(b, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(params)))
		for _, p := range params {
			at := len(b)
			b = fmt.Append(binary.BigEndian.AppendUint32(b, 0), p)
			binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
		}
		return binary.BigEndian.AppendUint16(b, 0)
	})
	c.message('E', func(b []byte) []byte { return append(b, 0, 0, 0, 0, 0) })
	c.message('S', func(b []byte) []byte { return b })
	return c.exchange()
}

// query sends a text in the simple protocol.
func (c *client) query(sql string) error {
	c.out = c.out[:0]
	c.message('Q', func(b []byte) []byte { return append(append(b, sql...), 0) })
	return c.exchange()
}

func (c *client) message(kind byte, body func([]byte) []byte) {
	at := len(c.out)
	c.out = body(append(c.out, kind, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(c.out[at+1:], uint32(len(c.out)-at-1))
}

// exchange sends what was written, and reads until the server is ready.
func (c *client) exchange() error {
	if _, err := c.Write(c.out); err != nil {
		return err
	}
	var failed error
	for {
		head, err := c.in.Peek(5)
		if err != nil {
			return err
		}
		kind, n := head[0], int(binary.BigEndian.Uint32(head[1:]))-4
		if _, err := c.in.Discard(5); err != nil {
			return err
		}
		if kind == 'E' {
			body := make([]byte, n)
			if _, err := io.ReadFull(c.in, body); err != nil {
				return err
			}
			failed = fmt.Errorf("the server answers %q", strings.Split(string(body), "\x00"))
		} else if _, err := c.in.Discard(n); err != nil {
			return err
		}
		if kind == 'Z' {
			return failed
		}
	}
}
