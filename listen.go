package minidb

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/sql/notify"
)

// Notification is a message that NOTIFY or pg_notify() sent.
type Notification struct {
	Channel, Payload string
	// PID is the number of the session that sent it, as pg_backend_pid() returns there.
	PID int32
}

// Listener receives what is sent to some channels of a database. It is for one goroutine.
type Listener struct {
	db    *DB
	queue *notify.Listener
	rung  chan struct{}
}

// Listen subscribes to channels of the handle's database: from its return on, every notification of
// a transaction that commits is received, in the order of the commits. Names are as they are
// stored: unquoted in SQL they are lower case. The caller closes the Listener; one that is not read
// makes NOTIFY fail in the end (54000), since nothing is dropped.
func (db *DB) Listen(ctx context.Context, channels ...string) (*Listener, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.mu.closed {
		return nil, ErrClosed
	}
	l := &Listener{db: db, rung: make(chan struct{}, 1)}
	queue, err := db.sql.Listen(ctx, db.opts.database, l.ring, channels...)
	if err != nil {
		return nil, fmt.Errorf("minidb: listen: %w", err)
	}
	l.queue = queue
	return l, nil
}

func (l *Listener) ring() {
	select {
	case l.rung <- struct{}{}:
	default: // it is rung already
	}
}

// Next waits for the next notification, until ctx ends.
func (l *Listener) Next(ctx context.Context) (Notification, error) {
	for {
		if got, _ := l.queue.Take(1); len(got) > 0 {
			return Notification(got[0]), nil
		}
		select {
		case <-l.rung:
		case <-l.db.gone:
			return Notification{}, ErrClosed
		case <-ctx.Done():
			return Notification{}, context.Cause(ctx)
		}
	}
}

// Close ends the subscription.
func (l *Listener) Close() error {
	l.queue.Close()
	return nil
}
