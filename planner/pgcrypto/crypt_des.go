package pgcrypto

import (
	"crypto/des" //nolint:gosec // the format's
	"strings"
)

// The tables of DES (FIPS 46-3), which crypto/des does not give out: crypt(3) changes the expansion
// by its salt. Bits count from 1, at the left.
var (
	desFinal = [64]byte{40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14,
		54, 22, 62, 30, 37, 5, 45, 13, 53, 21, 61, 29, 36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11,
		51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9, 49, 17, 57, 25}
	desPermutation = [32]byte{16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24,
		14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25}
	desChoice1 = [56]byte{57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43,
		35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22,
		14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4}
	desChoice2 = [48]byte{14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7,
		27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46,
		42, 50, 36, 29, 32}
	desShifts = [16]byte{1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1}
	desBoxes  = [8][64]byte{
		{14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12,
			11, 9, 5, 3, 8, 4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4,
			9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13},
		{15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1,
			10, 6, 9, 11, 5, 0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3,
			15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9},
		{10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5,
			14, 12, 11, 15, 1, 13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0,
			6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12},
		{7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2,
			12, 1, 10, 14, 9, 10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10,
			1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14},
		{2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15,
			10, 3, 9, 8, 6, 4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1,
			14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3},
		{12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13,
			14, 0, 11, 3, 8, 9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9,
			5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13},
		{4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5,
			12, 2, 15, 8, 6, 1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1,
			4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12},
		{13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6,
			11, 0, 14, 9, 2, 7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4,
			10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11},
	}
)

// cryptDES is the oldest format: two digits of salt, 25 rounds, and eight characters that count.
func cryptDES(password, setting string, step func(bytes int) error) (string, error) {
	key := desKey(password)
	salt := digitValue(setting[1])<<6 | digitValue(setting[0])
	out, err := saltedDES(key, salt, 25, step)
	return setting[:2] + out, err
}

// cryptExtendedDES is BSDi's format: _, four digits of rounds, four of salt.
func cryptExtendedDES(password, setting string, step func(bytes int) error) (string, error) {
	if len(setting) < 9 {
		return "", ErrSalt
	}
	var count, salt uint32
	for i := range 4 {
		count |= digitValue(setting[1+i]) << (6 * i)
		salt |= digitValue(setting[5+i]) << (6 * i)
	}
	key := desKey(password)
	for rest := password[min(len(password), 8):]; rest != ""; rest = rest[min(len(rest), 8):] {
		if err := step(64); err != nil {
			return "", err
		}
		c, err := des.NewCipher(key[:])
		if err != nil {
			return "", err
		}
		c.Encrypt(key[:], key[:])
		for i := range min(len(rest), 8) {
			key[i] ^= rest[i] << 1
		}
	}
	out, err := saltedDES(key, salt, count, step)
	return setting[:9] + out, err
}

func desKey(password string) (key [8]byte) {
	for i := range min(len(password), 8) {
		key[i] = password[i] << 1
	}
	return key
}

// digitValue is the value of a digit; of what is none it is 0.
func digitValue(c byte) uint32 { return uint32(max(0, strings.IndexByte(itoa64, c))) }

// saltedDES encrypts zeros count times and writes the result as eleven digits.
func saltedDES(key [8]byte, salt, count uint32, step func(bytes int) error) (string, error) {
	d := newSaltedDES(key, salt)
	for range max(count, 1) {
		if err := step(8 << 10); err != nil {
			return "", err
		}
		d.encrypt()
	}
	var bits [66]byte
	for i, from := range desFinal {
		bits[i] = d.bit(int(from) - 1)
	}
	out := make([]byte, 11)
	for i := range out {
		v := 0
		for _, b := range bits[6*i : 6*i+6] {
			v = v<<1 | int(b)
		}
		out[i] = itoa64[v]
	}
	return string(out), nil
}

// desState is DES with a changed expansion, and the block: a bit in each byte.
type desState struct {
	keys        [16][48]byte
	expansion   [48]byte
	left, right [32]byte
}

func newSaltedDES(key [8]byte, salt uint32) *desState {
	d := &desState{}
	var chosen [56]byte
	for i, from := range desChoice1 {
		chosen[i] = key[(from-1)/8] >> (7 - (from-1)%8) & 1
	}
	shift := 0
	for round, n := range desShifts {
		shift += int(n)
		for i, from := range desChoice2 {
			half := int(from-1) / 28 * 28
			d.keys[round][i] = chosen[half+(int(from-1)-half+shift)%28]
		}
	}
	for i := range d.expansion {
		d.expansion[i] = byte((i/6*4 + i%6 + 31) % 32)
	}
	for i := range 24 {
		if salt>>i&1 != 0 {
			d.expansion[i], d.expansion[i+24] = d.expansion[i+24], d.expansion[i]
		}
	}
	return d
}

// bit is a bit of the block before the final permutation.
func (d *desState) bit(i int) byte {
	if i < 32 {
		return d.left[i]
	}
	return d.right[i-32]
}

// encrypt encrypts the block. The permutations between two encryptions cancel each other.
func (d *desState) encrypt() {
	for round := range d.keys {
		var out [32]byte
		for box := range desBoxes {
			var in [6]byte
			for i := range in {
				k := box*6 + i
				in[i] = d.right[d.expansion[k]] ^ d.keys[round][k]
			}
			row := in[0]<<1 | in[5]
			v := desBoxes[box][row<<4|in[1]<<3|in[2]<<2|in[3]<<1|in[4]]
			for i := range 4 {
				out[box*4+i] = v >> (3 - i) & 1
			}
		}
		next := d.left
		for i, from := range desPermutation {
			next[i] ^= out[from-1]
		}
		d.left, d.right = d.right, next
	}
	d.left, d.right = d.right, d.left
}
