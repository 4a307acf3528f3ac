package stats

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// KeysID names the keys that an operator class of GIN extracts from a column, or an expression.
type KeysID struct {
	Column table.ColumnID
	Class  string // "" for the default one
}

// Keys is how frequent the keys of a column are.
type Keys struct {
	// Common are the shares of all rows that have the most common keys. Keys are those of
	// gin.Column.AppendKeys, behind the position.
	Common map[string]float64
	Rest   float64 // of rows that have another key, on average
	PerRow float64 // number of keys of a row
}

// Share returns the share of rows that have a key, given with its position.
func (k *Keys) Share(key []byte) float64 {
	if s, ok := k.Common[string(key[1:])]; ok {
		return s
	}
	return k.Rest
}

// Bounds of what is counted.
const (
	countedRows = 10_000  // of twice as many, half are forgotten
	countedKeys = 1 << 16 // different ones
	commonKeys  = 1000
)

// keyCounts counts the keys of a column of rows chosen at random.
type keyCounts struct {
	id     KeysID
	at     int // the column of the analysis
	column *gin.Column
	rng    *rand.Rand
	stride int // one of so many rows is counted
	rows   int
	keys   int
	counts map[string]int
	sketch *sketch // of different keys
	list   [][]byte
}

// countKeys prepares counting the keys of GIN indexes.
func (a *analysis) countKeys(d *table.Desc, o *Options) {
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		if !ix.GIN() {
			continue
		}
		for n, c := range ix.Columns {
			at := a.place(d, d.Part(c.ColumnID))
			id := KeysID{c.ColumnID, c.OpClass}
			column := table.GINColumn(d, ix, n)
			if at < 0 || column == nil || slices.ContainsFunc(a.keys,
				func(k *keyCounts) bool { return k.id == id }) {
				continue
			}
			a.keys = append(a.keys, &keyCounts{id: id, at: at, column: column, stride: 1,
				rng: rand.New(rand.NewPCG(o.Seed, uint64(c.ColumnID))), counts: map[string]int{},
				sketch: newSketch()})
		}
	}
}

// place returns where the analysis has a column or an expression of d, -1 for nowhere.
func (a *analysis) place(d *table.Desc, ordinal int) int {
	if n := len(d.Columns); ordinal >= n {
		if i := slices.Index(a.exprs, ordinal-n); i >= 0 {
			return len(a.out) + i
		}
		return -1
	}
	return slices.Index(a.out, ordinal)
}

// add takes the column of a batch.
func (k *keyCounts) add(v *types.Vec, n int) error {
	for i := range n {
		if k.stride > 1 && k.rng.IntN(k.stride) > 0 {
			continue
		}
		var err error
		if k.list, err = k.column.AppendKeys(k.list[:0], v.Get(i)); err != nil {
			return err
		}
		k.rows++
		for _, key := range k.list {
			k.keys++
			k.sketch.add(types.HashString(string(key[1:]), 0))
			if len(k.counts) < countedKeys || k.counts[string(key[1:])] > 0 {
				k.counts[string(key[1:])]++
			}
		}
		if k.rows >= 2*countedRows || len(k.counts) >= countedKeys && k.rows > countedRows/10 {
			k.halve()
		}
	}
	return nil
}

// halve forgets half of what was counted: the counts are about those of half of the rows. Fewer
// rows are counted from then on.
func (k *keyCounts) halve() {
	k.stride, k.rows, k.keys = k.stride*2, k.rows/2, k.keys/2
	for key, n := range k.counts {
		if n /= 2; n == 0 {
			delete(k.counts, key)
		} else {
			k.counts[key] = n
		}
	}
}

// result makes the statistics.
func (k *keyCounts) result(e *ending) *Keys {
	out := &Keys{Common: map[string]float64{}}
	if k.rows == 0 {
		return out
	}
	rows := float64(k.rows)
	out.PerRow = float64(k.keys) / rows
	all := make([]string, 0, len(k.counts))
	for key, n := range k.counts {
		if n >= leastCommon {
			all = append(all, key)
		}
	}
	sortStable(e, all, strings.Compare)
	sortStable(e, all, func(a, b string) int { return cmp.Compare(k.counts[b], k.counts[a]) })
	all = all[:min(len(all), commonKeys)]
	rest := float64(k.keys)
	for _, key := range all {
		out.Common[key] = min(1, float64(k.counts[key])/rows)
		rest -= float64(k.counts[key])
	}
	others := max(1, k.sketch.estimate()-float64(len(all)))
	out.Rest = min(1, max(rest/others, 0.5)/rows)
	if len(all) > 0 {
		out.Rest = min(out.Rest, out.Common[all[len(all)-1]])
	}
	return out
}

// encodeKeys encodes the keys of a column, in order.
func encodeKeys(k *Keys) []byte {
	b := appendFloat(appendFloat([]byte{layout}, k.Rest), k.PerRow)
	b = binary.AppendUvarint(b, uint64(len(k.Common)))
	for _, key := range sortedKeys(k.Common) {
		b = appendFloat(b, k.Common[key])
		b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	}
	return b
}

func sortedKeys(m map[string]float64) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func decodeKeys(b []byte) (*Keys, error) {
	r := newReader(b)
	k := &Keys{Common: map[string]float64{}, Rest: r.float(0, 1),
		PerRow: r.float(0, math.MaxFloat64)}
	for range r.count() {
		share := r.float(0, 1)
		n := r.count()
		if r.bad || n > uint64(len(r.b)) {
			r.fail()
			break
		}
		k.Common[string(r.b[:n])] = share
		r.b = r.b[n:]
	}
	return k, r.end("keys")
}
