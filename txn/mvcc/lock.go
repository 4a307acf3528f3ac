package mvcc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Kind is what a lock will become and what a write record is. The letters are on disk.
type Kind byte

const (
	// KindPut: the key has a value.
	KindPut Kind = 'P'
	// KindDelete: the key has none.
	KindDelete Kind = 'D'
	// KindLock: the key was locked and not changed. Readers skip it, conflict checks see it.
	KindLock Kind = 'L'
	// KindRollback: the transaction that started at the record's timestamp is rolled back.
	KindRollback Kind = 'R'
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case KindPut:
		return "put"
	case KindDelete:
		return "delete"
	case KindLock:
		return "lock"
	case KindRollback:
		return "rollback"
	}
	return fmt.Sprintf("kind(%#x)", byte(k))
}

// Lock is the lock column of a key: a transaction has prewritten it and its status is its
// primary's.
type Lock struct {
	Kind    Kind
	StartTS tso.Timestamp
	// Primary is the user key whose lock decides.
	Primary []byte
	// TTLMillis is how long after StartTS's physical part the owner counts as alive.
	TTLMillis uint64
	// MinCommitTS, on the primary, is the lowest timestamp at which the transaction may commit:
	// readers push it above their own start_ts instead of waiting. With Async it is on every lock,
	// set once, and commit_ts is the highest of them.
	MinCommitTS tso.Timestamp
	// Deciding, on the primary, is set while the owner draws commit_ts and validates what it has
	// read: readers at or above MinCommitTS wait, and push no more.
	Deciding bool
	// Async is set for a transaction that is committed as soon as all its locks are there.
	// Secondaries, on the primary, are the user keys of the others.
	Async       bool
	Secondaries [][]byte
	// Owner is the session (package lease) that wrote the lock. Zero is no session: then the time
	// to live alone decides whether the owner lives.
	Owner uint64
	// Client and Statement, on the primary, are shown to clients that wait for the lock: the
	// owner's client, by the owner's own number for it, and what that runs, at most StatementMax
	// bytes.
	Client    uint64
	Statement string
	// Seq and Older are for a return to a savepoint, and mean nothing to other transactions: the
	// number of the write in its transaction, and the writes of the key below it that may come
	// back, the newest first.
	Seq   uint64
	Older []OlderWrite
	// Notified reports whether the transaction has notifications on the row (notify.go). What
	// becomes of the lock becomes of them.
	Notified bool
	// Short is the value when it is inlined; HasShort distinguishes an empty value from none.
	Short    []byte
	HasShort bool
}

// OlderWrite is a write of a key over which the same transaction has written. The kind lock is that
// of none.
type OlderWrite struct {
	Seq   uint64
	Kind  Kind
	Value []byte // of a put
}

// The first byte of an encoded lock. The second format has an extension after the primary.
const (
	lockFormat         byte = 1
	lockFormatExtended byte = 2
)

// appendTo appends the encoding:
//
//	format, kind, start_ts (8 bytes), uvarint TTL, uvarint min commit_ts,
//	uvarint length of primary, primary, [extension], 0 or 1 for an inlined value, value
func (l *Lock) appendTo(dst []byte) []byte {
	format := lockFormat
	if l.extended() {
		format = lockFormatExtended
	}
	dst = append(dst, format, byte(l.Kind))
	dst = binary.BigEndian.AppendUint64(dst, uint64(l.StartTS))
	dst = binary.AppendUvarint(dst, l.TTLMillis)
	dst = binary.AppendUvarint(dst, uint64(l.MinCommitTS))
	dst = binary.AppendUvarint(dst, uint64(len(l.Primary)))
	dst = append(dst, l.Primary...)
	if format == lockFormatExtended {
		dst = l.appendExtension(dst)
	}
	if !l.HasShort {
		return append(dst, 0)
	}
	return append(append(dst, 1), l.Short...)
}

// decodeLock decodes; the slices of the result alias value.
func decodeLock(value []byte) (Lock, error) {
	bad := func() (Lock, error) {
		return Lock{}, fmt.Errorf("mvcc: bad lock %x: %w", value, kv.ErrCorruption)
	}
	if len(value) < 2+8 || value[0] != lockFormat && value[0] != lockFormatExtended {
		return bad()
	}
	l := Lock{Kind: Kind(value[1]), StartTS: tso.Timestamp(binary.BigEndian.Uint64(value[2:]))}
	if l.Kind != KindPut && l.Kind != KindDelete && l.Kind != KindLock {
		return bad()
	}
	rest := value[10:]
	var fields [3]uint64
	for i := range fields {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return bad()
		}
		fields[i], rest = v, rest[n:]
	}
	l.TTLMillis, l.MinCommitTS = fields[0], tso.Timestamp(fields[1])
	if fields[2] >= uint64(len(rest)) {
		return bad()
	}
	n := int(fields[2])
	l.Primary, rest = rest[:n:n], rest[n:]
	if value[0] == lockFormatExtended {
		var ok bool
		if rest, ok = l.decodeExtension(rest); !ok {
			return bad()
		}
	}
	switch {
	case rest[0] == 1:
		l.HasShort, l.Short = true, rest[1:]
	case rest[0] != 0 || len(rest) != 1:
		return bad()
	}
	return l, nil
}

// clone returns a copy that shares nothing.
func (l Lock) clone() Lock {
	l.Primary = bytes.Clone(l.Primary)
	l.Short = bytes.Clone(l.Short)
	if l.Secondaries != nil {
		out := make([][]byte, len(l.Secondaries))
		for i, k := range l.Secondaries {
			out[i] = append([]byte{}, k...)
		}
		l.Secondaries = out
	}
	l.Older = slices.Clone(l.Older)
	for i := range l.Older {
		l.Older[i].Value = bytes.Clone(l.Older[i].Value)
	}
	return l
}

// Expired reports whether the time to live is over at the time now, which is the oracle's.
func (l *Lock) Expired(now tso.Timestamp) bool {
	return now.Physical() >= l.StartTS.Physical()+int64(l.TTLMillis)
}

// blocks reports whether a reader at startTS has to know the status of the lock's transaction. key
// is the user key that the lock is on. ignored has transactions that the reader knows not to
// concern it.
func (l *Lock) blocks(key []byte, startTS tso.Timestamp, ignored map[tso.Timestamp]struct{}) bool {
	if l.Kind == KindLock || l.StartTS > startTS {
		return false
	}
	if l.MinCommitTS > startTS && (l.Async || bytes.Equal(l.Primary, key)) {
		// it cannot commit at or below startTS; unless async, only the primary's word counts
		return false
	}
	_, known := ignored[l.StartTS]
	return !known
}
