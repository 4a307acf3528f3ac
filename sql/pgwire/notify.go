package pgwire

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgproto3/v2"
)

// alarm interrupts a connection that waits for its client's next message, and nothing else that it reads.
type alarm struct {
	mu      sync.Mutex
	net     net.Conn
	waiting bool
}

// ring may be called from any goroutine.
func (a *alarm) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting {
		_ = a.net.SetReadDeadline(time.Unix(1, 0))
	}
}

func (a *alarm) set(waiting bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = waiting
}

// notificationsAtOnce is how many are taken out of the queue at a time, notificationsInTurn how many
// before the client is heard.
const (
	notificationsAtOnce = 256
	notificationsInTurn = 1 << 16
)

// notifications appends what others have sent to the session.
func (c *conn) notifications() error {
	for given := 0; c.session.Listening() && given < notificationsInTurn; {
		batch, more := c.session.Notifications(notificationsAtOnce)
		for i := range batch {
			n := &batch[i]
			c.out.send(&pgproto3.NotificationResponse{PID: uint32(n.PID), Channel: n.Channel, Payload: n.Payload})
		}
		if err := c.out.full(); err != nil || !more {
			return err
		}
		given += len(batch)
	}
	return c.out.err
}

// await passes notifications on until the client says something, or the connection is to end: until is
// when the client has been silent for too long, zero for never.
func (c *conn) await(until time.Time) error {
	if !c.session.Listening() || c.skipping {
		return nil
	}
	for {
		c.alarm.set(true) // before the look: who sends after it rings
		err := errors.Join(c.notifications(), c.out.flush())
		if err == nil {
			err = c.in.wait()
		}
		c.alarm.set(false)
		_ = c.net.SetReadDeadline(until) // it may have rung since
		if c.server.draining() || c.session.Terminated() {
			return shutdownError()
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !until.IsZero() && !time.Now().Before(until) {
			return c.out.err // what else the network has to say is heard with the next message
		}
	}
}
