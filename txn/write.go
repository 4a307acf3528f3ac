package txn

import (
	"fmt"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Set buffers a write of key.
func (t *Txn) Set(key, value []byte) error {
	if t.aside(key) {
		return t.putBeside(key, value, (*Txn).Set)
	}
	if err := t.takes(key, value); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.Set(key, value)
	return t.afterWrite()
}

// SetNew is Set of a key that the caller knows to have no value where the transaction reads,
// because of another key that it writes with it: an entry of a new row, whose row key it locks or
// inserts. Unlike Insert it makes Commit check nothing more. If the transaction deletes the key
// again, it leaves no trace of it, and no conflict for the next writer of the key.
func (t *Txn) SetNew(key, value []byte) error {
	if t.aside(key) {
		return t.putBeside(key, value, (*Txn).SetNew)
	}
	if err := t.takes(key, value); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.SetNew(key, value)
	return t.afterWrite()
}

// Insert is Set of a key that has no value: Commit fails with *AlreadyExistsError if it has one.
func (t *Txn) Insert(key, value []byte) error {
	if t.aside(key) {
		return t.putBeside(key, value, (*Txn).Insert)
	}
	if err := t.takes(key, value); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.Insert(key, value)
	return t.afterWrite()
}

// InsertAfter is Insert of a key that the transaction has locked and found removed at a timestamp
// above the one at which it reads: no write up to that one is a conflict.
func (t *Txn) InsertAfter(removed tso.Timestamp, key, value []byte) error {
	if t.aside(key) {
		return t.putBeside(key, value, (*Txn).Insert)
	}
	if err := t.takes(key, value); err != nil {
		return err
	}
	if t.node != nil {
		if err := t.node.Overwrite(key); err != nil {
			return err
		}
	}
	if err := t.faultIn(key); err != nil {
		return err
	}
	t.buf.InsertAfter(removed, key, value)
	return t.afterWrite()
}

// SetAfter is Set of a key for which no write of others up to a timestamp is a conflict, whatever
// the transaction has read of it. Requires: Buffered(key), and the transaction is not serializable.
func (t *Txn) SetAfter(since tso.Timestamp, key, value []byte) error {
	if t.aside(key) {
		return t.putBeside(key, value, (*Txn).Set)
	}
	if err := t.takes(key, value); err != nil {
		return err
	}
	t.buf.SetAfter(since, key, value)
	return t.afterWrite()
}

// Delete buffers the removal of key; an absent key is no error.
func (t *Txn) Delete(key []byte) error {
	if t.aside(key) {
		c, err := t.besideWrite()
		if err != nil {
			return err
		}
		return c.Delete(key)
	}
	if err := t.writable(); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.Delete(key)
	return t.afterWrite()
}

// CountIn makes an account count the buffered writes. It belongs to the transaction's goroutine,
// and is given everything back when the transaction has ended.
func (t *Txn) CountIn(a *memory.Account) {
	t.counted.account = a
	if t.companion != nil {
		t.companion.CountIn(a)
	}
}

func (t *Txn) writable() error {
	switch {
	case t.done:
		return ErrTxnDone
	case t.readOnly:
		return ErrReadOnly
	case t.footprint() > t.s.opts.MaxTxnBytes:
		return ErrTooLarge
	}
	t.wrote = t.waiter.Statement
	if !t.reg.wrote.Load() {
		t.reg.wrote.Store(true)
	}
	return nil
}

// rowLockBytes is about what a row lock in memory takes: an entry of the lock table, its place in
// the table's map, and one in its owner's log.
const rowLockBytes = 256

// footprint is about how much memory the transaction takes: its writes and its row locks.
func (t *Txn) footprint() int {
	n := t.buf.Held()
	if o := t.waiter.Owner; o != nil {
		n += rowLockBytes * o.Locks()
	}
	return n
}

// takes is writable, and returns kv.ErrTooLarge for a value that goes into no update of the engine.
func (t *Txn) takes(key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	l := t.s.limits
	if l.Value == 0 && l.Bytes == 0 {
		return nil
	}
	_, bytes := mvcc.MostWritten(&mvcc.Mutation{Row: mvcc.Row(key), Value: value}, key)
	if l.Value != 0 && len(value)+mvcc.ValueOverhead > l.Value || !l.Holds(1, 0, bytes) {
		return fmt.Errorf("%w: key and value have %d bytes", kv.ErrTooLarge, len(key)+len(value))
	}
	return nil
}

// announce is called before every write of a key.
func (t *Txn) announce(key []byte) error {
	if t.node != nil {
		if err := t.node.Write(key); err != nil {
			return err
		}
	}
	return t.faultIn(key)
}
