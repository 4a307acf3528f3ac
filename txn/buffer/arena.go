package buffer

// Arena holds copies of byte slices.
type Arena []byte

// Keep copies p into the arena. The copy is never nil. Chunks double up to a megabyte, so that a
// one-row transaction allocates a few hundred bytes and a large one allocates rarely.
func (a *Arena) Keep(p []byte) []byte {
	if *a == nil || len(*a)+len(p) > cap(*a) {
		*a = make([]byte, 0, max(len(p), min(max(256, 2*cap(*a)), 1<<20)))
	}
	at := len(*a)
	*a = append(*a, p...)
	return (*a)[at:len(*a):len(*a)]
}
