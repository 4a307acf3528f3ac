package clone

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
)

// position is how far a copy is. The target has one for each page, so that a page that comes in as
// files brings its own with it:
//
//	m copy/<number of the page, 8 hex digits> format 1; phase; varint cells; varint bytes; next
type position struct {
	phase        Phase // zero: nothing is copied
	cells, bytes int64 // copied up to there
	next         []byte
}

const (
	positionPrefix = "copy/"
	positionFormat = 1
)

func positionKey(page int) []byte {
	return mvcc.MetaKey(fmt.Sprintf("%s%08x", positionPrefix, page))
}

func positionSpan() kv.Span {
	start := mvcc.MetaKey(positionPrefix)
	return kv.Span{Start: start, End: kv.PrefixEnd(start)}
}

func (p *position) encode() []byte {
	b := []byte{positionFormat, byte(p.phase)}
	b = binary.AppendUvarint(b, uint64(p.cells))
	b = binary.AppendUvarint(b, uint64(p.bytes))
	return append(b, p.next...)
}

func decodePosition(value []byte) (p position, err error) {
	bad := fmt.Errorf("position of a copy %x: %w", value, kv.ErrCorruption)
	if len(value) < 2 || value[0] != positionFormat {
		return p, bad
	}
	p.phase = Phase(value[1])
	rest := value[2:]
	for _, n := range []*int64{&p.cells, &p.bytes} {
		v, size := binary.Uvarint(rest)
		if size <= 0 {
			return p, bad
		}
		*n, rest = int64(v), rest[size:]
	}
	p.next = bytes.Clone(rest)
	return p, nil
}

// lastPosition reads the last one of a target, and how many pages the target has.
func lastPosition(ctx context.Context, e kv.Engine) (p position, pages int, err error) {
	snap, err := kv.Latest(e)
	if err != nil {
		return p, 0, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	it, err := snap.NewIter(ctx, positionSpan())
	if err != nil {
		return p, 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.Last() {
		return p, 0, it.Err()
	}
	name := bytes.TrimPrefix(it.Key(), positionSpan().Start)
	if _, err := fmt.Sscanf(string(name), "%x", &pages); err != nil {
		return p, 0, fmt.Errorf("position of a copy %q: %w", it.Key(), kv.ErrCorruption)
	}
	value, err := it.Value()
	if err != nil {
		return p, 0, err
	}
	p, err = decodePosition(value)
	return p, pages, err
}

// forget removes the positions.
func forget(ctx context.Context, e kv.Engine) error {
	_, err := kv.DeleteSpan(ctx, e, positionSpan(), 0)
	return err
}
