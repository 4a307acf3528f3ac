package types

import (
	"unsafe"

	"github.com/cockroachdb/apd/v3"
)

// Datum is one value. The storage class of its type determines which field holds it; the type
// travels beside it, since a Datum does not contain it. The zero Datum is false, 0 or ""; NULL is
// Datum{Null: true}.
type Datum struct {
	Null bool
	I    int64
	F    float64
	S    string
	Dec  *apd.Decimal // shared and never changed in place
	Iv   IntervalValue
	Arr  *ArrayValue
}

// DatumSize is the size of a Datum in bytes, without what it points to.
const DatumSize = int(unsafe.Sizeof(Datum{}))

// Null is the NULL of every type.
var Null = Datum{Null: true}

// IntervalValue is PostgreSQL's interval: three counts that do not convert into each other.
type IntervalValue struct {
	Months int32
	Days   int32
	Micros int64
}

// ArrayValue is an array or a record: elements in row-major order. Dims and Lower are nil for an
// empty array and for records; a one-dimensional array has one entry in each.
type ArrayValue struct {
	Elems []Datum
	Dims  []int
	Lower []int
	// Types holds the fields' types of a record; nil for arrays. Names holds their names where a
	// row of a relation was made into a record; nil: f1, f2, ….
	Types []*Type
	Names []string
}

// NewInt returns a datum of class I64.
func NewInt(i int64) Datum { return Datum{I: i} }

// NewBool returns a Bool datum.
func NewBool(b bool) Datum {
	if b {
		return Datum{I: 1}
	}
	return Datum{}
}

// NewFloat returns a Float datum.
func NewFloat(f float64) Datum { return Datum{F: f} }

// NewString returns a datum of class Str.
func NewString(s string) Datum { return Datum{S: s} }

// NewDecimal returns a Decimal datum; d must not be changed afterwards.
func NewDecimal(d *apd.Decimal) Datum { return Datum{Dec: d} }

// NewInterval returns an Interval datum.
func NewInterval(iv IntervalValue) Datum { return Datum{Iv: iv} }

// NewArray returns a one-dimensional array.
func NewArray(elems []Datum) Datum {
	a := &ArrayValue{Elems: elems}
	if len(elems) > 0 {
		a.Dims, a.Lower = []int{len(elems)}, []int{1}
	}
	return Datum{Arr: a}
}

// Bool is the truth of a Bool datum; NULL is false.
func (d Datum) Bool() bool { return !d.Null && d.I != 0 }
