package lease

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Wait is what a session publishes of a transaction that waits, for the wait-for graph of all
// processes that share a store. It has a cell of its own, which stays as it is while the wait goes
// on:
//
//	m wait/<start_ts, 16 hexadecimal digits>/<id, 16 hexadecimal digits>
//	  format 1, flags (01 searches, 02 stored), owner (8 bytes), uvarint from, mode (1 byte),
//	  uvarint place, uvarint client, uvarint length of key, key, uvarint length of statement,
//	  statement, blockers (8 bytes each)
type Wait struct {
	Waiter tso.Timestamp // by start_ts
	// ID is the wait's own among those of the session: the same transaction may wait again.
	ID uint64
	// Owner is the session.
	Owner uint64
	// From is a number of publications (Record.Published). Each one from it on means that the
	// waiter has checked once more, and found other transactions in the way.
	From uint64
	// Searches reports whether the waiter searches for cycles, and is the victim if it is the
	// youngest of one.
	Searches bool
	// Key, Mode, Client and Statement describe the wait; Mode is of package rowlock, None of a wait
	// for the lock of a commit. Place is the waiter's place in the queue of the row, zero for none.
	Key       []byte
	Mode      uint8
	Place     tso.Timestamp
	Client    uint64
	Statement string
	// Stored reports whether the blockers are to be read in the store: the transactions that hold
	// the key, or queue for it. For a wait in the memory of a process they are listed here, as far
	// as they wait themselves.
	Stored   bool
	Blockers []tso.Timestamp
}

const (
	waitPrefix         = "wait/"
	waitFormat    byte = 1
	flagSearches  byte = 1
	flagStored    byte = 2
	waitIDDigits       = "%016x"
	waitKeyDigits      = waitPrefix + waitIDDigits + "/"
)

func waitsOf(waiter tso.Timestamp) []byte {
	return mvcc.MetaKey(fmt.Sprintf(waitKeyDigits, uint64(waiter)))
}

// CellKey returns the key of the wait's cell.
func (w *Wait) CellKey() []byte { return fmt.Appendf(waitsOf(w.Waiter), waitIDDigits, w.ID) }

// Cell returns the value of the wait's cell.
func (w *Wait) Cell() []byte {
	flags := byte(0)
	if w.Searches {
		flags |= flagSearches
	}
	if w.Stored {
		flags |= flagStored
	}
	out := binary.BigEndian.AppendUint64([]byte{waitFormat, flags}, w.Owner)
	out = binary.AppendUvarint(out, w.From)
	out = binary.AppendUvarint(append(out, w.Mode), uint64(w.Place))
	out = binary.AppendUvarint(out, w.Client)
	out = append(binary.AppendUvarint(out, uint64(len(w.Key))), w.Key...)
	out = append(binary.AppendUvarint(out, uint64(len(w.Statement))), w.Statement...)
	for _, b := range w.Blockers {
		out = binary.BigEndian.AppendUint64(out, uint64(b))
	}
	return out
}

// waitReader decodes a cell; bad reports that it could not be decoded.
type waitReader struct {
	rest []byte
	bad  bool
}

func (r *waitReader) bytes(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return make([]byte, min(n, 8)) // zeroes, at most for one number: the cell is refused
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *waitReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *waitReader) fixed() uint64 { return binary.BigEndian.Uint64(r.bytes(8)) }

// decodeWait decodes a cell. The result shares nothing with it.
func decodeWait(key, value []byte) (w Wait, err error) {
	name, ok := bytes.CutPrefix(key, mvcc.MetaKey(waitPrefix))
	waiter, id, cut := bytes.Cut(name, []byte("/"))
	startTS, err1 := strconv.ParseUint(string(waiter), 16, 64)
	number, err2 := strconv.ParseUint(string(id), 16, 64)
	r := waitReader{rest: value, bad: !ok || !cut || err1 != nil || err2 != nil}
	head := r.bytes(2)
	r.bad = r.bad || head[0] != waitFormat
	w = Wait{
		Waiter: tso.Timestamp(startTS), ID: number, Owner: r.fixed(), From: r.uvarint(),
		Searches: head[1]&flagSearches != 0, Stored: head[1]&flagStored != 0, Mode: r.bytes(1)[0],
		Place: tso.Timestamp(r.uvarint()), Client: r.uvarint(),
	}
	w.Key = bytes.Clone(r.bytes(r.uvarint()))
	w.Statement = string(r.bytes(r.uvarint()))
	for len(r.rest) > 0 && !r.bad {
		w.Blockers = append(w.Blockers, tso.Timestamp(r.fixed()))
	}
	if r.bad {
		return Wait{}, fmt.Errorf("wait %q: bad cell %x: %w", key, value, kv.ErrCorruption)
	}
	return w, nil
}

// Waits looks up the waits of transactions in one state of the store.
type Waits struct {
	it kv.Iterator
	// from is where the last look-up ended: there is no wait between it and the iterator's key.
	from []byte
}

// NewWaits returns the waits that a reader shows. The caller closes them before the reader.
func NewWaits(ctx context.Context, r kv.Reader) (*Waits, error) {
	start := mvcc.MetaKey(waitPrefix)
	it, err := r.NewIter(ctx, kv.Span{Start: start, End: kv.PrefixEnd(start)})
	return &Waits{it: it}, err
}

// Close releases the iterator.
func (w *Waits) Close() error { return w.it.Close() }

// Of returns the waits of a transaction. Of many transactions in the order of start_ts, those that
// wait for nothing cost next to nothing.
func (w *Waits) Of(waiter tso.Timestamp) (out []Wait, err error) {
	prefix := waitsOf(waiter)
	passed := w.from != nil && bytes.Compare(w.from, prefix) <= 0 &&
		(!w.it.Valid() || bytes.Compare(prefix, w.it.Key()) <= 0)
	if !passed {
		w.it.SeekGE(prefix)
	}
	w.from = kv.PrefixEnd(prefix)
	for ; w.it.Valid() && bytes.HasPrefix(w.it.Key(), prefix); w.it.Next() {
		value, err := w.it.Value()
		if err != nil {
			return nil, err
		}
		x, err := decodeWait(w.it.Key(), value)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, w.it.Err()
}

// All calls visit with every wait.
func (w *Waits) All(visit func(Wait) error) error {
	w.from = nil
	for ok := w.it.First(); ok; ok = w.it.Next() {
		value, err := w.it.Value()
		if err != nil {
			return err
		}
		x, err := decodeWait(w.it.Key(), value)
		if err == nil {
			err = visit(x)
		}
		if err != nil {
			return errors.Join(err, w.it.Err())
		}
	}
	return w.it.Err()
}
