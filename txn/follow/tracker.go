package follow

import (
	"cmp"
	"sync"

	"github.com/minidb/minidb/txn"
)

// keysMax bounds what a Tracker remembers. What is beyond it is found in the store.
const keysMax = 100_000

// Tracker remembers the keys of a table that commits of this process have notified, so that the
// store need not be searched for them. Its methods may be called from any goroutine.
type Tracker struct {
	keysMax int // tests lower it; 0 means keysMax

	mu   sync.Mutex
	keys map[string]struct{}
	lost bool // the store has notifications of other keys, perhaps
}

// NewTracker returns one that knows nothing of the store yet.
func NewTracker() *Tracker { return &Tracker{keys: map[string]struct{}{}, lost: true} }

// Note adds the keys of a commit, or with nil some that the store has. It copies them, and never
// blocks for long: it is called by txn.Store.OnNotified.
func (k *Tracker) Note(keys [][]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = k.lost || keys == nil
	for _, key := range keys {
		k.add(string(key))
	}
}

// add adds a key, unless the store has to be searched anyway.
func (k *Tracker) add(key string) {
	switch {
	case k.lost:
		return
	case len(k.keys) >= cmp.Or(k.keysMax, keysMax):
		k.lost = true
	default:
		k.keys[key] = struct{}{}
		return
	}
	k.keys = map[string]struct{}{}
}

// Pending reports whether there may be notifications.
func (k *Tracker) Pending() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost || len(k.keys) > 0
}

// taken is what a Look has to consider.
type taken struct {
	keys map[string]struct{}
	lost bool
}

// take empties the tracker. Requires: the timestamp up to which the caller looks was drawn before.
func (k *Tracker) take(s *txn.Store, observer uint32) taken {
	under, known := s.Notifying(observer) // first: a commit leaves it when it is noted
	k.mu.Lock()
	defer k.mu.Unlock()
	// Memory hears nothing of the commits of other processes.
	t := taken{keys: k.keys, lost: k.lost || !known || s.Shared()}
	k.keys, k.lost = map[string]struct{}{}, false
	for _, key := range under {
		t.keys[string(key)] = struct{}{}
	}
	return t
}

// putBack returns what was taken, by a transaction that did not commit.
func (k *Tracker) putBack(t taken) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.lost {
		k.lost, k.keys = true, map[string]struct{}{}
	}
	for key := range t.keys {
		k.add(key)
	}
}
