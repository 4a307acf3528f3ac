package stats

import (
	"math"
	"math/bits"
)

// sketch estimates how many different values there are among those whose hashes were added:
// HyperLogLog with 2^sketchBits registers, whose standard error is 1.04/√registers = 0.8 %.
type sketch struct{ registers []uint8 }

const (
	sketchBits = 14
	registers  = 1 << sketchBits
)

func newSketch() *sketch { return &sketch{registers: make([]uint8, registers)} }

// add adds a value's hash. It mixes the bits once more: single bits of the hash are not random
// enough.
func (s *sketch) add(h uint64) {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	at := h >> (64 - sketchBits)
	if rank := uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1)) +
		1); rank > s.registers[at] {
		s.registers[at] = rank
	}
}

// estimate returns the number of different values. A small number is estimated from the registers
// that are still empty.
func (s *sketch) estimate() float64 {
	sum, empty := 0.0, 0
	for _, r := range s.registers {
		sum += 1 / float64(uint64(1)<<r)
		if r == 0 {
			empty++
		}
	}
	const m = float64(registers)
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && empty > 0 {
		return m * math.Log(m/float64(empty))
	}
	return e
}
