package types

// valuesOf implements values for the classes, each of which has a type T of its own.
type valuesOf[T any] []T

func (s *valuesOf[T]) resize(n, room int) {
	if cap(*s) >= max(n, room) {
		*s = (*s)[:n]
		return
	}
	if room == 0 {
		room = NextCap(cap(*s), n)
	}
	g := make([]T, n, room)
	copy(g, *s)
	*s = g
}

func (s *valuesOf[T]) gather(to int, src values, rows []int32) {
	if len(rows) == 0 {
		return
	}
	dst, from := (*s)[to:], *src.(*valuesOf[T])
	if n := len(rows); n > 1 && int(rows[n-1])-int(rows[0]) == n-1 && consecutive(rows) {
		copy(dst, from[rows[0]:int(rows[0])+n])
		return
	}
	for i, r := range rows {
		if r >= 0 {
			dst[i] = from[r]
		}
	}
}

func (s *valuesOf[T]) interleave(srcs []values, which, rows []int32) {
	from := make([]valuesOf[T], len(srcs))
	for i, v := range srcs {
		from[i] = *v.(*valuesOf[T])
	}
	dst := (*s)[:len(rows)]
	for i, r := range rows {
		dst[i] = from[which[i]][r]
	}
}

// consecutive reports whether rows count up by one, from a row that is none of an outer join's.
// Selections ascend, but row numbers of joins and sorts need not.
func consecutive(rows []int32) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] != rows[i-1]+1 {
			return false
		}
	}
	return rows[0] >= 0
}

func (s *valuesOf[T]) copyRows(src values, sel []int32) {
	if len(sel) == 0 {
		return
	}
	dst, from := *s, *src.(*valuesOf[T])
	if n := len(sel); int(sel[n-1]) == int(sel[0])+n-1 { // no gaps
		lo, hi := sel[0], sel[n-1]+1
		copy(dst[lo:hi], from[lo:hi])
		return
	}
	for _, i := range sel {
		dst[i] = from[i]
	}
}

func (s *valuesOf[T]) repeat(sel []int32) {
	dst := *s
	x := dst[sel[0]]
	for _, i := range sel[1:] {
		dst[i] = x
	}
}

func (s *valuesOf[T]) share(src values, from, to int) { *s = (*src.(*valuesOf[T]))[from:to:to] }

// noValues are the values of a vector of type void.
type noValues struct{}

func (noValues) resize(int, int)                       {}
func (noValues) gather(int, values, []int32)           {}
func (noValues) interleave([]values, []int32, []int32) {}
func (noValues) copyRows(values, []int32)              {}
func (noValues) repeat([]int32)                        {}
func (noValues) share(values, int, int)                {}
