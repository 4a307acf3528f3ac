package elected

import (
	"context"
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

// question is one caller that waits for a timestamp.
type question struct {
	ctx    context.Context
	answer chan answer // has room for the one
}

type answer struct {
	ts  tso.Timestamp
	err error
}

// ask draws a timestamp with others in one request.
func (o *Oracle) ask(ctx context.Context) (tso.Timestamp, error) {
	q := question{ctx: ctx, answer: make(chan answer, 1)}
	select {
	case o.questions <- q:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-o.closed.Done():
		return 0, errClosed
	}
	select {
	case a := <-q.answer:
		return a.ts, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-o.closed.Done():
		return 0, errClosed
	}
}

// asker answers questions, one request after another: those that come while one is under way share
// the next. It is used by one goroutine.
type asker struct {
	o       *Oracle
	conn    net.Conn
	waiting []question
	// failing is when the first request failed since the last that was answered; nil: none did.
	failing *Moment
}

// run answers until ctx ends. When there is no question for a while it draws a timestamp that
// answers none, so as to know the store's time and that the holder is there.
func (a *asker) run(ctx context.Context) {
	defer a.hangUp()
	for ctx.Err() == nil {
		if len(a.waiting) == 0 {
			select {
			case q := <-a.o.questions:
				a.waiting = append(a.waiting, q)
			case <-time.After(a.o.term):
			case <-ctx.Done():
				return
			}
		}
		a.gather()
		first, err := a.request(ctx, max(len(a.waiting), 1))
		if err == nil {
			for i, q := range a.waiting {
				q.answer <- answer{ts: first + tso.Timestamp(i)}
			}
			a.waiting, a.failing = a.waiting[:0], nil
			continue
		}
		a.hangUp()
		a.drop(err)
		a.o.suspect()
		if wait.Pause(ctx, a.o.term/64) != nil {
			return
		}
	}
}

// gather takes the questions that have been asked.
func (a *asker) gather() {
	for len(a.waiting) < tso.MaxDraw {
		select {
		case q := <-a.o.questions:
			a.waiting = append(a.waiting, q)
		default:
			return
		}
	}
}

// drop takes out the questions whose callers have gone. It answers all of them once requests have
// failed for too long: so a statement of many draws fails as early as one of a single draw.
func (a *asker) drop(err error) {
	now, kept := a.o.now(), a.waiting[:0]
	if a.failing == nil {
		a.failing = &now
	}
	lost := now.most(*a.failing) > a.o.opts.Patience
	for _, q := range a.waiting {
		switch {
		case q.ctx.Err() != nil:
		case lost:
			q.answer <- answer{err: fmt.Errorf("%w, for more than %s: %v", tso.ErrUnavailable,
				a.o.opts.Patience, err)}
		default:
			kept = append(kept, q)
		}
	}
	clear(a.waiting[len(kept):])
	a.waiting = kept
}

// request draws n timestamps from the holder, which may be this process.
func (a *asker) request(ctx context.Context, n int) (first tso.Timestamp, err error) {
	if t := a.o.office.current(); t != nil {
		return t.draw(ctx, n)
	}
	if a.conn == nil {
		if err := a.call(ctx); err != nil {
			return 0, err
		}
	}
	conn := a.conn
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	sent := a.o.now()
	if err := a.conn.SetDeadline(time.Now().Add(a.o.term / 2)); err != nil {
		return 0, err
	}
	if _, err := a.conn.Write(binary.BigEndian.AppendUint32(nil, uint32(n))); err != nil {
		return 0, err
	}
	var b [8]byte
	if _, err := io.ReadFull(a.conn, b[:]); err != nil {
		return 0, err
	}
	if a.o.now().most(sent) >= a.o.term {
		return 0, errors.New("the answer took longer than a term")
	}
	first = tso.Timestamp(binary.BigEndian.Uint64(b[:]))
	a.o.note(first + tso.Timestamp(n) - 1)
	return first, nil
}

// call connects to the holder.
func (a *asker) call(ctx context.Context) (err error) {
	h := a.o.known.Load()
	if h == nil {
		return errors.New("no process serves timestamps yet")
	}
	limit, cancel := context.WithTimeout(ctx, a.o.term/2)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(limit, "tcp", h.address)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.Close()
		}
	}()
	if err := c.SetDeadline(time.Now().Add(a.o.term / 2)); err != nil {
		return err
	}
	conn := c
	if a.o.opts.TLS != nil {
		conf := a.o.opts.TLS.Clone()
		if conf.ServerName == "" {
			if conf.ServerName, _, err = net.SplitHostPort(h.address); err != nil {
				return err
			}
		}
		conn = tls.Client(c, conf)
	}
	if _, err := conn.Write(append([]byte(greeting), h.token[:]...)); err != nil {
		return err
	}
	var back [len(greeting)]byte
	if _, err := io.ReadFull(conn, back[:]); err != nil {
		return fmt.Errorf("%s does not serve timestamps: %w", h.address, err)
	}
	if string(back[:]) != greeting {
		return fmt.Errorf("%s does not serve timestamps", h.address)
	}
	a.conn = conn
	return nil
}

func (a *asker) hangUp() {
	if a.conn != nil {
		_ = a.conn.Close()
		a.conn = nil
	}
}
