package main

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy passes connections on to one address, until its mode changes.
type proxy struct {
	listener net.Listener
	to       string
	mode     atomic.Int32
	delay    time.Duration // of each piece that is passed on while slow

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// What a proxy does.
const (
	passing  int32 = iota
	slow           // pieces arrive late
	halfOpen       // connections stay and carry nothing
	cut            // connections are reset, new ones too
)

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, to: to, delay: 20 * time.Millisecond, conns: map[net.Conn]bool{}}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.set(cut)
		work.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// set changes what the proxy does from now on.
func (p *proxy) set(mode int32) {
	p.mode.Store(mode)
	if mode != cut {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// keep remembers a connection for as long as it is open; false: it may not be.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return p.mode.Load() != cut
}

func (p *proxy) forget(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *proxy) serve(near net.Conn) {
	defer p.forget(near)
	if !p.keep(near) {
		return
	}
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer p.forget(far)
	if !p.keep(far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pass(near, far) })
	p.pass(far, near)
	both.Wait()
}

// pass copies from one connection to the other until one of them ends.
func (p *proxy) pass(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		for p.mode.Load() == halfOpen {
			pause()
		}
		if p.mode.Load() == slow {
			<-time.After(p.delay)
		}
		if _, writeErr := to.Write(piece[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
