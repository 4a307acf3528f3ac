package table

// BySeveral reports whether several goroutines read what is left.
func (s *Scanner) BySeveral() bool { return s.rest != nil }

// Hits is how many pieces of the present span are in memory.
func (s *Scanner) Hits() (n int) {
	if s.rest == nil {
		return 0
	}
	for i := range s.rest.pieces {
		if s.rest.pieces[i].kept != nil {
			n++
		}
	}
	return n
}
