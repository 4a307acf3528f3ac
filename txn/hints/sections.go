package hints

import (
	"bytes"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// sections cut spans that are read as a whole into parts, of each of which they remember the newest
// commit, and what a reader has made of its rows. A commit raises the section of each of its rows
// where it raises the row's slot (recent), so what is said there of slots holds for sections too.
//
// A section begins to be raised when it is published. What was raised before is not known, so it
// counts as changed up to the newest commit of all at that moment (since).
type sections struct {
	limit int64 // of bytes kept; 0: no span is cut
	ahead int64 // of the bytes kept of sections that are not in the file
	newer *atomic.Uint64
	all   atomic.Uint64              // up to here any row may have been committed
	spans atomic.Pointer[[]*cutSpan] // by their starts; none overlaps another
	mu    struct {
		sync.Mutex
		held    int64
		ahead   int64 // of held, of sections that are not in the file
		kept    map[*Section]*keptRows
		evicted time.Time // when room was looked for the last time
	}
}

// limits sets how many bytes are kept. Where there is a file, half of them are for what memory
// knows of what is there.
func (s *sections) limits(bytes int64, withFile bool) {
	s.limit, s.ahead = bytes, bytes
	if withFile {
		s.ahead = bytes / 2
	}
}

// cutSpan is a span with its sections. It is replaced when it is cut again.
type cutSpan struct {
	span       kv.Span
	start, end []byte // as rows
	parts      []*Section
	used       atomic.Int64 // when a reader asked for it, in Unix seconds
}

// Section is a part of a span, up to where the next one begins.
type Section struct {
	key, row []byte        // where it begins
	since    atomic.Uint64 // commits up to here may not have been noted
	newest   atomic.Uint64 // the newest commit of its rows that was noted
	rows     atomic.Pointer[keptRows]
}

// keptRows is what a reader made of the rows of a section, as they are at a timestamp.
type keptRows struct {
	at     tso.Timestamp
	value  any
	bytes  int64        // of memory
	inFile bool         // the value says where in the file they are
	used   atomic.Int64 // in Unix seconds
}

const (
	// sectionsMost bounds the sections of all spans, of which each takes about 200 bytes.
	sectionsMost = 1 << 16
	// keptIdle is for how long rows that no scan asks for are kept where others want their room:
	// longer than reading all that is kept takes, or else what does not fit as a whole would always
	// be replaced right before it is read again.
	keptIdle = 30 * time.Second
	// evictPause is how long it takes until room is looked for again.
	evictPause = time.Second
)

// PartSection is a section of which a reader wants a part: all of it, if Whole is set.
type PartSection struct {
	*Section
	Span  kv.Span
	Whole bool
}

// Sections returns the sections that a span overlaps, unless it contains none.
func (h *Hints) Sections(span kv.Span) []PartSection {
	c := h.Recent.sections.find(span.Start)
	if c == nil || span.End == nil || bytes.Compare(span.End, c.span.End) > 0 {
		return nil
	}
	first := sort.Search(len(c.parts),
		func(i int) bool { return bytes.Compare(c.parts[i].key, span.Start) > 0 }) - 1
	last := sort.Search(len(c.parts),
		func(i int) bool { return bytes.Compare(c.parts[i].key, span.End) >= 0 })
	out := make([]PartSection, 0, last-first)
	some := false
	for i := first; i < last; i++ {
		part, whole := c.keys(i), true
		if bytes.Compare(part.Start, span.Start) < 0 {
			part.Start, whole = span.Start, false
		}
		if bytes.Compare(part.End, span.End) > 0 {
			part.End, whole = span.End, false
		}
		some = some || whole
		out = append(out, PartSection{Section: c.parts[i], Span: part, Whole: whole})
	}
	if !some {
		return nil
	}
	c.used.Store(time.Now().Unix())
	return out
}

// keys returns the span of section i.
func (c *cutSpan) keys(i int) kv.Span {
	if i+1 < len(c.parts) {
		return kv.Span{Start: c.parts[i].key, End: c.parts[i+1].key}
	}
	return kv.Span{Start: c.parts[i].key, End: c.span.End}
}

// find returns the span that contains a key, or nil.
func (s *sections) find(key []byte) *cutSpan {
	spans := s.spans.Load()
	if spans == nil {
		return nil
	}
	i := sort.Search(len(*spans),
		func(i int) bool { return bytes.Compare((*spans)[i].span.Start, key) > 0 }) - 1
	if i < 0 || !(*spans)[i].span.Contains(key) {
		return nil
	}
	return (*spans)[i]
}

// raise notes a commit of a row.
func (s *sections) raise(row []byte, to uint64) {
	spans := s.spans.Load()
	if spans == nil {
		return
	}
	i := sort.Search(len(*spans),
		func(i int) bool { return bytes.Compare((*spans)[i].start, row) > 0 }) - 1
	if i < 0 || bytes.Compare(row, (*spans)[i].end) >= 0 {
		return
	}
	parts := (*spans)[i].parts
	at := sort.Search(len(parts),
		func(i int) bool { return bytes.Compare(parts[i].row, row) > 0 }) - 1
	raise(&parts[at].newest, to)
}

// raiseAll notes that any row may have been committed up to a timestamp.
func (s *sections) raiseAll(to uint64) {
	raise(&s.all, to) // before the look at the sections
	spans := s.spans.Load()
	if spans == nil {
		return
	}
	for _, c := range *spans {
		for _, p := range c.parts {
			raise(&p.newest, to)
		}
	}
}

// Rows returns what was kept of the section's rows, if they are the same at a read timestamp.
//
// Requires: all commits of the section at or below readTS are applied, so that they were noted.
func (s *Section) Rows(readTS tso.Timestamp) any {
	k := s.rows.Load()
	if k == nil || k.at > readTS || tso.Timestamp(s.newest.Load()) > k.at {
		return nil
	}
	k.used.Store(time.Now().Unix())
	return k.value
}

// KeepsRows reports whether rows as they are at a read timestamp may be kept: every later commit of
// them is noted, and there was none yet.
func (s *Section) KeepsRows(readTS tso.Timestamp) bool {
	return tso.Timestamp(s.since.Load()) <= readTS && tso.Timestamp(s.newest.Load()) <= readTS
}

// KeepRows keeps what a reader has made of the section's rows, which takes so many bytes of memory,
// and reports whether there is room. It must not be changed any more. inFile is set if the value
// only says where it is in the file.
func (h *Hints) KeepRows(of *Section, value any, bytes int64, inFile bool,
	readTS tso.Timestamp) bool {
	return !of.KeepsRows(readTS) || h.Recent.sections.keep(of,
		&keptRows{at: readTS, value: value, bytes: bytes, inFile: inFile})
}

// SettledSince reports whether none of the section's rows was committed after a time, as far as is
// known.
func (s *Section) SettledSince(at time.Time) bool {
	return tso.Timestamp(s.newest.Load()).Physical() <= at.UnixMilli()
}

// ForgetIdle makes room in the file: what no scan asked for in a long time goes.
func (h *Hints) ForgetIdle() {
	s := &h.Recent.sections
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evict(time.Now(), true)
}

func (s *sections) keep(of *Section, k *keptRows) bool {
	now := time.Now()
	k.used.Store(now.Unix())
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.mu.kept[of]
	if old != nil && old.at > k.at {
		return true // a reader of an older snapshot came late
	}
	if !s.fits(k, old) {
		s.evict(now, k.inFile)
		if old = s.mu.kept[of]; !s.fits(k, old) {
			return false
		}
	}
	if old != nil {
		s.drop(of, old)
	}
	s.mu.held += k.bytes
	if !k.inFile {
		s.mu.ahead += k.bytes
	}
	s.mu.kept[of] = k
	of.rows.Store(k)
	return true
}

// fits reports whether there is room for k instead of what was kept before.
func (s *sections) fits(k, old *keptRows) bool {
	held, ahead := s.mu.held+k.bytes, s.mu.ahead
	if !k.inFile {
		ahead += k.bytes
	}
	if old != nil {
		held -= old.bytes
		if !old.inFile {
			ahead -= old.bytes
		}
	}
	return held <= s.limit && (k.inFile || ahead <= s.ahead)
}

// evict drops what is no longer true, and what was not asked for in a long time: of what is in the
// file, or of the rest. It does not look again so soon.
func (s *sections) evict(now time.Time, inFile bool) {
	if now.Sub(s.mu.evicted) < evictPause {
		return
	}
	s.mu.evicted = now
	for of, k := range s.mu.kept {
		idle := k.inFile == inFile && now.Sub(time.Unix(k.used.Load(), 0)) > keptIdle
		if idle || tso.Timestamp(of.newest.Load()) > k.at {
			s.drop(of, k)
		}
	}
}

func (s *sections) drop(of *Section, k *keptRows) {
	s.mu.held -= k.bytes
	if !k.inFile {
		s.mu.ahead -= k.bytes
	}
	delete(s.mu.kept, of)
	of.rows.Store(nil)
}

// CutsSpans reports whether spans are cut into sections.
func (h *Hints) CutsSpans() bool { return h.alone && h.Recent.sections.limit > 0 }

// SectionsHeld is what is kept of sections, in bytes.
func (h *Hints) SectionsHeld() int64 {
	s := &h.Recent.sections
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.held
}

// CutSpan makes sections of a span begin at some more keys, which ascend. Those that stay as they
// are keep what is known of them.
func (h *Hints) CutSpan(span kv.Span, at [][]byte) {
	if h.CutsSpans() {
		h.Recent.sections.cut(span, at)
	}
}

func (s *sections) cut(span kv.Span, at [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var spans []*cutSpan
	if p := s.spans.Load(); p != nil {
		spans = slices.Clone(*p)
	}
	i := sort.Search(len(spans),
		func(i int) bool { return bytes.Compare(spans[i].span.Start, span.Start) >= 0 })
	next := &cutSpan{span: span, start: mvcc.Row(span.Start), end: mvcc.Row(span.End)}
	next.used.Store(time.Now().Unix())
	var old []*Section
	if i < len(spans) && bytes.Equal(spans[i].span.Start, span.Start) {
		old = spans[i].parts
		spans[i] = next
	} else {
		spans = slices.Insert(spans, i, next)
		old = []*Section{newSection(span.Start)}
	}
	fresh := next.merge(old, at)
	if over(spans) > sectionsMost {
		spans = s.forget(spans, next)
	}
	s.spans.Store(&spans)
	// Commits that looked before this were raised before they looked.
	since := max(s.newer.Load(), s.all.Load())
	for _, p := range fresh {
		p.since.Store(since)
	}
	for _, p := range old {
		if k := s.mu.kept[p]; k != nil && !slices.Contains(next.parts, p) {
			s.drop(p, k)
		}
	}
}

func newSection(key []byte) *Section {
	p := &Section{key: key, row: mvcc.Row(key)}
	p.since.Store(^uint64(0))
	return p
}

// merge makes the sections of c from those of before and more places to cut. It returns the ones
// that are new: a section whose end moves is a new one.
func (c *cutSpan) merge(old []*Section, at [][]byte) (fresh []*Section) {
	for i, p := range old {
		n := 0
		for n < len(at) && (i+1 == len(old) || bytes.Compare(at[n], old[i+1].key) < 0) {
			n++
		}
		inside := slices.DeleteFunc(slices.Clone(at[:n]),
			func(key []byte) bool { return bytes.Compare(key, p.key) <= 0 })
		at = at[n:]
		if len(inside) == 0 && p.since.Load() != ^uint64(0) {
			c.parts = append(c.parts, p)
			continue
		}
		for _, key := range slices.Insert(inside, 0, p.key) {
			part := newSection(key)
			c.parts, fresh = append(c.parts, part), append(fresh, part)
		}
	}
	return fresh
}

func over(spans []*cutSpan) (n int) {
	for _, c := range spans {
		n += len(c.parts)
	}
	return n
}

// forget takes out all spans but one that were not used in a long time, or all others.
func (s *sections) forget(spans []*cutSpan, but *cutSpan) []*cutSpan {
	idle := time.Now().Add(-keptIdle).Unix()
	left := slices.DeleteFunc(slices.Clone(spans),
		func(c *cutSpan) bool { return c != but && c.used.Load() < idle })
	if over(left) > sectionsMost {
		left = []*cutSpan{but}
	}
	for _, c := range spans {
		if slices.Contains(left, c) {
			continue
		}
		for _, p := range c.parts {
			if k := s.mu.kept[p]; k != nil {
				s.drop(p, k)
			}
		}
	}
	return left
}
