package mvcc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Note is what a write of a key leaves for one of its observers (Percolator, §2.4).
type Note struct {
	Observer uint32
	// Old is the value that the transaction found; HasOld distinguishes an empty value from none.
	Old    []byte
	HasOld bool
	// Origin is the commit_ts of the change from outside that led here through other observers, and
	// Generation the number of their runs in between. Both are zero for a change from outside.
	Origin     tso.Timestamp
	Generation uint32
	// Path has the observers of the last of these runs.
	Path Path
}

// Path is a list of observers, the last one last, 4 bytes each.
type Path string

// pathMax bounds it.
const pathMax = 8

// Then returns the path with a further observer at its end, and without what is too long ago.
func (p Path) Then(observer uint32) Path {
	p += Path(binary.BigEndian.AppendUint32(nil, observer))
	return p[max(0, len(p)-4*pathMax):]
}

// Observers lists the observers.
func (p Path) Observers() (ids []uint32) {
	for b := []byte(p); len(b) >= 4; b = b[4:] {
		ids = append(ids, binary.BigEndian.Uint32(b))
	}
	return ids
}

// Notification is a cell of the notify column: a transaction has written the row, and an observer
// has perhaps not seen that yet. Each transaction that writes the row leaves a cell of its own, so
// none of them reads the column, and none conflicts with another one or with an observer there.
type Notification struct {
	Note
	StartTS tso.Timestamp // of the transaction
	// CommitTS is the stamp. It is zero as long as the transaction has a lock on the row, which
	// decides what becomes of the cell.
	CommitTS tso.Timestamp
}

// Stamped reports whether the transaction is known to have committed.
func (n *Notification) Stamped() bool { return n.CommitTS != 0 }

// Announced reports whether the notification is of no change: a backfill has left it (Announce), in
// case that the observer has never run on the row.
func (n *Notification) Announced() bool { return n.StartTS == n.CommitTS }

// From returns the commit_ts of the change from outside that led to the notification. Requires: it
// is stamped.
func (n *Notification) From() tso.Timestamp {
	if n.Origin != 0 {
		return n.Origin
	}
	return n.CommitTS
}

// A cell of the notify column:
//
//	n  row  observer (4 bytes)  start_ts (8 bytes)
//	value: format (1 byte), flags (1 byte), commit_ts (8 bytes), uvarint origin,
//	uvarint generation, with notePath the path (1 byte, observers of 4 bytes), old value
const (
	noteFormat byte = 1
	noteHasOld byte = 1 << 0
	notePath   byte = 1 << 1

	noteQualifier = 4 + tsLen // bytes of a key after the row
)

func appendNoteKey(dst, row []byte, observer uint32, startTS tso.Timestamp) []byte {
	dst = append(append(dst, familyNotify), row...)
	dst = binary.BigEndian.AppendUint32(dst, observer)
	return binary.BigEndian.AppendUint64(dst, uint64(startTS))
}

func (n *Notification) appendTo(dst []byte) []byte {
	var flags byte
	if n.HasOld {
		flags |= noteHasOld
	}
	if n.Path != "" {
		flags |= notePath
	}
	dst = append(dst, noteFormat, flags)
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.CommitTS))
	dst = binary.AppendUvarint(dst, uint64(n.Origin))
	dst = binary.AppendUvarint(dst, uint64(n.Generation))
	if n.Path != "" {
		dst = append(append(dst, byte(len(n.Path)/4)), n.Path...)
	}
	return append(dst, n.Old...)
}

// decodeNotification decodes a cell by what follows the row in its key. Old aliases value.
func decodeNotification(qualifier, value []byte) (n Notification, err error) {
	bad := func() error {
		return fmt.Errorf("mvcc: bad notification %x=%x: %w", qualifier, value, kv.ErrCorruption)
	}
	if len(qualifier) != noteQualifier || len(value) < 2+tsLen || value[0] != noteFormat ||
		value[1]&^(noteHasOld|notePath) != 0 {
		return n, bad()
	}
	n.Observer = binary.BigEndian.Uint32(qualifier)
	n.StartTS = tso.Timestamp(binary.BigEndian.Uint64(qualifier[4:]))
	n.HasOld = value[1]&noteHasOld != 0
	n.CommitTS = tso.Timestamp(binary.BigEndian.Uint64(value[2:]))
	f := fields{rest: value[2+tsLen:]}
	n.Origin = tso.Timestamp(f.number())
	generation := f.number()
	n.Generation, n.Old = uint32(generation), f.rest
	if value[1]&notePath != 0 && !f.bad {
		if len(n.Old) == 0 || len(n.Old) < 1+4*int(n.Old[0]) {
			return n, bad()
		}
		end := 1 + 4*int(n.Old[0])
		n.Path, n.Old = Path(n.Old[1:end]), n.Old[end:]
	}
	if f.bad || generation > 1<<32-1 || !n.HasOld && len(n.Old) > 0 {
		return n, bad()
	}
	return n, nil
}

// setNotes writes the cells of a transaction that writes a row. Until commitTS is known it is zero.
func (s *step) setNotes(row []byte, startTS, commitTS tso.Timestamp, notes []Note) {
	for i := range notes {
		s.setNotification(row,
			&Notification{Note: notes[i], StartTS: startTS, CommitTS: commitTS})
	}
}

func (s *step) setNotification(row []byte, n *Notification) {
	s.key, s.val = appendNoteKey(s.key[:0], row, n.Observer, n.StartTS), n.appendTo(s.val[:0])
	s.b.Set(s.key, s.val)
}

func (s *step) dropNotification(row []byte, n *Notification) {
	s.key = appendNoteKey(s.key[:0], row, n.Observer, n.StartTS)
	s.b.Delete(s.key)
}

// notifications calls visit with the cells of a row until it returns false. What visit gets is
// valid during the call.
func (s *step) notifications(ctx context.Context, row []byte,
	visit func(*Notification) bool) error {
	if s.notes == nil {
		it, err := s.r.NewIter(ctx, familySpan(familyNotify, kv.Span{}))
		if err != nil {
			return err
		}
		s.notes = it
	}
	prefix := append([]byte{familyNotify}, row...)
	for ok := s.notes.SeekPrefixGE(prefix); ok; ok = s.notes.Next() {
		if err := s.passed.pass(ctx); err != nil {
			return err
		}
		key := s.notes.Key()
		if !bytes.HasPrefix(key, prefix) {
			break
		}
		value, err := s.notes.Value()
		if err != nil {
			return err
		}
		n, err := decodeNotification(key[len(prefix):], value)
		if err != nil {
			return err
		}
		if !visit(&n) {
			return nil
		}
	}
	return s.notes.Err()
}

// addNotes writes the cells of a transaction that writes a row once more. Those which are there
// stay: theirs is the value from before the transaction.
func (s *step) addNotes(ctx context.Context, row []byte, startTS tso.Timestamp,
	notes []Note) error {
	have := map[uint32]bool{}
	err := s.notifications(ctx, row, func(n *Notification) bool {
		have[n.Observer] = have[n.Observer] || n.StartTS == startTS
		return true
	})
	for i := range notes {
		if !have[notes[i].Observer] {
			s.setNotes(row, startTS, 0, notes[i:i+1])
		}
	}
	return err
}

// stampNotes turns the cells that went down with a lock into those of a commit.
func (s *step) stampNotes(ctx context.Context, row []byte, startTS, commitTS tso.Timestamp) error {
	return s.notifications(ctx, row, func(n *Notification) bool {
		if n.StartTS == startTS && !n.Stamped() {
			n.CommitTS = commitTS
			s.setNotification(row, n)
		}
		return true
	})
}

// eraseNotes removes the cells that went down with a lock.
func (s *step) eraseNotes(ctx context.Context, row []byte, startTS tso.Timestamp) error {
	return s.notifications(ctx, row, func(n *Notification) bool {
		if n.StartTS == startTS && !n.Stamped() {
			s.dropNotification(row, n)
		}
		return true
	})
}

// RowNotifications returns the cells of one observer on a row, in the order of their start_ts. They
// share nothing with the reader.
func RowNotifications(ctx context.Context, r kv.Reader, row []byte,
	observer uint32) (all []Notification, err error) {
	err = RowsNotifications(ctx, r, [][]byte{row}, observer, func(_ int, n []Notification) error {
		all = n
		return nil
	})
	return all, err
}

// RowsNotifications is RowNotifications for several rows: it calls visit with the cells of each
// row that has some.
func RowsNotifications(ctx context.Context, r kv.Reader, rows [][]byte, observer uint32,
	visit func(i int, all []Notification) error) (err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	for i, row := range rows {
		var all []Notification
		err := s.notifications(ctx, row, func(n *Notification) bool {
			if n.Observer == observer {
				n.Old = bytes.Clone(n.Old)
				all = append(all, *n)
			}
			return true
		})
		if err == nil && len(all) > 0 {
			err = visit(i, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stamps are those in (Above, Through]; an Above of zero bounds nothing.
type Stamps struct{ Above, Through tso.Timestamp }

func (s Stamps) hold(ts tso.Timestamp) bool {
	return ts <= s.Through && (s.Above == 0 || ts > s.Above)
}

// Acknowledge removes the cells of an observer on rows whose stamp is among the stamps: at or below
// the start_ts of a run that has committed. Newer ones stay, and so do those without a stamp: their
// transactions are perhaps newer. It removes most at most, unless that is zero, and reports whether
// there are more.
func Acknowledge(ctx context.Context, r kv.Reader, b *kv.Batch, rows [][]byte, observer uint32,
	stamps Stamps, most int) (more bool, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, row := range rows {
		err := s.notifications(ctx, row, func(n *Notification) bool {
			if n.Observer == observer && n.Stamped() && stamps.hold(n.CommitTS) {
				if more = most != 0 && b.Len() == most; more {
					return false
				}
				s.dropNotification(row, n)
			}
			return true
		})
		if err != nil || more {
			return more, err
		}
	}
	return false, nil
}

// Announce writes stamped cells of one observer on rows that were not changed: it is to run on
// them. The timestamp was drawn for this alone.
func Announce(b *kv.Batch, rows [][]byte, observer uint32, ts tso.Timestamp) {
	s := newStep(nil, b)
	defer s.end()
	for _, row := range rows {
		s.setNotes(row, ts, ts, []Note{{Observer: observer}})
	}
}

// NotifySpan is the span of the engine's keys that holds the notifications of a span of user keys.
func NotifySpan(span kv.Span) kv.Span { return familySpan(familyNotify, span) }

// Notifications calls visit with every cell of the notify column of a span of user keys, key by
// key, until visit fails. What visit gets is valid during the call.
func Notifications(ctx context.Context, r kv.Reader, span kv.Span,
	visit func(key []byte, n *Notification) error) (err error) {
	it, err := r.NewIter(ctx, NotifySpan(span))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var passed looks
	var buf []byte
	for ok := it.First(); ok; ok = it.Next() {
		if err := passed.pass(ctx); err != nil {
			return err
		}
		raw := it.Key()
		n := kv.PrefixLen(raw)
		if buf, err = UserKey(raw[1:n], buf); err != nil {
			return err
		}
		value, err := it.Value()
		if err != nil {
			return err
		}
		cell, err := decodeNotification(raw[n:], value)
		if err != nil {
			return err
		}
		if err := visit(buf, &cell); err != nil {
			return err
		}
	}
	return it.Err()
}
