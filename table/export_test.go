package table

// BySeveral reports whether several goroutines read what is left.
func (s *Scanner) BySeveral() bool { return s.rest != nil }
