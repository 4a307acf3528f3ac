package table

import (
	"bytes"
	"context"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/txn"
)

// postings is the row keys, without prefix, of the rows that a query over GIN entries includes, in
// their order. Each is read by iterators, so it is as long as it likes.
type postings interface {
	// seek returns the first row key at or after from, nil at the end. from never goes back. The
	// result is valid until the next call.
	seek(ctx context.Context, from []byte) ([]byte, error)
	close() error
}

// stepsPerSeek is how many entries an iterator passes on the way to a row key before a new one is
// opened there: that costs about as much.
const stepsPerSeek = 32

// entryRows is the rows with one key: the entries of an index that begin with it. With the prefix
// of the rows themselves it is all rows.
type entryRows struct {
	tx     *txn.Txn
	prefix []byte
	it     *txn.Iterator
	start  []byte // scratch
	at     []byte // the current row key; nil before the first and at the end
	ended  bool
}

func (l *entryRows) seek(ctx context.Context, from []byte) ([]byte, error) {
	for steps := 0; !l.ended; steps++ {
		if l.at != nil && bytes.Compare(l.at, from) >= 0 {
			return l.at, nil
		}
		if l.it == nil || steps == stepsPerSeek {
			if err := l.open(ctx, from); err != nil {
				return nil, err
			}
		}
		if !l.it.Next() {
			l.ended, l.at = true, nil
			return nil, l.it.Err()
		}
		l.at = l.it.Key()[len(l.prefix):]
	}
	return nil, nil
}

// open opens the iterator anew, at a row key.
func (l *entryRows) open(ctx context.Context, from []byte) error {
	l.start = append(append(l.start[:0], l.prefix...), from...)
	if err := l.close(); err != nil {
		return err
	}
	var err error
	l.it, err = l.tx.Scan(ctx, kv.Span{Start: l.start, End: kv.PrefixEnd(l.prefix)},
		txn.ScanOptions{KeysOnly: true})
	return err
}

func (l *entryRows) close() error {
	if l.it == nil {
		return nil
	}
	err := l.it.Close()
	l.it = nil
	return err
}

// intersection is the rows that all of its parts have. Each part looks for the row key at which
// another has come to (a leapfrog join), so the longer lists are not read where the shorter ones
// have nothing.
type intersection struct {
	parts         []postings
	asked, agreed []int // for each part: row keys that others had, and those of them that it has
	target        []byte
}

// A part that has nearly all row keys of the others is left out once that is clear: to test the
// condition on the few rows more costs less than to look up all the others.
const (
	askedEnough = 64
	agreedShare = 0.75
)

func (x *intersection) seek(ctx context.Context, from []byte) ([]byte, error) {
	x.target = append(x.target[:0], from...)
	agreed := 0
	for i := 0; agreed < len(x.parts); i = (i + 1) % len(x.parts) {
		if i == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		k, err := x.parts[i].seek(ctx, x.target)
		if err != nil || k == nil {
			return nil, err
		}
		same := bytes.Equal(k, x.target)
		if agreed > 0 {
			if dropped, err := x.judge(i, same); err != nil {
				return nil, err
			} else if dropped {
				i = -1 // from the first again: places have changed
				agreed = 0
				continue
			}
		}
		if same {
			agreed++
			continue
		}
		x.target = append(x.target[:0], k...)
		agreed = 1
	}
	return x.target, nil
}

// judge counts an answer of part i, and leaves the part out if it excludes next to nothing.
func (x *intersection) judge(i int, agreed bool) (dropped bool, err error) {
	x.asked[i]++
	if agreed {
		x.agreed[i]++
	}
	if len(x.parts) == 1 || x.asked[i] < askedEnough ||
		float64(x.agreed[i]) < agreedShare*float64(x.asked[i]) {
		return false, nil
	}
	err = x.parts[i].close()
	x.parts = slices.Delete(x.parts, i, i+1)
	x.asked, x.agreed = slices.Delete(x.asked, i, i+1), slices.Delete(x.agreed, i, i+1)
	return true, err
}

func (x *intersection) close() error { return closeAll(x.parts) }

// threshold is the rows that at least n of its parts have: with 1 their union.
type threshold struct {
	parts []postings
	n     int
	least []byte
}

func (u *threshold) seek(ctx context.Context, from []byte) ([]byte, error) {
	for {
		count, some := 0, false
		for _, p := range u.parts {
			k, err := p.seek(ctx, from)
			if err != nil {
				return nil, err
			}
			if k == nil {
				continue
			}
			c := -1
			if some {
				c = bytes.Compare(k, u.least)
			}
			switch {
			case c < 0:
				u.least, count, some = append(u.least[:0], k...), 1, true
			case c == 0:
				count++
			}
		}
		if !some {
			return nil, nil
		}
		if count >= u.n {
			return u.least, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from = append(bytes.Clone(u.least), 0)
	}
}

func (u *threshold) close() error { return closeAll(u.parts) }

func closeAll(parts []postings) error {
	var first error
	for _, p := range parts {
		if err := p.close(); first == nil {
			first = err
		}
	}
	return first
}

// rowList is row keys in memory, sorted.
type rowList struct {
	keys [][]byte
	give func() // gives the memory back; nil when it has been
}

func (r *rowList) seek(_ context.Context, from []byte) ([]byte, error) {
	i, _ := slices.BinarySearchFunc(r.keys, from, bytes.Compare)
	if r.keys = r.keys[i:]; len(r.keys) == 0 {
		return nil, nil
	}
	return r.keys[0], nil
}

func (r *rowList) close() error {
	if r.give != nil {
		r.give()
		r.give = nil
	}
	return nil
}

// Bounds of a scan by keys: lists that are read at a time, and bytes of row keys in memory.
const (
	maxLists    = 64
	maxRowBytes = 8 << 20
)

// postingsBuilder opens the postings of a query.
type postingsBuilder struct {
	tx   *txn.Txn
	rows *layout
	// grow counts bytes that are about to be allocated, and shrink takes them back.
	grow   func(int64) error
	shrink func(int64)
}

// build opens the postings of a query, with at most room lists at a time. What does not fit is
// answered by more rows than necessary.
func (b *postingsBuilder) build(ctx context.Context, q *gin.Query, room int) (postings, error) {
	switch q.Op {
	case gin.Nothing:
		return &rowList{}, nil
	case gin.Key:
		return &entryRows{tx: b.tx, prefix: q.Key}, nil
	case gin.And:
		parts, err := b.parts(ctx, fitting(q.Args, room), room)
		if err != nil || len(parts) == 1 {
			return first(parts), err
		}
		return &intersection{parts: parts, asked: make([]int, len(parts)),
			agreed: make([]int, len(parts))}, nil
	case gin.Or:
		if q.Leaves() > room {
			return b.collect(ctx, q.Args, room)
		}
		parts, err := b.parts(ctx, q.Args, room)
		return &threshold{parts: parts, n: 1}, err
	case gin.AtLeast:
		if q.Leaves() > room {
			// A row with n of m keys has one of any m-n+1 of them.
			return b.build(ctx, gin.AnyOf(q.Args[:len(q.Args)-q.N+1]), room)
		}
		parts, err := b.parts(ctx, q.Args, room)
		return &threshold{parts: parts, n: q.N}, err
	}
	return b.all(), nil
}

func first(parts []postings) postings {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// all is the postings of all rows.
func (b *postingsBuilder) all() postings { return &entryRows{tx: b.tx, prefix: b.rows.prefix} }

func (b *postingsBuilder) parts(ctx context.Context, args []*gin.Query, room int) ([]postings,
	error) {
	out := make([]postings, 0, len(args))
	for _, a := range args {
		p, err := b.build(ctx, a, room)
		if err != nil {
			_ = closeAll(out)
			return nil, err
		}
		out = append(out, p)
		room -= a.Leaves()
	}
	return out, nil
}

// fitting returns those of the parts of an intersection that are read, at least one: the others
// would only exclude more rows.
func fitting(args []*gin.Query, room int) []*gin.Query {
	sorted := slices.Clone(args)
	slices.SortStableFunc(sorted,
		func(a, b *gin.Query) int { return a.Leaves() - b.Leaves() })
	for i, a := range sorted {
		if room -= a.Leaves(); room < 0 && i > 0 {
			return sorted[:i]
		}
	}
	return sorted
}

// collect reads the rows of many lists, one list after the other, into memory. If that takes too
// much, it returns all rows.
func (b *postingsBuilder) collect(ctx context.Context, args []*gin.Query, room int) (postings,
	error) {
	var held int64
	give := func() { b.shrink(held) }
	var keys [][]byte
	for _, a := range args {
		fits, err := b.drain(ctx, a, room, func(key []byte) (bool, error) {
			n := int64(len(key)) + 40
			held += n
			keys = append(keys, bytes.Clone(key))
			return held <= maxRowBytes, b.grow(n)
		})
		if err != nil || !fits {
			give()
			if err != nil {
				return nil, err
			}
			return b.all(), nil
		}
		if len(keys) > 0 {
			slices.SortFunc(keys, bytes.Compare)
			keys = slices.CompactFunc(keys, bytes.Equal)
		}
	}
	return &rowList{keys: keys, give: give}, nil
}

// drain calls take with the row keys of a query, until it returns false.
func (b *postingsBuilder) drain(ctx context.Context, q *gin.Query, room int,
	take func(key []byte) (bool, error)) (all bool, err error) {
	p, err := b.build(ctx, q, room)
	if err != nil {
		return false, err
	}
	defer func() {
		if cerr := p.close(); err == nil {
			err = cerr
		}
	}()
	for from := []byte(nil); ; {
		k, err := p.seek(ctx, from)
		if err != nil || k == nil {
			return true, err
		}
		if more, err := take(k); err != nil || !more {
			return false, err
		}
		from = append(append(from[:0], k...), 0)
	}
}
