package bulk

import (
	"bytes"
	"sync"
)

// Sorter collects entries and gives them back in the order of their keys. Add and Parts belong to
// one goroutine.
type Sorter struct {
	// Skip is how many bytes all keys share at their beginning. More than they share is wrong.
	Skip int
	// Workers is how many chunks are sorted at a time, and how many parts there are.
	Workers int
	// Row is the number of the row to which the entries belong that are added now.
	Row uint32

	full    []*chunk // sorted, or being sorted
	current *chunk
	sorting sync.WaitGroup
	slots   chan struct{}
	held    int64
	n       int
}

const (
	// chunkBytes is how many bytes of keys and values a chunk has.
	chunkBytes = 4 << 20
	// entriesPerPart is the least number of entries that another part is worth.
	entriesPerPart = 1 << 14
)

// Add adds a copy of an entry.
func (s *Sorter) Add(key, value []byte) {
	if s.current == nil {
		s.current = &chunk{}
	}
	s.current.add(s.Row, key, value, s.Skip)
	s.n++
	s.held += int64(len(key)+len(value)) + entryBytes
	if len(s.current.bytes) >= chunkBytes {
		s.close()
	}
}

// Held returns about how many bytes the entries take.
func (s *Sorter) Held() int64 { return s.held }

// Len returns how many there are.
func (s *Sorter) Len() int { return s.n }

// close begins to sort the present chunk, and waits while as many are being sorted as may be.
func (s *Sorter) close() {
	c := s.current
	s.current = nil
	if c == nil {
		return
	}
	s.full = append(s.full, c)
	if c.sorted {
		return
	}
	if s.slots == nil {
		s.slots = make(chan struct{}, max(s.Workers, 1))
	}
	s.slots <- struct{}{}
	s.sorting.Go(func() {
		c.sort()
		<-s.slots
	})
}

// Reset forgets all entries.
func (s *Sorter) Reset() {
	s.sorting.Wait()
	s.full, s.current, s.held, s.n = nil, nil, 0, 0
}

// Parts returns all entries in parts: their keys are in order in each, and those of a part above
// those of the one before. Nothing may be added before Reset.
func (s *Sorter) Parts() []*Part {
	s.close()
	s.sorting.Wait()
	if s.n == 0 {
		return nil
	}
	n := max(1, min(s.Workers, s.n/entriesPerPart))
	largest := s.full[0]
	for _, c := range s.full {
		if len(c.entries) > len(largest.entries) {
			largest = c
		}
	}
	parts := make([]*Part, n)
	for i := range parts {
		parts[i] = &Part{}
		if i > 0 {
			parts[i].from = largest.key(len(largest.entries) * i / n)
			parts[i-1].to = parts[i].from
		}
	}
	if n > 1 && s.inOrder() {
		s.cutInOrder(parts)
	}
	for _, p := range parts {
		p.cut(s.full)
	}
	return parts
}

// inOrder reports whether each chunk begins where the one before ends: the entries came sorted.
func (s *Sorter) inOrder() bool {
	for i := 1; i < len(s.full); i++ {
		before := s.full[i-1]
		if bytes.Compare(before.key(len(before.entries)-1), s.full[i].key(0)) > 0 {
			return false
		}
	}
	return true
}

// cutInOrder gives each part the same number of chunks that follow one another.
func (s *Sorter) cutInOrder(parts []*Part) {
	if len(s.full) < len(parts) {
		return
	}
	for i := 1; i < len(parts); i++ {
		parts[i].from = s.full[len(s.full)*i/len(parts)].key(0)
		parts[i-1].to = parts[i].from
	}
}
