package pgwire

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/minidb/minidb/sql"
)

// limits bound how long a client may take.
type limits struct {
	startup  time.Duration // until its session begins
	message  time.Duration // for the next piece of a message that it has begun
	farewell time.Duration // to take the message that ends its connection
	overtake time.Duration // by which a CancelRequest may come before its statement
}

var defaultLimits = limits{startup: sql.StartupLimit, message: time.Minute,
	farewell: 5 * time.Second, overtake: 20 * time.Millisecond}

// ErrServerClosed is what Serve returns after Shutdown or Close.
var ErrServerClosed = errors.New("pgwire: server closed")

// Server serves sessions of one engine. It may serve several listeners.
type Server struct {
	engine *sql.Engine
	log    *slog.Logger
	ctx    context.Context // ends when the server stops waiting for statements
	cancel context.CancelFunc
	limits limits

	access   atomic.Pointer[Access]
	attempts *attempts

	draining atomic.Bool // set under mu, once: every message asks

	slow, dropped repeated // connections that did not send a start-up packet
	failed        repeated // connections whose TLS handshake failed
	refused       [refusedReasons]atomic.Int64
	stopping      chan struct{}

	mu struct {
		sync.Mutex
		listeners map[net.Listener]struct{}
		conns     map[*conn]struct{}
		silent    []*conn // the oldest first; their slot is silent
		sessions  int     // connections whose slot is inSession
		draining  bool
	}
	wg sync.WaitGroup // one per connection
}

// NewServer returns a server; Serve makes it listen.
func NewServer(engine *sql.Engine) *Server {
	s := &Server{engine: engine, log: engine.Logger(), limits: defaultLimits,
		stopping: make(chan struct{}), attempts: newAttempts()}
	s.slow.to, s.dropped.to, s.failed.to = s.log, s.log, s.log
	s.access.Store(loopback())
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
	if s.draining.Load() {
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
	return s.acceptAll(l)
}

// acceptAll accepts connections for as long as the listener gives any. When the process has no
// descriptors left it waits, longer each time, until some are given back.
func (s *Server) acceptAll(l net.Listener) error {
	const first, longest = 5 * time.Millisecond, time.Second
	for pause := first; ; {
		nc, err := l.Accept()
		switch {
		case err == nil:
			if pause > first {
				s.log.Info("connections are accepted again")
			}
			pause = first
			s.accept(nc)
			continue
		case s.draining.Load():
			return ErrServerClosed
		case outOfDescriptors(err):
			if pause == first {
				s.log.Warn("no connections are accepted until descriptors or memory are free",
					"error", err)
			}
			s.mu.Lock()
			s.dropSilent()
			s.mu.Unlock()
		default:
			var ne net.Error
			if !errors.As(err, &ne) || !ne.Timeout() {
				return err
			}
		}
		select {
		case <-time.After(pause):
		case <-s.stopping:
		}
		pause = min(2*pause, longest)
	}
}

// outOfDescriptors reports whether Accept failed for want of something that will be given back.
func outOfDescriptors(err error) bool {
	for _, lack := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS,
		syscall.ENOMEM} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

// accept starts a connection's goroutine.
func (s *Server) accept(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		nc.Close()
		return
	}
	s.add(c)
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		defer func() {
			if r := recover(); r != nil {
				s.log.Error("connection ended by a panic", "client", nc.RemoteAddr().String(),
					"panic", r, "stack", string(debug.Stack()))
			}
			s.remove(c) // first: a client that sees the end may come again at once
			c.hangUp()
			c.in.close()
		}()
		c.serve()
	}()
}

// Shutdown stops accepting, lets every session finish the statement that it runs, sends the clients
// an error, and returns nil when all are gone. When ctx ends first it cancels what is still
// running, sends those clients the error too, and returns ctx's error once all are gone.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.draining.Swap(true) {
		close(s.stopping)
	}
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
	defer s.cancel()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	s.each((*conn).terminate)
	farewell := time.NewTimer(2 * s.limits.farewell)
	defer farewell.Stop()
	select {
	case <-gone:
	case <-farewell.C:
		s.each(func(c *conn) { c.net.Close() })
		s.cancel()
		<-gone
	}
	return ctx.Err()
}

func (s *Server) each(f func(c *conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.conns {
		f(c)
	}
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
