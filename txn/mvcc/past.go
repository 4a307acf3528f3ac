package mvcc

import (
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// RawCells are a version, or a notification, as the engine has it. The slices are valid until the
// walk that gave them goes on.
type RawCells struct {
	Key, Value []byte
	// DataKey and Data are in the data column: nil for a value that travels in the write record.
	DataKey, Data []byte
}

// Past walks the raw cells that belong to the state of a store at a timestamp and before it, in one
// column and in its order: all that a reader at or below the timestamp can see, or what of that was
// committed above an earlier timestamp. It reads what is there: of a commit at or below the
// timestamp that is not a record yet it shows nothing, and of a version that is collected meanwhile
// all or nothing.
type Past struct {
	ctx   context.Context
	r     kv.Reader
	since tso.Timestamp
	at    tso.Timestamp
	it    kv.Iterator
	data  dataWalk // not open for notifications
	pick  func() (found, more bool, err error)
	looks looks
	newer int // versions above the timestamp that were passed one by one
	begun bool
	seek  []byte
	err   error
	cells RawCells
}

// NewPast begins a walk over the versions in a span of the write column (VersionSpan) that were
// committed above one timestamp and at or below another: write records with their data. Records
// that change nothing (of kinds lock and rollback) are no part of it. An engine that can leave out
// what is older does (kv.Versioned).
func NewPast(ctx context.Context, r kv.Reader, span kv.Span, since, at tso.Timestamp) (*Past,
	error) {
	p := &Past{ctx: ctx, r: r, since: since, at: at}
	var err error
	if since == 0 {
		p.it, err = r.NewIter(ctx, span)
	} else {
		p.it, err = kv.NewVersionIter(ctx, r, span, ^uint64(at), ^uint64(since+1))
	}
	if err != nil {
		return nil, err
	}
	p.pick = p.pickVersion
	if p.data.it, err = r.NewIter(ctx, columnSpan(familyData, kv.Span{})); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// NewPastNotes begins a walk over the notifications in a span of the notify column (NotifySpan)
// that were stamped at or below a timestamp.
func NewPastNotes(ctx context.Context, r kv.Reader, span kv.Span, at tso.Timestamp) (*Past, error) {
	it, err := r.NewIter(ctx, span)
	if err != nil {
		return nil, err
	}
	p := &Past{ctx: ctx, r: r, at: at, it: it}
	p.pick = p.pickNote
	return p, nil
}

// Close releases the iterators, not the reader.
func (p *Past) Close() (err error) {
	if p.it != nil {
		err = p.it.Close()
		p.it = nil
	}
	return errors.Join(err, p.data.close())
}

// Cells returns what the walk is at.
func (p *Past) Cells() RawCells { return p.cells }

// Err returns what ended the walk early.
func (p *Past) Err() error { return p.err }

// Next moves on and reports whether there is more.
func (p *Past) Next() bool {
	if p.err != nil {
		return false
	}
	ok := false
	if p.begun {
		ok = p.it.Next()
	} else {
		p.begun, ok = true, p.it.First()
	}
	for ok {
		if p.err = p.looks.pass(p.ctx); p.err != nil {
			return false
		}
		found := false
		if found, ok, p.err = p.pick(); found || p.err != nil {
			return found && p.err == nil
		}
	}
	p.err = p.it.Err()
	return false
}

// pickVersion takes the version that the iterator is at. If it does not belong to the walk, it
// moves on and reports whether there is another one.
func (p *Past) pickVersion() (found, more bool, err error) {
	prefix, ts, err := splitVersion(p.it.Key())
	if err != nil {
		return false, false, err
	}
	if ts > p.at {
		if p.newer++; p.newer <= versionsBeforeSeek {
			return false, p.it.Next(), nil
		}
		p.newer, p.seek = 0, appendVersion(append(p.seek[:0], prefix...), p.at)
		return false, p.it.SeekGE(p.seek), nil
	}
	p.newer = 0
	if ts <= p.since {
		return false, p.it.NextPrefix(), nil
	}
	value, err := p.it.Value()
	if err != nil {
		return false, false, err
	}
	w, err := decodeWrite(value)
	if err != nil {
		return false, false, err
	}
	p.cells = RawCells{Key: p.it.Key(), Value: value}
	switch {
	case w.Kind == KindDelete, w.Kind == KindPut && w.HasShort:
		return true, true, nil
	case w.Kind == KindPut:
		if found, err = p.addData(prefix[1:], w.StartTS); found || err != nil {
			return found, found, err
		}
	}
	return false, p.it.Next(), nil
}

// addData adds the data of the version. There is none if the version was collected since the
// iterator saw its record: both go at once.
func (p *Past) addData(row []byte, startTS tso.Timestamp) (bool, error) {
	p.seek = appendDataKey(p.seek[:0], row, startTS)
	data, found, err := p.data.find(p.seek)
	if err != nil {
		return false, err
	}
	if found {
		p.cells.DataKey, p.cells.Data = p.seek, data
		return true, nil
	}
	value, err := p.r.Get(p.ctx, p.cells.Key)
	if err == nil && value != nil {
		err = fmt.Errorf("mvcc: record %x has no data: %w", p.cells.Key, kv.ErrCorruption)
	}
	return false, err
}

// pickNote is pickVersion for notifications.
func (p *Past) pickNote() (found, more bool, err error) {
	key := p.it.Key()
	value, err := p.it.Value()
	if err != nil {
		return false, false, err
	}
	n, err := decodeNotification(key[kv.PrefixLen(key):], value)
	if err != nil {
		return false, false, err
	}
	if !n.Stamped() || n.CommitTS > p.at {
		return false, p.it.Next(), nil
	}
	p.cells = RawCells{Key: key, Value: value}
	return true, true, nil
}

// Announcement reports whether raw cells are a notification of no change (Announce).
func (c *RawCells) Announcement() bool {
	if len(c.Key) == 0 || c.Key[0] != familyNotify {
		return false
	}
	n, err := decodeNotification(c.Key[kv.PrefixLen(c.Key):], c.Value)
	return err == nil && n.Announced()
}

// VersionSpan returns the span of the engine's keys that holds the write records of a span of user
// keys.
func VersionSpan(span kv.Span) kv.Span { return columnSpan(familyWrite, span) }
