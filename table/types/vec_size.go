package types

// Sizes by which memory is counted, in bytes: a datum of a row with the room that growing slices
// leave unused, a numeric, and an array or record without its elements.
const (
	rowDatumSize = 96
	numericSize  = 48
	arraySize    = 80
)

// EntryWidth is the size of a vector's entry in bytes, its NULL mark included.
func (s Storage) EntryWidth() int64 {
	if s == Str || s == Iv {
		return 17
	}
	return 9
}

// ExtraSize is about how many bytes a value holds beyond its Datum.
func (d *Datum) ExtraSize() int64 {
	n := int64(len(d.S))
	if d.Dec != nil {
		n += numericSize
	}
	if d.Arr != nil {
		n += d.Arr.size()
	}
	return n
}

func (a *ArrayValue) size() int64 { return arraySize + RowSize(a.Elems) }

// RowSize is about how many bytes a row of datums takes in memory.
func RowSize(row []Datum) int64 {
	n := rowDatumSize * int64(len(row))
	for i := range row {
		n += row[i].ExtraSize()
	}
	return n
}

// ExtraSize is about how many bytes rows sel hold beyond their entries.
func (v *Vec) ExtraSize(sel []int32) int64 {
	total := int64(0)
	switch v.Type.Family.Storage() {
	case Str:
		for _, i := range sel {
			if !v.HasNull || !v.Nulls[i] {
				total += int64(len(v.S[i]))
			}
		}
	case Dec:
		total = numericSize * int64(len(sel))
	case Arr:
		for _, i := range sel {
			if !v.HasNull || !v.Nulls[i] {
				total += v.Arr[i].size()
			}
		}
	}
	return total
}
