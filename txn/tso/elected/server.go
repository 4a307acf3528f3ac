package elected

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

const (
	greeting = "tso1"
	// mostConnections bounds the clients of one holder: each gateway has one connection.
	mostConnections = 4096
	// helloTime is how long a client may take to say its token.
	helloTime = 5 * time.Second
)

// accept serves clients until the listener is closed.
func (o *Oracle) accept(ctx context.Context) {
	slots := make(chan struct{}, mostConnections)
	for {
		c, err := o.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			o.office.log.Warn("timestamps: accept", "err", err)
			if wait.Pause(ctx, o.term/8) != nil {
				return
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = c.Close()
			continue
		}
		o.work.Go(func() {
			defer func() { <-slots }()
			if err := o.serve(ctx, c); err != nil && ctx.Err() == nil {
				o.office.log.Debug("timestamps: client", "at", c.RemoteAddr(), "err", err)
			}
		})
	}
}

// serve answers one client until it leaves or the tenure ends.
func (o *Oracle) serve(ctx context.Context, c net.Conn) error {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return err
	}
	if o.opts.TLS != nil {
		c = tls.Server(c, o.opts.TLS)
	}
	var hello [len(greeting) + tokenLen]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return err
	}
	t := o.office.current()
	if t == nil || subtle.ConstantTimeCompare(hello[:],
		append([]byte(greeting), t.self.token[:]...)) != 1 {
		return errors.New("asks for another oracle")
	}
	defer context.AfterFunc(t.ended, func() { _ = c.Close() })()
	if _, err := c.Write([]byte(greeting)); err != nil {
		return err
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	for {
		if err := o.answer(t, c); err != nil {
			return err
		}
	}
}

// answer reads one request and answers it.
func (o *Oracle) answer(t *tenure, c net.Conn) error {
	var ask [4]byte
	if _, err := io.ReadFull(c, ask[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(ask[:])
	if n == 0 || n > tso.MaxDraw {
		return fmt.Errorf("asks for %d timestamps", n)
	}
	first, err := t.draw(t.ended, int(n))
	if err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(helloTime)); err != nil {
		return err
	}
	_, err = c.Write(binary.BigEndian.AppendUint64(nil, uint64(first)))
	return err
}
