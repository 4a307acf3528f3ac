package pgwire

// bindMessage is the body of a Bind message. Its memory is used again for the next one, except what
// a portal keeps: portal, results.
type bindMessage struct {
	portal, statement string
	formats           []int16
	values            [][]byte // parts of the body; nil: NULL
	results           []int16
	names             names
}

// read reads a body, whose structure is valid.
func (m *bindMessage) read(body []byte) {
	w := walker{b: body}
	m.portal, m.statement = string(w.name()), m.names.of(w.name())
	m.formats = w.formats()
	m.values = m.values[:0]
	for n := w.int16(); n > 0; n-- {
		var value []byte
		if size := w.int32(); size >= 0 {
			value = w.take(int(size))
		}
		m.values = append(m.values, value)
	}
	m.results = w.formats()
}

// done forgets the body.
func (m *bindMessage) done() {
	if cap(m.values) > maxKept {
		m.values = nil
	}
	clear(m.values)
}

// oneFormat are the lists of one format code, as most clients send them. They are not changed.
var oneFormat = [2][]int16{{0}, {1}}

// formats steps over a list of format codes, and returns it.
func (w *walker) formats() []int16 {
	n := w.int16()
	if n == 0 {
		return nil
	}
	first := int16(w.int16())
	if n == 1 && (first == 0 || first == 1) {
		return oneFormat[first]
	}
	codes := make([]int16, n)
	codes[0] = first
	for i := 1; i < n; i++ {
		codes[i] = int16(w.int16())
	}
	return codes
}

// names keeps the name that a client sent last: it often sends the same one again.
type names struct{ last string }

// maxKept bounds what a connection keeps of a message's names and values.
const maxKept = 64

func (n *names) of(b []byte) string {
	if len(b) > maxKept {
		return string(b)
	}
	if string(b) != n.last {
		n.last = string(b)
	}
	return n.last
}
