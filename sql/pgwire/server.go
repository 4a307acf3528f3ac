package pgwire

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/minidb/minidb/sql"
)

// startupTimeout bounds how long a client may take until its session begins.
const startupTimeout = time.Minute

// ErrServerClosed is what Serve returns after Shutdown or Close.
var ErrServerClosed = errors.New("pgwire: server closed")

// Server serves sessions of one engine. It may serve several listeners.
type Server struct {
	engine *sql.Engine
	log    *slog.Logger
	ctx    context.Context // ends when the server stops waiting for statements
	cancel context.CancelFunc

	mu struct {
		sync.Mutex
		listeners map[net.Listener]struct{}
		conns     map[*conn]struct{}
		draining  bool
	}
	wg sync.WaitGroup // one per connection
}

// NewServer returns a server; Serve makes it listen.
func NewServer(engine *sql.Engine) *Server {
	s := &Server{engine: engine, log: engine.Logger()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.mu.listeners = map[net.Listener]struct{}{}
	s.mu.conns = map[*conn]struct{}{}
	return s
}

// Serve accepts connections until the listener fails, or the server is closed: then it returns
// ErrServerClosed. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.mu.draining {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.mu.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.mu.listeners, l)
		s.mu.Unlock()
	}()
	for {
		nc, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			draining := s.mu.draining
			s.mu.Unlock()
			if draining {
				return ErrServerClosed
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				continue
			}
			return err
		}
		s.accept(nc)
	}
}

// accept starts a connection's goroutine.
func (s *Server) accept(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	// Twice the limit, so that those beyond it can be told so.
	if s.mu.draining || len(s.mu.conns) >= 2*s.engine.MaxConnections()+10 {
		s.mu.Unlock()
		nc.Close()
		return
	}
	s.mu.conns[c] = struct{}{}
	c.excess = len(s.mu.conns) > s.engine.MaxConnections()
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		defer func() {
			if r := recover(); r != nil {
				s.log.Error("connection ended by a panic", "client", nc.RemoteAddr().String(), "panic", r, "stack", string(debug.Stack()))
			}
			nc.Close()
			s.mu.Lock()
			delete(s.mu.conns, c)
			s.mu.Unlock()
		}()
		c.serve()
	}()
}

// Shutdown stops accepting, lets every session finish the statement that it runs, tells the clients,
// and returns when all are gone. When ctx ends first it cancels what is still running.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.mu.draining = true
	for l := range s.mu.listeners {
		l.Close()
	}
	for c := range s.mu.conns {
		c.drain()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		s.cancel()
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	s.mu.Lock()
	for c := range s.mu.conns {
		c.net.Close()
	}
	s.mu.Unlock()
	<-gone
	return ctx.Err()
}

// Close is Shutdown without patience.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *Server) draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.draining
}
