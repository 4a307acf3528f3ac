package shell

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pipe is a listener whose connections never leave the process: a database that serves on it can be
// spoken to with a PostgreSQL client without a port.
type Pipe struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewPipe returns a listener without connections.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept waits for a Dial.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept; connections live on.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr is a loopback address, because only this process can reach the pipe.
func (p *Pipe) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// Dial connects to the pipe's listener.
func (p *Pipe) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, errors.New("the database is closed")
	}
}

// Connect opens a connection over the pipe as user to a database.
func (p *Pipe) Connect(ctx context.Context, database string,
	notices pgconn.NoticeHandler) (*pgconn.PgConn, error) {
	cfg, err := pgconn.ParseConfig("host=127.0.0.1 sslmode=disable user=minidb")
	if err != nil {
		return nil, err
	}
	cfg.Database, cfg.DialFunc, cfg.OnNotice = database, p.Dial, notices
	cfg.Fallbacks = nil
	return pgconn.ConnectConfig(ctx, cfg)
}
