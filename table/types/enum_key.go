package types

// The keys of an enum's labels are fractions between 0 and 1 in base 256: their bytes are the
// digits behind the point. The last digit is not 0, so two different keys are never equal as
// fractions, and between any two of them there is another.

// EnumKeys returns n keys in ascending order, spread evenly, as short as they can be so that each
// has room beside it.
func EnumKeys(n int) []string {
	width, room := 1, 256
	for room < 2*(n+1) {
		width, room = width+1, room*256
	}
	keys := make([]string, n)
	for i := range keys {
		v := (i + 1) * room / (n + 1)
		b := make([]byte, width)
		for j := width - 1; j >= 0; j-- {
			b[j], v = byte(v), v>>8
		}
		keys[i] = string(trimZeros(b))
	}
	return keys
}

// EnumKeyBetween returns a key between two others: after, or "" for the beginning, and before, or
// "" for the end. Requires: after < before, where both are given.
func EnumKeyBetween(after, before string) string {
	var b []byte
	part := 2
	if before == "" {
		part = 16 // labels are mostly added at the end, and keep short keys so
	}
	for i := 0; ; i++ {
		lo, hi := 0, 256
		if i < len(after) {
			lo = int(after[i])
		}
		if before != "" && i < len(before) {
			hi = int(before[i])
		}
		switch {
		case hi-lo > 1:
			return string(append(b, byte(lo+max(1, (hi-lo)/part))))
		case hi == lo:
			b = append(b, byte(lo))
		default: // hi is lo+1: below it there is room behind lo alone
			b, before = append(b, byte(lo)), ""
		}
	}
}

func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}
