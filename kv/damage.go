package kv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
)

// Walk visits the keys of a span in order, or in the reverse order. Key and value are valid during
// the call. An error of visit ends it and is returned.
type Walk func(ctx context.Context, span Span, reverse bool,
	visit func(key, value []byte) error) error

// Readable visits the keys of a span in order as far as they can be read, and returns the spans
// that cannot (ErrCorruption). A span that is lost begins behind the last key before the damage and
// ends where reading succeeds again; it may hold keys that could be read between two damaged
// places. Other errors end it, those of visit among them. Key and value are valid during the call.
func Readable(ctx context.Context, r Reader, span Span,
	visit func(key, value []byte) error) (lost []Span, err error) {
	return ReadableBy(ctx, walkOf(r), span, visit)
}

// ReadableBy is Readable of what a Walk shows.
func ReadableBy(ctx context.Context, walk Walk, span Span,
	visit func(key, value []byte) error) (lost []Span, err error) {
	for from := span.Start; ; {
		last, err := walk.untilDamage(ctx, Span{Start: from, End: span.End}, visit)
		if !errors.Is(err, ErrCorruption) {
			return lost, err
		}
		damage := Span{Start: from, End: span.End}
		if last != nil {
			damage.Start = append(last, 0)
		}
		if damage.End, err = walk.readableFrom(ctx, damage); err != nil {
			return lost, err
		}
		lost = append(lost, damage)
		if damage.End == nil || span.End != nil && bytes.Compare(damage.End, span.End) >= 0 {
			return lost, nil
		}
		from = damage.End
	}
}

// keysPerLook is how many keys are read between two looks at the context.
const keysPerLook = 1024

// walkOf walks the keys of a reader.
func walkOf(r Reader) Walk {
	return func(ctx context.Context, span Span, reverse bool,
		visit func(key, value []byte) error) (err error) {
		it, err := r.NewIter(ctx, span)
		if err != nil {
			return err
		}
		defer func() {
			if closed := it.Close(); err == nil {
				err = closed
			}
		}()
		first, next := it.First, it.Next
		if reverse {
			first, next = it.Last, it.Prev
		}
		n := 0
		for ok := first(); ok; ok = next() {
			value, err := it.Value()
			if err == nil {
				err = visit(it.Key(), value)
			}
			if n++; err == nil && n%keysPerLook == 0 {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
		return it.Err()
	}
}

// untilDamage visits keys until one cannot be read, and returns a copy of the last that could.
func (walk Walk) untilDamage(ctx context.Context, span Span,
	visit func(key, value []byte) error) (last []byte, err error) {
	err = walk(ctx, span, false, func(key, value []byte) error {
		if err := visit(key, value); err != nil {
			return err
		}
		last = append(last[:0], key...)
		return nil
	})
	return last, err
}

// probes is how many keys that cannot be read are tried to find one that can. Each costs an engine
// a damaged block, and a damaged block may cost it much more than a sound one.
const probes = 4

// readableFrom returns the first key behind the damage at the start of a span, or the end of the
// span. Requires: its start cannot be read.
func (walk Walk) readableFrom(ctx context.Context, span Span) ([]byte, error) {
	high, found := span.End, false
	for probe, failed := high, 0; failed < probes; { // halfway to the start, again and again
		next := between(span.Start, probe)
		if next == nil || probe != nil && bytes.Compare(next, probe) >= 0 {
			// as close to the start as it gets, where an older version of the key before may be
			break
		}
		probe = next
		ok, err := walk.readableAt(ctx, Span{Start: probe, End: span.End})
		if err != nil {
			return nil, err
		}
		if ok {
			high, found = probe, true
		} else {
			failed++ // here it begins, or there are other damaged places
		}
	}
	for probe, failed := span.Start, 0; !found && failed < probes; failed++ { // halfway to the end
		if probe = between(probe, span.End); probe == nil {
			break
		}
		var err error
		if found, err = walk.readableAt(ctx, Span{Start: probe, End: span.End}); err != nil {
			return nil, err
		} else if found {
			high = probe
		}
	}
	return walk.readableBelow(ctx, Span{Start: span.Start, End: high})
}

// readableBelow returns the lowest key of a span down to which reading succeeds from its end.
func (walk Walk) readableBelow(ctx context.Context, span Span) (lowest []byte, err error) {
	lowest = span.End
	err = walk(ctx, span, true, func(key, _ []byte) error {
		lowest = bytes.Clone(key)
		return nil
	})
	if err != nil && !errors.Is(err, ErrCorruption) {
		return nil, err
	}
	return lowest, nil
}

// errFound ends a walk at its first key.
var errFound = errors.New("found")

// readableAt reports whether the first key of a span can be found.
func (walk Walk) readableAt(ctx context.Context, span Span) (bool, error) {
	err := walk(ctx, span, false, func(_, _ []byte) error { return errFound })
	switch {
	case err == nil, errors.Is(err, errFound):
		return true, nil
	case errors.Is(err, ErrCorruption):
		return false, nil
	}
	return false, err
}

// between returns a key about halfway between two, of which high may be nil for the end of all
// keys. It returns nil when they are so close that no key of a store is expected there.
func between(low, high []byte) []byte {
	n := 0 // length of what they have in common, as far as it matters
	for n < len(low) && n < len(high) && low[n] == high[n] {
		n++
	}
	word := func(b []byte) uint64 {
		var w [8]byte
		if n < len(b) {
			copy(w[:], b[n:])
		}
		return binary.BigEndian.Uint64(w[:])
	}
	end := ^uint64(0)
	if high != nil {
		end = word(high)
	}
	for {
		start := word(low)
		if end-start >= 2 {
			return binary.BigEndian.AppendUint64(bytes.Clone(prefixed(low, n)), start+(end-start)/2)
		}
		if n > len(low) {
			return nil
		}
		n, end = n+8, ^uint64(0)
	}
}

// prefixed returns the first n bytes of b, with zeros where it is shorter.
func prefixed(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(bytes.Clone(b), make([]byte, n-len(b))...)
}
