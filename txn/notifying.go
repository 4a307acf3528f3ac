package txn

import (
	"bytes"
	"errors"
	"sync"

	"github.com/minidb/minidb/txn/buffer"
)

// notifying lists the commits under way that leave notifications, with the keys. A commit is in it
// before its timestamp is drawn, and until the function of OnNotified has been called with its
// keys. So a caller that has drawn a timestamp, and then looks here, and then at what that function
// was called with, has the key of each notification that is stamped at or below the timestamp.
type notifying struct {
	sync.Mutex
	commits map[*noted]struct{}
}

// noted is what a commit notifies.
type noted struct {
	keys map[uint32][][]byte // by observer
	all  bool                // keys of any observer, which are in the store and not in memory
}

// noted returns what the commit of the transaction notifies, nil for nothing.
func (t *Txn) noted() *noted {
	if t.s.notified == nil || !t.buf.Noted() || !t.dirty() {
		return nil
	}
	if t.stream != nil {
		return &noted{all: true}
	}
	n := &noted{keys: map[uint32][][]byte{}}
	t.buf.Each(func(w buffer.Write) bool {
		for _, note := range w.Notes() {
			n.keys[note.Observer] = append(n.keys[note.Observer], w.Key)
		}
		return true
	})
	return n
}

// commitNotifying runs a commit, and then wakes the observers that it may have notified: also when
// the result is unknown.
func (t *Txn) commitNotifying(commit func() error) error {
	n := t.noted()
	if n == nil {
		err := commit()
		t.wakeObservers(nil, err)
		return err
	}
	l := &t.s.notifying
	l.Lock()
	if l.commits == nil {
		l.commits = map[*noted]struct{}{}
	}
	l.commits[n] = struct{}{}
	l.Unlock()
	defer func() {
		l.Lock()
		defer l.Unlock()
		delete(l.commits, n)
	}()
	err := commit()
	t.wakeObservers(n, err)
	return err
}

// wakeObservers follows a commit, also one of which the result is unknown.
func (t *Txn) wakeObservers(n *noted, err error) {
	if t.s.notified == nil || err != nil && !errors.Is(err, ErrAmbiguous) {
		return
	}
	for _, o := range t.woken {
		t.s.notified(o, nil)
	}
	switch {
	case n == nil:
	case n.all:
		t.s.notified(0, nil)
	default:
		for o, of := range n.keys {
			if len(of) > wokenKeys {
				of = nil
			}
			t.s.notified(o, of)
		}
	}
}

// Notifying returns the keys of which commits under way notify an observer. known is false if there
// are such commits whose keys memory does not hold: the store has them, with or without a stamp.
func (s *Store) Notifying(observer uint32) (keys [][]byte, known bool) {
	l := &s.notifying
	l.Lock()
	defer l.Unlock()
	known = true
	for n := range l.commits {
		known = known && !n.all
		for _, key := range n.keys[observer] {
			// its transaction may end, and use the memory again
			keys = append(keys, bytes.Clone(key))
		}
	}
	return keys, known
}
