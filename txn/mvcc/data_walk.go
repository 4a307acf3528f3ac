package mvcc

import (
	"bytes"

	"github.com/minidb/minidb/kv"
)

// dataWalk finds data of rows in their order. The data of neighbours mostly are neighbours, so an
// iterator steps from one to the next. On a network it reads many of them in one request.
type dataWalk struct {
	it kv.Iterator // nil until it is opened
}

// find moves to the data with a raw key, and reports whether there is any.
func (w *dataWalk) find(key []byte) (value []byte, found bool, err error) {
	for range stepsBeforeSeek {
		if !w.it.Valid() || bytes.Compare(w.it.Key(), key) >= 0 {
			break
		}
		w.it.Next()
	}
	if !w.it.Valid() || !bytes.Equal(w.it.Key(), key) {
		if !w.it.SeekGE(key) || !bytes.Equal(w.it.Key(), key) {
			return nil, false, w.it.Err()
		}
	}
	value, err = w.it.Value()
	return value, err == nil, err
}

func (w *dataWalk) close() (err error) {
	if w.it != nil {
		err = w.it.Close()
		w.it = nil
	}
	return err
}
