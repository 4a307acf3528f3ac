package notify

import (
	"slices"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/txn/tso"
)

const (
	// maxBytes bounds the messages that are kept for listeners that have not taken them.
	maxBytes = 64 << 20
	// entryOverhead is what a message takes beside its text.
	entryOverhead = 64
)

// Notification is a message as a listener gets it.
type Notification struct {
	Channel, Payload string
	PID              int32 // of the session that sent it
}

// Queue is what senders and listeners of one server share. It is safe for concurrent use.
type Queue struct {
	mu        sync.Mutex
	published sync.Cond
	entries   []entry // that some listener has not taken yet, in order
	first     uint64  // the number of entries[0]
	bytes     int     // of entries, and of what is announced
	listeners map[*Listener]struct{}
	sendings  []*Sending
}

type entry struct {
	database uint32
	Notification
}

func (e *entry) size() int { return message{e.Channel, e.Payload}.size() }

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	q := &Queue{listeners: map[*Listener]struct{}{}}
	q.published.L = &q.mu
	return q
}

// Usage is how full the queue is, from 0 to 1.
func (q *Queue) Usage() float64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return float64(q.bytes) / maxBytes
}

// errFull refuses a sender.
func errFull() *sqlerr.Error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many notifications in the NOTIFY queue")
}

// Sender is the session that sends.
type Sender struct {
	Database uint32
	PID      int32
	// Listener is the session's own, which LISTEN and UNLISTEN change; nil for one that cannot
	// listen.
	Listener *Listener
}

// Sending is a transaction between its announcement and its end. A nil one does nothing.
type Sending struct {
	q      *Queue
	sender Sender
	what   Pending
	bytes  int           // reserved in the queue
	ts     tso.Timestamp // it commits above this one; once it has committed, at it
	state  sendingState
}

type sendingState uint8

const (
	announced sendingState = iota
	committed              // and waits for those that may have committed before
	done
)

// Announce comes before the commit of a transaction. after is a timestamp that was drawn from the
// oracle for this transaction, so it commits later. The caller calls Close in the end.
func (q *Queue) Announce(sender Sender, what Pending, after tso.Timestamp) (*Sending, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+what.bytes > maxBytes && len(what.messages) > 0 {
		err := errFull()
		if l := q.slowest(); l != nil {
			err = err.WithDetail("Session %d listens, and has not taken what came since it began "+
				"its transaction.", l.pid).
				WithHint("The queue can be emptied once that transaction ends.")
		}
		return nil, err
	}
	s := &Sending{q: q, sender: sender, what: what, bytes: what.bytes, ts: after}
	q.bytes += s.bytes
	q.sendings = append(q.sendings, s)
	return s, nil
}

// slowest is the listener for which the oldest message is kept.
func (q *Queue) slowest() *Listener {
	for l := range q.listeners {
		if l.next == q.first && len(q.entries) > 0 {
			return l
		}
	}
	return nil
}

// Committed records that the transaction is visible since ts; zero when it wrote nothing. From here
// on the session listens.
func (s *Sending) Committed(ts tso.Timestamp) {
	if s == nil {
		return
	}
	s.q.mu.Lock()
	if ts != 0 {
		s.ts = ts
	}
	s.state = committed
	if l := s.sender.Listener; l != nil {
		l.apply(s.what.actions)
	}
	woken := s.q.publish()
	s.q.mu.Unlock()
	wake(woken)
}

// Close drops what was not committed, and else returns when it is published. The caller holds
// nothing that another sender's commit could wait for.
func (s *Sending) Close() {
	if s == nil {
		return
	}
	s.q.mu.Lock()
	var woken []*Listener
	if s.state == announced {
		s.remove()
		woken = s.q.publish() // what waited for it
	}
	for s.state != done {
		s.q.published.Wait()
	}
	s.q.mu.Unlock()
	wake(woken)
}

// remove takes it off the list.
func (s *Sending) remove() {
	q := s.q
	q.sendings = slices.DeleteFunc(q.sendings, func(o *Sending) bool { return o == s })
	q.bytes -= s.bytes
	s.state = done
}

// publish appends, in the order of their timestamps, what no announced sender can come before (I2).
func (q *Queue) publish() (woken []*Listener) {
	for {
		var next *Sending
		for _, s := range q.sendings {
			if next == nil || s.ts < next.ts {
				next = s
			}
		}
		if next == nil || next.state == announced {
			return woken
		}
		next.remove()
		woken = append(woken, q.append(next)...)
		q.published.Broadcast()
	}
}

// append puts a transaction's messages in the queue, if there is a listener, and returns the
// listeners that want them. A listener that wants none of them, and has taken all before, moves
// past them at once.
func (q *Queue) append(s *Sending) (interested []*Listener) {
	from, end := q.end(), q.end()+uint64(len(s.what.messages))
	for l := range q.listeners {
		switch {
		case l.database == s.sender.Database && slices.ContainsFunc(s.what.messages, l.wants):
			interested = append(interested, l)
		case l.next == from:
			l.next = end
		}
	}
	for _, m := range s.what.messages {
		n := Notification{Channel: m.channel, Payload: m.payload, PID: s.sender.PID}
		e := entry{s.sender.Database, n}
		q.entries, q.bytes = append(q.entries, e), q.bytes+e.size()
	}
	q.trim()
	return interested
}

// end is the number of the next entry.
func (q *Queue) end() uint64 { return q.first + uint64(len(q.entries)) }

// trim removes what all listeners have taken.
func (q *Queue) trim() {
	low := q.end()
	for l := range q.listeners {
		low = min(low, l.next)
	}
	n := int(low - q.first)
	for i := range q.entries[:n] {
		q.bytes -= q.entries[i].size()
	}
	clear(q.entries[:n])
	if q.entries = q.entries[n:]; len(q.entries) == 0 {
		q.entries = nil
	}
	q.first = low
}

func wake(listeners []*Listener) {
	for _, l := range listeners {
		l.wake()
	}
}
