package exec

import (
	"hash/maphash"
	"math/bits"

	"github.com/minidb/minidb/table/types"
)

const (
	hashStart = 0x9E3779B97F4A7C15
	hashMul   = 0xD6E8FEB86659FD93
	hashNull  = 0xA0761D6478BD642F
)

var hashSeed = maphash.MakeSeed()

// mix folds x into h.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, hashMul)
	return hi ^ lo ^ bits.RotateLeft64(x, 29)
}

// hashRows makes out[k] the hash of row sel[k] over all columns: rows that are equal, as grouping
// understands it (NULL equals NULL, -0 equals 0, 1.0 equals 1.00), have equal hashes.
func hashRows(cols []*types.Vec, sel []int32, out []uint64) []uint64 {
	if cap(out) < len(sel) {
		out = make([]uint64, len(sel), max(len(sel), 16))
	}
	out = out[:len(sel)]
	for k := range out {
		out[k] = hashStart
	}
	for _, c := range cols {
		hashColumn(c, sel, out)
	}
	return out
}

func hashColumn(c *types.Vec, sel []int32, out []uint64) {
	if c.HasNull {
		for k, i := range sel {
			if c.Nulls[i] {
				out[k] = mix(out[k], hashNull)
			} else {
				out[k] = mix(out[k], hashEntry(c, int(i)))
			}
		}
		return
	}
	switch c.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		for k, i := range sel {
			out[k] = mix(out[k], uint64(c.I[i]))
		}
	case types.String, types.Bytes, types.UUID:
		for k, i := range sel {
			out[k] = mix(out[k], maphash.String(hashSeed, c.S[i]))
		}
	default:
		for k, i := range sel {
			out[k] = mix(out[k], hashEntry(c, int(i)))
		}
	}
}

// hashEntry hashes entry i, which is not NULL.
func hashEntry(c *types.Vec, i int) uint64 {
	switch c.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		return uint64(c.I[i])
	case types.String, types.Bytes, types.UUID:
		return maphash.String(hashSeed, c.S[i])
	case types.Float:
		return types.HashFloat(c.F[i], hashStart)
	case types.Decimal:
		return types.HashNumeric(c.Dec[i], hashStart)
	}
	return types.Hash(c.Type, c.Get(i), hashStart)
}
