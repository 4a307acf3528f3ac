package recipes

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/minidb/minidb"
)

// Export sends the rows of a table to a system outside, key by key as they change. T is what is
// sent of a row. Its fields are set before Open and not changed after it.
//
// A state that was sent may be sent again: when the answer was lost, and after a crash. Each comes
// with a number, and the receiver keeps the highest for each key and drops what has no higher one.
// Of a key that is gone it has to keep the number too, as long as a repetition may be under way.
type Export[T any] struct {
	// Observer says what is exported and by how many workers. Its Attempts are those of a key,
	// which is a dead letter after them; other keys go on.
	Observer minidb.Observer
	// Batch is how many keys are sent at once, at most: a hundred, unless it is set. As many as
	// there are workers wait for an answer.
	Batch int
	// Load makes what is sent of a row that is there, in the transaction of the run, so it may read
	// other tables as of the same snapshot. Nil leaves Item.Value as it is.
	Load func(ctx context.Context, tx *minidb.Tx, c minidb.Change) (T, error)
	// Send sends items, one for a key, and returns when all of them are safe outside. After an
	// error each is sent again alone. It is called by one goroutine at a time.
	Send func(ctx context.Context, items []Item[T]) error

	sender  chan struct{} // holds the right to call Send
	mu      sync.Mutex
	waiting []*sending[T]
}

// Item is the state of a key.
type Item[T any] struct {
	Key  []any
	Seq  int64 // higher for a newer state of the key
	Gone bool  // the row was deleted; Value is zero
	// Value is what Load made of the row.
	Value T
}

// sending is an item on its way.
type sending[T any] struct {
	item Item[T]
	done chan error
}

const exportBatch = 100

// Open registers the observer, which exports until ctx ends or the database is closed.
func (e *Export[T]) Open(ctx context.Context, db *minidb.DB) error {
	if e.Send == nil || e.Batch < 0 {
		return errors.New("recipes: an Export needs a Send, and no negative Batch")
	}
	if e.Batch == 0 {
		e.Batch = exportBatch
	}
	e.sender = make(chan struct{}, 1)
	return db.Observe(ctx, e.Observer, e.run)
}

// run returns when its key was sent: with others by whichever run has the right to send, or, if
// that has failed, alone.
func (e *Export[T]) run(ctx context.Context, tx *minidb.Tx, c minidb.Change) (err error) {
	s := &sending[T]{item: Item[T]{Key: c.Key, Seq: c.At, Gone: c.Row == nil},
		done: make(chan error, 1)}
	if c.Row != nil && e.Load != nil {
		if s.item.Value, err = e.Load(ctx, tx, c); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.waiting = append(e.waiting, s)
	e.mu.Unlock()
	for {
		select {
		case err := <-s.done:
			return e.alone(ctx, s, err)
		case <-ctx.Done():
			return ctx.Err()
		case e.sender <- struct{}{}:
		}
		e.sendWaiting(ctx)
		<-e.sender
	}
}

// sendWaiting sends what waits, at most a batch. Requires: the right to send.
func (e *Export[T]) sendWaiting(ctx context.Context) {
	e.mu.Lock()
	n := min(len(e.waiting), e.Batch)
	batch := slices.Clone(e.waiting[:n])
	e.waiting = slices.Delete(e.waiting, 0, n)
	e.mu.Unlock()
	if n == 0 {
		return
	}
	items := make([]Item[T], n)
	for i, s := range batch {
		items[i] = s.item
	}
	err := e.Send(ctx, items)
	for _, s := range batch {
		s.done <- err
	}
}

// alone sends again what could not be sent with others, so that one key fails and not all.
func (e *Export[T]) alone(ctx context.Context, s *sending[T], err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return errors.Join(ctx.Err(), err)
	case e.sender <- struct{}{}:
	}
	defer func() { <-e.sender }()
	return e.Send(ctx, []Item[T]{s.item})
}
