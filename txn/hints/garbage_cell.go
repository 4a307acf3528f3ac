package hints

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// A Store that is closed in order leaves what it remembers of garbage in a cell of the store, and
// the next one takes it from there, and the cell away. After a crash there is none, and the first
// pass reads everything.
//
// 	format 01, then for each place: its length, its bytes, the first and the last timestamp of 8
// 	bytes

var garbageKey = mvcc.MetaKey("garbage")

const garbageFormat = 1

// appendTo appends the cell's value.
func (g *garbage) appendTo(dst []byte) []byte {
	dst = append(dst, garbageFormat)
	for p, n := range g.places {
		dst = append(append(dst, p.n), p.prefix()...)
		dst = binary.BigEndian.AppendUint64(dst, uint64(n.first))
		dst = binary.BigEndian.AppendUint64(dst, uint64(n.last))
	}
	return dst
}

// read takes a cell's value over.
func (g *garbage) read(value []byte) error {
	bad := fmt.Errorf("garbage of %d bytes: %w", len(value), kv.ErrCorruption)
	if len(value) == 0 || value[0] != garbageFormat {
		return bad
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for rest := value[1:]; len(rest) > 0; {
		n := int(rest[0])
		if n > placeLength || len(rest) < 1+n+16 {
			return bad
		}
		p := placeOf(rest[1:1+n], g.length)
		g.noteAt(p, tso.Timestamp(binary.BigEndian.Uint64(rest[1+n:])))
		g.noteAt(p, tso.Timestamp(binary.BigEndian.Uint64(rest[9+n:])))
		rest = rest[17+n:]
	}
	g.complete = true
	return nil
}

// Take reads the cell, if there is one, and takes it away: nothing is committed before that.
// Lazy: a commit that survives a crash comes after it.
func (g *garbage) Take(ctx context.Context, engine kv.Engine) error {
	return kv.UpdateLazy(ctx, engine, [][]byte{kv.Row(garbageKey)},
		func(r kv.Reader, b *kv.Batch) error {
			value, err := r.Get(ctx, garbageKey)
			if err != nil || value == nil {
				return err
			}
			b.Delete(garbageKey)
			return g.read(value)
		})
}

// LeaveBehind writes the cell. Requires: nothing is committed any more.
func (g *garbage) LeaveBehind(ctx context.Context, engine kv.Engine) error {
	g.mu.Lock()
	complete, value := g.complete, g.appendTo(nil)
	g.mu.Unlock()
	if !complete {
		return nil
	}
	return kv.UpdateLazy(ctx, engine, [][]byte{kv.Row(garbageKey)},
		func(_ kv.Reader, b *kv.Batch) error {
			b.Set(garbageKey, value)
			return nil
		})
}
