package rowlock

import (
	"sort"
	"strings"
	"sync/atomic"
	"time"
)

// Owner holds locks and waits for them: a session, whose transactions follow one another. It
// belongs to one goroutine at a time; its numbers may be read by others.
type Owner struct {
	table *Table
	id    int64

	// transaction is the number of the running transaction, for views of the table.
	transaction atomic.Uint64
	// patience orders the owners of a cycle: the least patient one is the victim.
	patience atomic.Int64

	// What the owner runs, for the owner alone. All locks of one statement share its text, which is
	// made when the first one is asked for.
	text      string
	statement *string

	// Locks of tables that are not in the table (relation.go).
	fast     [fastLocks]atomic.Uint64
	fastUsed int  // how many, for the owner alone
	known    bool // to the table, for good
	slow     bool // a weak lock went to the table, of which the fast slots know nothing

	waits WaitCounter
	// onLongWait observes waits, in the owner's goroutine.
	onLongWait func(LongWait)

	// The rest is guarded by the table's mutex.
	log     []grant // locks of the running transaction, oldest first
	granted uint32  // how many the log has got since its beginning
	session map[*entry]struct{}
	waiting *waiter
}

// grant is a step by which the transaction got a lock, or a stronger one.
type grant struct {
	entry *entry
	added modes
	at    uint32 // its number, which it keeps when others leave the log
}

// Mark is a point in a transaction's locks; 0 is its beginning.
type Mark int

// NewOwner returns an owner known by id.
func (t *Table) NewOwner(id int64) *Owner {
	return &Owner{table: t, id: id}
}

// ID is what the owner is known by.
func (o *Owner) ID() int64 { return o.id }

// SetTransaction numbers the owner's running transaction; 0 when there is none.
func (o *Owner) SetTransaction(n uint64) { o.transaction.Store(n) }

// Transaction returns the number that SetTransaction set.
func (o *Owner) Transaction() uint64 { return o.transaction.Load() }

// SetStatement sets the text of the statement for which the owner takes locks from now on. It
// belongs to the owner's goroutine.
func (o *Owner) SetStatement(text string) {
	if text != o.text {
		o.text, o.statement = text, nil
	}
}

// statementMax bounds the text of a statement that is kept with its locks, in bytes.
const statementMax = 1024

// running returns the text that the locks of the present statement share, or nil without one.
func (o *Owner) running() *string {
	if o.statement == nil && o.text != "" {
		text := o.text
		if len(text) > statementMax { // a copy, which does not keep the rest in memory
			text = strings.ToValidUTF8(strings.Clone(text[:statementMax]), "")
		}
		o.statement = &text
	}
	return o.statement
}

// SetPatience sets how long the owner would rather wait than be the victim of a deadlock. Among
// equals the owner whose request closes the cycle is the victim.
func (o *Owner) SetPatience(d time.Duration) { o.patience.Store(int64(d)) }

// Patience returns what SetPatience set, zero at first.
func (o *Owner) Patience() time.Duration { return time.Duration(o.patience.Load()) }

// Mark returns the present point in the transaction's locks, to which it can return.
func (o *Owner) Mark() Mark { return Mark(int(o.granted)*(fastLocks+1) + o.fastUsed) }

// Locks is the number of steps by which the running transaction got the locks that it has, but for
// those in fast slots.
func (o *Owner) Locks() int { return len(o.log) }

// ReleaseTo gives back what the transaction got since the mark. ReleaseTo(0) ends the transaction.
func (o *Owner) ReleaseTo(mark Mark) {
	granted, fast := uint32(int(mark)/(fastLocks+1)), int(mark)%(fastLocks+1)
	moved := o.releaseFast(fast)
	o.granted = min(o.granted, granted)
	log := sort.Search(len(o.log), func(i int) bool { return o.log[i].at >= granted })
	if len(o.log) == log && moved == nil {
		return
	}
	t := o.table
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseMoved(o, moved)
	for i := len(o.log) - 1; i >= log; i-- {
		g := o.log[i]
		if h := g.entry.holder(o); h != nil {
			h.txn &^= g.added
			t.settle(g.entry, h)
		}
		o.log[i] = grant{}
	}
	o.log = o.log[:log]
	if granted == 0 {
		o.slow = false
		if cap(o.log) > keptLog {
			o.log = nil
		}
	}
}

// ReleaseKeys gives back, before the transaction's end, its locks of the keys for which the
// function holds. If they are many, other owners have turns at the table in between. Earlier marks
// stay usable for the rest.
func (o *Owner) ReleaseKeys(which func(key string) bool) {
	var few [16]*entry
	kept, gone := o.log[:0], few[:0]
	for _, g := range o.log {
		if !g.entry.relation && which(g.entry.key) {
			gone = append(gone, g.entry)
		} else {
			kept = append(kept, g)
		}
	}
	clear(o.log[len(kept):])
	o.log = kept
	for len(gone) > 0 {
		n := min(len(gone), releasedAtOnce)
		o.table.release(o, gone[:n])
		gone = gone[n:]
	}
}

// releasedAtOnce bounds how many keys are given back before others have a turn at the table.
const releasedAtOnce = 1024

// release ends the transaction's hold of the entries.
func (t *Table) release(o *Owner, entries []*entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		if h := e.holder(o); h != nil && h.txn != 0 {
			h.txn = 0
			t.settle(e, h)
		}
	}
}

// keptLog bounds the memory that an idle owner keeps for its next transaction.
const keptLog = 1024

// Holds returns the strongest mode in which the owner holds the key.
func (o *Owner) Holds(key []byte) Mode {
	if o.table.n.Load() == 0 {
		return None
	}
	o.table.mu.Lock()
	defer o.table.mu.Unlock()
	if e := o.table.entries[object{key: string(key)}]; e != nil {
		if h := e.holder(o); h != nil {
			return h.held.strongest()
		}
	}
	return None
}

// Unlock gives back one session lock of the key in the mode; false when there is none.
func (o *Owner) Unlock(key []byte, mode Mode) bool {
	t := o.table
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[object{key: string(key)}]
	if e == nil {
		return false
	}
	h := e.holder(o)
	if h == nil || h.session == nil || h.session[mode] == 0 {
		return false
	}
	h.session[mode]--
	if !h.keeps() {
		delete(o.session, e)
	}
	t.settle(e, h)
	return true
}

// UnlockAll gives back all session locks.
func (o *Owner) UnlockAll() {
	t := o.table
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := range o.session {
		if h := e.holder(o); h != nil {
			h.session = nil
			t.settle(e, h)
		}
	}
	o.session = nil
}

// Close gives back everything; the owner is not used again.
func (o *Owner) Close() {
	o.ReleaseTo(0)
	o.UnlockAll()
	o.table.mu.Lock()
	defer o.table.mu.Unlock()
	delete(o.table.owners, o)
}
