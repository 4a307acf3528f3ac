package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// The list of loads (txn: I29) has an entry for each span that is being loaded:
//
//	user key                          value
//	00 'l' 'o' 'a' 'd' start of span  01, end of span

// loadPrefix begins the keys of the list. No other user key begins with a zero byte but those of
// package gc.
const loadPrefix = "\x00load"

// loadFormat begins the value of an entry.
const loadFormat = 1

// list commits an entry for a span in the list of loads, and deletes it in t.
func (t *Txn) list(ctx context.Context, span kv.Span) error {
	key := append([]byte(loadPrefix), span.Start...)
	commitTS, err := t.s.change(ctx, func(first *Txn) error {
		return first.Set(key, append([]byte{loadFormat}, span.End...))
	})
	if err != nil {
		return err
	}
	// From here on the entry has to go, whatever happens.
	t.loads = append(t.loads, loaded{span: span, entry: key, seq: t.buf.Seq()})
	t.buf.SetBase(commitTS) // it is newer than what t reads, and t knows of it
	err = t.Delete(key)
	t.buf.SetBase(t.readTS)
	return err
}

// forgetPast makes memory forget what it knows of rows up to now.
func (s *Store) forgetPast(ctx context.Context) error {
	now, err := s.source.Next(ctx)
	if err == nil {
		s.memory.Recent.Opened(now)
	}
	return err
}

// unloadAfter empties the spans that were loaded after a savepoint. What fails, because the engine
// does, fails the commit.
func (t *Txn) unloadAfter(sp Savepoint) {
	for i := range t.loads {
		l := &t.loads[i]
		if l.gone || l.seq <= sp.at {
			continue
		}
		t.loadErr = errors.Join(t.loadErr, t.s.empty(context.Background(), l.span))
		l.gone = true
		t.dropSnapshot()
	}
}

// empty deletes what was loaded into a span. Locks of the transaction that loaded it stay.
func (s *Store) empty(ctx context.Context, span kv.Span) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	for _, raw := range mvcc.LoadedSpans(span) {
		if _, err := kv.DeleteSpan(ctx, s.engine, raw, 0); err != nil {
			return err
		}
	}
	return s.forgetPast(ctx)
}

// endLoads takes back what the transaction has loaded, unless it has committed, and the entries of
// loads that it took back before. What fails, because the engine does, is left to the next Open.
func (t *Txn) endLoads(committed bool) {
	loads := t.loads
	t.loads = nil
	for _, l := range loads {
		if committed && !l.gone {
			continue
		}
		err := t.s.takeBack(context.Background(), l.span, l.entry)
		if err != nil && !errors.Is(err, ErrClosed) {
			t.s.opts.Logger.Warn("a load is left for the next start to take back", "err", err)
		}
	}
}

// takeBack empties a span whose entry is in the list of loads, and removes the entry. It writes the
// entry first: a commit of the transaction that deletes it, sent and not known to have arrived, has
// arrived by then or never does.
func (s *Store) takeBack(ctx context.Context, span kv.Span, key []byte) error {
	there := false
	_, err := s.change(ctx, func(t *Txn) error {
		value, err := t.GetUnserialized(ctx, key)
		if there = value != nil; err != nil || !there {
			return err
		}
		return t.Set(key, bytes.Clone(value))
	})
	if err != nil || !there {
		return err
	}
	if err := s.empty(ctx, span); err != nil {
		return err
	}
	_, err = s.change(ctx, func(t *Txn) error { return t.Delete(key) })
	return err
}

// change runs a function in a transaction of its own.
func (s *Store) change(ctx context.Context, f func(t *Txn) error) (tso.Timestamp, error) {
	t, err := s.begin(ctx, BeginOptions{})
	if err != nil {
		return 0, err
	}
	if err := f(t); err != nil {
		return 0, errors.Join(err, t.Rollback(ctx))
	}
	err = t.Commit(ctx)
	return t.CommitTS(), err
}

// Loading lists the spans that are being loaded, as the transaction sees the list.
func (t *Txn) Loading(ctx context.Context) (spans []kv.Span, err error) {
	it, err := t.Scan(ctx, listedLoads(), ScanOptions{Unserialized: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		span, err := DecodeLoaded(it.Key(), it.Value())
		if err != nil {
			return nil, err
		}
		spans = append(spans, span)
	}
	return spans, it.Err()
}

// IsLoaded reports whether a user key is of the list of loads.
func IsLoaded(key []byte) bool { return bytes.HasPrefix(key, []byte(loadPrefix)) }

// DecodeLoaded returns the span of an entry of the list of loads.
func DecodeLoaded(key, value []byte) (kv.Span, error) {
	if !IsLoaded(key) || len(value) < 2 || value[0] != loadFormat {
		return kv.Span{}, fmt.Errorf("loaded span %x: %x: %w", key, value, kv.ErrCorruption)
	}
	return kv.Span{Start: bytes.Clone(key[len(loadPrefix):]), End: bytes.Clone(value[1:])}, nil
}

// takeBackLeft takes back the loads that earlier processes have left.
func (s *Store) takeBackLeft(ctx context.Context) error {
	if listed, err := s.listsLoads(ctx); err != nil || !listed {
		return err
	}
	t, err := s.begin(ctx, BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	spans, err := t.Loading(ctx)
	if err = errors.Join(err, t.Rollback(ctx)); err != nil {
		return err
	}
	for _, span := range spans {
		if err := s.takeBack(ctx, span, append([]byte(loadPrefix), span.Start...)); err != nil {
			return err
		}
	}
	return nil
}

// listsLoads reports whether the list of loads has, or had, an entry.
func (s *Store) listsLoads(ctx context.Context) (listed bool, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return false, err
	}
	cells, err := mvcc.Occupied(ctx, snap, listedLoads())
	return len(cells) > 0, errors.Join(err, snap.Close())
}

func listedLoads() kv.Span {
	return kv.Span{Start: []byte(loadPrefix), End: kv.PrefixEnd([]byte(loadPrefix))}
}
