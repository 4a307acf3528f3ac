package txn

import (
	"unicode/utf8"

	"github.com/minidb/minidb/txn/mvcc"
)

// SetStatement says what the transaction runs from now on. The primary's lock carries the text of the
// last statement that wrote, cut to mvcc.StatementMax bytes, so that whoever waits can say for what.
func (t *Txn) SetStatement(text string) { t.statement = text }

// cutStatement returns the longest beginning of text that is valid UTF-8 and short enough.
func cutStatement(text string) string {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r == utf8.RuneError && size <= 1 || n+size > mvcc.StatementMax {
			break
		}
		n += size
	}
	return text[:n]
}

// client is the number by which the floors above know whoever runs the transaction, zero for nobody.
func (t *Txn) client() uint64 {
	if o := t.locking.Owner; o != nil {
		return uint64(o.ID())
	}
	return 0
}
