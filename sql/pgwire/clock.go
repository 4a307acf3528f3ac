package pgwire

import (
	"net"
	"sync"
	"time"
)

// past is a deadline that ends a read or a write at once.
var past = time.Unix(1, 0)

// clock sets the deadlines of a connection. The connection's goroutine bounds its own waits; ring,
// drain, end and interrupt may be called from any goroutine, and what they stop stays stopped: a
// later limit does not undo them.
type clock struct {
	net net.Conn

	mu struct {
		sync.Mutex
		waiting     bool // for the client's next message, of which nothing has come
		drained     bool // nothing is read any more
		ended       bool // and nothing written but a last message
		writes      int  // have begun
		writing     int  // the number of the write that is under way; 0: none is
		interrupted bool // it was
	}
}

// limit bounds reads from now on; a zero time bounds nothing.
func (k *clock) limit(until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.mu.drained {
		_ = k.net.SetReadDeadline(until)
	}
}

// wait notes that the connection waits for its client's next message: ring interrupts it.
func (k *clock) wait() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.waiting = true
}

// waited ends wait; the clock may have rung since, so the deadline is set again.
func (k *clock) waited(until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.waiting = false
	if !k.mu.drained {
		_ = k.net.SetReadDeadline(until)
	}
}

// ring interrupts a wait for the client's next message, and nothing else that is read.
func (k *clock) ring() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.waiting {
		_ = k.net.SetReadDeadline(past)
	}
}

// drain ends reading. A statement that runs goes on, and its rows are sent.
func (k *clock) drain() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.drained = true
	_ = k.net.SetReadDeadline(past)
}

// end ends reading and writing, also a write that waits for a client that does not read.
func (k *clock) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.drained, k.mu.ended = true, true
	_ = k.net.SetReadDeadline(past)
	k.stopWrite()
}

// beginWrite returns the number of a write that begins, or false when the connection is to end.
func (k *clock) beginWrite() (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.ended {
		return 0, false
	}
	k.mu.writes++
	k.mu.writing = k.mu.writes
	return k.mu.writing, true
}

// interrupt stops the write with that number, if it is still under way.
func (k *clock) interrupt(write int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.writing == write {
		k.stopWrite()
	}
}

func (k *clock) stopWrite() {
	if k.mu.writing != 0 {
		k.mu.interrupted = true
		_ = k.net.SetWriteDeadline(past)
	}
}

// endWrite reports whether the write was interrupted. The next one has no deadline.
func (k *clock) endWrite() (interrupted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	interrupted = k.mu.interrupted
	k.mu.writing, k.mu.interrupted = 0, false
	if interrupted {
		_ = k.net.SetWriteDeadline(time.Time{})
	}
	return interrupted
}

// lastWords gives the last message that long to leave, though the clock has ended.
func (k *clock) lastWords(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.ended = false
	_ = k.net.SetWriteDeadline(time.Now().Add(d))
}
