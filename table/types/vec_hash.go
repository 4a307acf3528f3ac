package types

import (
	"hash/maphash"
	"math/bits"
)

// Hashes of rows live as long as the process: strings are hashed with a seed of its own, which no
// client can foresee.
const (
	rowHashStart = 0x9E3779B97F4A7C15
	rowHashMul   = 0xD6E8FEB86659FD93
	rowHashNull  = 0xA0761D6478BD642F
)

var rowHashSeed = maphash.MakeSeed()

// fold mixes x into h.
func fold(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, rowHashMul)
	return hi ^ lo ^ bits.RotateLeft64(x, 29)
}

// HashRows returns the hashes of rows sel over all columns, in the memory of out if that suffices.
// Rows that EqualRows calls equal have equal hashes: NULL equals NULL, -0 equals 0, 1.0 equals
// 1.00.
func HashRows(cols []*Vec, sel []int32, out []uint64) []uint64 {
	if cap(out) < len(sel) {
		out = make([]uint64, len(sel), max(len(sel), 16))
	}
	out = out[:len(sel)]
	for k := range out {
		out[k] = rowHashStart
	}
	for _, v := range cols {
		v.hashInto(sel, out)
	}
	return out
}

// hashInto mixes the entries sel into out.
func (v *Vec) hashInto(sel []int32, out []uint64) {
	if v.HasNull {
		for k, i := range sel {
			if v.Nulls[i] {
				out[k] = fold(out[k], rowHashNull)
			} else {
				out[k] = fold(out[k], v.hashEntry(int(i)))
			}
		}
		return
	}
	switch v.Type.Family.Order() {
	case I64:
		for k, i := range sel {
			out[k] = fold(out[k], uint64(v.I[i]))
		}
	case Str:
		for k, i := range sel {
			out[k] = fold(out[k], maphash.String(rowHashSeed, v.S[i]))
		}
	default:
		for k, i := range sel {
			out[k] = fold(out[k], v.hashEntry(int(i)))
		}
	}
}

// hashEntry hashes entry i, which is not NULL.
func (v *Vec) hashEntry(i int) uint64 {
	switch v.Type.Family.Order() {
	case I64:
		return uint64(v.I[i])
	case F64:
		return HashFloat(v.F[i], rowHashStart)
	case Str:
		return maphash.String(rowHashSeed, v.S[i])
	case Dec:
		return HashNumeric(v.Dec[i], rowHashStart)
	}
	return Hash(v.Type, v.Get(i), rowHashStart)
}
