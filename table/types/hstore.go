package types

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// An hstore is held as bytes that order as PostgreSQL's hstore_cmp does. Without pairs they are
// empty, else
//
//	key 1, value 1, key 2, value 2, …    as they are; a NULL has no bytes
//	00                                   which no text contains
//	number of pairs                      4 bytes, big-endian
//	for each key and each value          4 bytes: where it ends; 01 if it is NULL, else 00
//
// Pairs are in the order of their keys: a shorter key is first, of two equally long ones the lesser
// by its bytes. So 'a=>1, b=>NULL' is 61 31 62 00 | 00000002 | 0000000100 0000000200 0000000300
// 0000000301.
const (
	hstoreEnd   = 0x00
	hstoreCount = 4 // bytes of the number of pairs
	hstoreEntry = 5 // bytes of a key's or value's end and flag
)

// HStorePair is a key with its value.
type HStorePair struct {
	Key, Value string
	Null       bool // the value is NULL
}

func (p *HStorePair) size() int { return len(p.Key) + len(p.Value) + 2*hstoreEntry }

// CompareHStoreKeys orders keys as they are within an hstore.
func CompareHStoreKeys(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// NewHStore makes an hstore of pairs, which it sorts in place. Of pairs with the same key the first
// stays.
func NewHStore(pairs []HStorePair) (Datum, error) {
	byKey := func(a, b HStorePair) int { return CompareHStoreKeys(a.Key, b.Key) }
	if !slices.IsSortedFunc(pairs, byKey) {
		slices.SortStableFunc(pairs, byKey)
	}
	pairs = slices.CompactFunc(pairs, func(a, b HStorePair) bool { return a.Key == b.Key })
	if len(pairs) == 0 {
		return Datum{}, nil
	}
	size := 1 + hstoreCount
	for i := range pairs {
		size += pairs[i].size()
	}
	if size > math.MaxInt32 {
		return Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"hstore of %d bytes exceeds the maximum allowed (%d)", size, math.MaxInt32)
	}
	b := make([]byte, 0, size)
	for i := range pairs {
		b = append(append(b, pairs[i].Key...), pairs[i].Value...)
	}
	b = append(b, hstoreEnd)
	b = binary.BigEndian.AppendUint32(b, uint32(len(pairs)))
	end := 0
	for i := range pairs {
		end += len(pairs[i].Key)
		b = append(binary.BigEndian.AppendUint32(b, uint32(end)), 0)
		end += len(pairs[i].Value)
		b = append(binary.BigEndian.AppendUint32(b, uint32(end)), byte(NewBool(pairs[i].Null).I))
	}
	return Datum{S: string(b)}, nil
}

// HStoreValue reads an hstore in place.
type HStoreValue struct {
	text  string // keys and values
	index string // an entry for each
}

// HStoreOf reads a datum of type hstore. Bytes that are none are read as some hstore.
func HStoreOf(d Datum) HStoreValue {
	if len(d.S) < 1+hstoreCount+2*hstoreEntry {
		return HStoreValue{}
	}
	end := be32(d.S[len(d.S)-hstoreEntry:])
	index := end + 1 + hstoreCount
	if index > len(d.S) {
		return HStoreValue{}
	}
	return HStoreValue{text: d.S[:end], index: d.S[index:]}
}

func be32(s string) int {
	return int(s[0])<<24 | int(s[1])<<16 | int(s[2])<<8 | int(s[3])
}

// Len returns the number of pairs.
func (h HStoreValue) Len() int { return len(h.index) / (2 * hstoreEntry) }

// part returns key i/2, or if i is odd its value.
func (h HStoreValue) part(i int) string {
	from, to := 0, min(be32(h.index[i*hstoreEntry:]), len(h.text))
	if i > 0 {
		from = min(be32(h.index[(i-1)*hstoreEntry:]), to)
	}
	return h.text[from:to]
}

// Key returns the key of pair i, in the order of keys.
func (h HStoreValue) Key(i int) string { return h.part(2 * i) }

// Value returns the value of pair i; false: it is NULL.
func (h HStoreValue) Value(i int) (string, bool) {
	return h.part(2*i + 1), h.index[(2*i+2)*hstoreEntry-1] == 0
}

// Pair returns pair i.
func (h HStoreValue) Pair(i int) HStorePair {
	v, ok := h.Value(i)
	return HStorePair{Key: h.Key(i), Value: v, Null: !ok}
}

// Find returns the number of the pair with a key, -1 if there is none.
func (h HStoreValue) Find(key string) int {
	low, high := 0, h.Len()
	for low < high {
		mid := (low + high) / 2
		switch c := CompareHStoreKeys(h.Key(mid), key); {
		case c == 0:
			return mid
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return -1
}

// Get returns the value of a key as a text, NULL if there is none.
func (h HStoreValue) Get(key string) Datum {
	if i := h.Find(key); i >= 0 {
		return h.Datum(i)
	}
	return Null
}

// Datum returns the value of pair i as a text.
func (h HStoreValue) Datum(i int) Datum {
	if v, ok := h.Value(i); ok {
		return NewString(v)
	}
	return Null
}

// Pairs returns all pairs in the order of their keys.
func (h HStoreValue) Pairs() []HStorePair {
	out := make([]HStorePair, h.Len())
	for i := range out {
		out[i] = h.Pair(i)
	}
	return out
}

// HStoreFromArray makes an hstore of an array of keys and values: in turn, or as rows of two.
func HStoreFromArray(a *ArrayValue) (Datum, error) {
	switch {
	case len(a.Dims) > 2:
		return Datum{}, errSubscripts("wrong number of array subscripts")
	case len(a.Dims) == 1 && len(a.Elems)%2 != 0:
		return Datum{}, errSubscripts("array must have even number of elements")
	case len(a.Dims) == 2 && a.Dims[1] != 2:
		return Datum{}, errSubscripts("array must have two columns")
	}
	pairs := make([]HStorePair, 0, len(a.Elems)/2)
	for i := 0; i < len(a.Elems); i += 2 {
		k, v := a.Elems[i], a.Elems[i+1]
		if k.Null {
			return Datum{}, ErrHStoreKey()
		}
		pairs = append(pairs, HStorePair{Key: k.S, Value: v.S, Null: v.Null})
	}
	return NewHStore(pairs)
}

// ErrHStoreKey returns the error of a key that is NULL.
func ErrHStoreKey() error {
	return sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for hstore key")
}

func errSubscripts(message string) error {
	return sqlerr.New(sqlerr.ArraySubscriptError, "%s", message)
}
