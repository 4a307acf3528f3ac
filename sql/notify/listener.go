package notify

import (
	"slices"
	"sync/atomic"
)

// Listener is one session as a receiver. Its methods belong to the session's goroutine, except what
// the queue calls.
type Listener struct {
	q        *Queue
	database uint32
	pid      int32
	wake     func()

	channels  []string // under the queue's mutex, as next
	next      uint64   // the number of the first entry that was not taken
	listening atomic.Bool
}

// NewListener returns a listener without a channel. wake is called, from any goroutine and with no
// lock held, when there may be something to take.
func (q *Queue) NewListener(database uint32, pid int32, wake func()) *Listener {
	return &Listener{q: q, database: database, pid: pid, wake: wake}
}

// Listening reports whether it listens to a channel.
func (l *Listener) Listening() bool { return l != nil && l.listening.Load() }

// Channels are what it listens to, in the order in which it began to.
func (l *Listener) Channels() []string {
	if l == nil {
		return nil
	}
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	return slices.Clone(l.channels)
}

// Take returns the next messages, at most so many; more reports whether there may be others.
func (l *Listener) Take(most int) (out []Notification, more bool) {
	if !l.Listening() {
		return nil, false
	}
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	for ; l.next < q.end(); l.next++ {
		e := &q.entries[l.next-q.first]
		if e.database != l.database || !l.wants(message{channel: e.Channel}) {
			continue
		}
		if len(out) == most {
			more = true
			break
		}
		out = append(out, e.Notification)
	}
	q.trim()
	return out, more
}

// Listen adds channels at once, outside of any transaction.
func (l *Listener) Listen(channels ...string) {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	for _, c := range channels {
		l.apply([]action{{listen: true, channel: c}})
	}
}

// Close ends it.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	l.apply([]action{{}})
}

// apply does what a transaction decided.
func (l *Listener) apply(actions []action) {
	for _, a := range actions {
		switch {
		case a.listen && !slices.Contains(l.channels, a.channel):
			l.channels = append(l.channels, a.channel)
		case !a.listen && a.channel == "":
			l.channels = nil
		case !a.listen:
			l.channels = slices.DeleteFunc(l.channels,
				func(c string) bool { return c == a.channel })
		}
	}
	q := l.q
	_, known := q.listeners[l]
	switch {
	case len(l.channels) > 0 && !known:
		q.listeners[l] = struct{}{}
		l.next = q.end()
	case len(l.channels) == 0 && known:
		delete(q.listeners, l)
		q.trim()
	}
	l.listening.Store(len(l.channels) > 0)
}

// wants reports whether it listens to the message's channel.
func (l *Listener) wants(m message) bool { return slices.Contains(l.channels, m.channel) }
