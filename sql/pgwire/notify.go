package pgwire

import (
	"errors"
	"os"
	"time"

	"github.com/jackc/pgproto3/v2"
)

// notificationsAtOnce is how many are taken out of the queue at a time, notificationsInTurn how
// many before the client is heard.
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
			c.out.send(&pgproto3.NotificationResponse{PID: uint32(n.PID), Channel: n.Channel,
				Payload: n.Payload})
		}
		if err := c.out.full(); err != nil || !more {
			return err
		}
		given += len(batch)
	}
	return c.out.err
}

// await passes notifications on until the client says something, or the connection is to end: until
// is when the client has been silent for too long, zero for never.
func (c *conn) await(until time.Time) error {
	if !c.session.Listening() || c.skipping {
		return nil
	}
	for {
		c.clock.wait() // before the check: a message sent after it rings
		err := errors.Join(c.notifications(), c.out.flush())
		if err == nil {
			err = c.in.wait()
		}
		c.clock.waited(until)
		if c.closing() {
			return shutdownError()
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !until.IsZero() && !time.Now().Before(until) {
			return c.out.err // what else the network has to say is heard with the next message
		}
	}
}
