package table

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
)

// Range is a section of an index or, with a nil index, of the rows: the first key columns equal Eq,
// and the next one lies between Low and High. A NULL in Eq means IS NULL. Where Low or High is set,
// NULLs of that column are outside; a bound that is itself NULL makes the range empty.
type Range struct {
	Eq                []types.Datum
	Low, High         *types.Datum
	LowIncl, HighIncl bool
}

// Spans encodes ranges as spans of keys: sorted (backwards with reverse), and merged where they
// overlap or touch. No ranges at all means everything. A range over a whole unique key becomes a
// point span, which is read without an iterator.
func Spans(d *Desc, ix *Index, rs []Range, reverse bool) ([]kv.Span, error) {
	l, err := layoutOf(d, ix)
	if err != nil {
		return nil, err
	}
	if len(rs) == 0 {
		return []kv.Span{PrefixSpan(l.prefix)}, nil
	}
	spans := make([]kv.Span, 0, len(rs))
	for i := range rs {
		sp, ok, err := l.span(&rs[i])
		if err != nil {
			return nil, err
		}
		if ok {
			spans = append(spans, sp)
		}
	}
	spans = mergeSpans(spans)
	if reverse {
		slices.Reverse(spans)
	}
	return spans, nil
}

// span encodes one range; ok is false when nothing can lie in it.
func (l *layout) span(r *Range) (sp kv.Span, ok bool, err error) {
	p := slices.Clone(l.prefix)
	null := false
	for i, v := range r.Eq {
		if p, err = l.key[i].append(p, v); err != nil {
			return kv.Span{}, false, err
		}
		null = null || v.Null
	}
	if r.Low == nil && r.High == nil {
		if len(r.Eq) == len(l.key) && l.single() && (!null || l.nullsNotDistinct) {
			return PointSpan(p), true, nil
		}
		return PrefixSpan(p), true, nil
	}
	if r.Low != nil && r.Low.Null || r.High != nil && r.High.Null {
		return kv.Span{}, false, nil
	}
	sp, err = l.bounded(p, &l.key[len(r.Eq)], r)
	return sp, err == nil && !sp.Empty(), err
}

// bounded is the span of the keys that begin with p and whose next column c lies within r's bounds.
func (l *layout) bounded(p []byte, c *keyColumn, r *Range) (sp kv.Span, err error) {
	// First all values but NULL: encoded, NULLs sort before or after all others.
	sp = PrefixSpan(p)
	null, err := c.append(slices.Clone(p), types.Null)
	if err != nil {
		return sp, err
	}
	if c.nullsFirst {
		sp.Start = kv.PrefixEnd(null)
	} else {
		sp.End = null
	}
	lower, lowerIncl, upper, upperIncl := r.Low, r.LowIncl, r.High, r.HighIncl
	if c.desc {
		lower, lowerIncl, upper, upperIncl = upper, upperIncl, lower, lowerIncl
	}
	if lower != nil {
		k, err := c.append(slices.Clone(p), *lower)
		if err != nil {
			return sp, err
		}
		if !lowerIncl {
			k = kv.PrefixEnd(k)
		}
		sp.Start = k
	}
	if upper != nil {
		k, err := c.append(slices.Clone(p), *upper)
		if err != nil {
			return sp, err
		}
		if upperIncl {
			k = kv.PrefixEnd(k)
		}
		sp.End = k
	}
	return sp, nil
}

// mergeSpans sorts spans and joins those that overlap or touch. Point spans are left apart from
// their neighbours unless they lie inside: a list of points is read point by point.
func mergeSpans(spans []kv.Span) []kv.Span {
	slices.SortFunc(spans, func(a, b kv.Span) int {
		if c := bytes.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		return -bytes.Compare(a.End, b.End)
	})
	out := spans[:0]
	for _, sp := range spans {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if c := bytes.Compare(sp.Start, last.End); c < 0 || c == 0 && !sp.IsPoint() &&
				!last.IsPoint() {
				if bytes.Compare(sp.End, last.End) > 0 {
					last.End = sp.End
				}
				continue
			}
		}
		out = append(out, sp)
	}
	return out
}
