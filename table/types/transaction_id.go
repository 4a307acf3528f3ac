package types

import (
	"math"
	"strconv"
	"strings"
)

// XidOf returns the xid of a transaction, given its xid8, which is its start timestamp. The lower
// half of a timestamp would return every few seconds, so the xid of a large number is a hash of it:
// applications compare the xmin of a row with an earlier one to find out whether it has changed.
// The small numbers, which name no transaction, stay as they are.
func XidOf(xid8 int64) int64 {
	if u := uint64(xid8); u <= math.MaxUint32 {
		return xid8
	}
	const firstNormal = 3
	return max(int64(uint32(mix(uint64(xid8), hashK2))), firstNormal)
}

func isTransactionID(t *Type) bool {
	return t.OID == TXid.OID || t.OID == TXid8.OID || t.OID == TCid.OID
}

// parseTransactionID reads a number as C's strtoull does: what follows it, or all of what is none,
// is passed over; a number that is too large is the largest.
func parseTransactionID(t *Type, s string) int64 {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	digits, negative := strings.CutPrefix(s, "-")
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = hex, 16
	} else if strings.HasPrefix(digits, "0") {
		base = 8
	}
	n := 0
	for n < len(digits) && digitBelow(digits[n], base) {
		n++
	}
	v, err := strconv.ParseUint(digits[:n], base, 64)
	switch {
	case n == 0:
		return 0
	case err != nil:
		v, negative = math.MaxUint64, false
	}
	if negative {
		v = -v
	}
	if t.Len == 4 {
		return int64(uint32(v))
	}
	return int64(v)
}

func digitBelow(c byte, base int) bool {
	v, err := strconv.ParseUint(string(c), base, 8)
	return err == nil && v < uint64(base)
}

// Snapshot is a pg_snapshot: the transactions below Min have ended, those from Max on had not
// begun, and those in Running were running.
type Snapshot struct {
	Min, Max uint64
	Running  []uint64
}

// ParseSnapshot reads xmin:xmax:xip_list; false if s is none.
func ParseSnapshot(s string) (sn Snapshot, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return sn, false
	}
	var err error
	number := func(s string) uint64 {
		v, bad := strconv.ParseUint(s, 10, 64)
		if err == nil {
			err = bad
		}
		return v
	}
	sn.Min, sn.Max = number(parts[0]), number(parts[1])
	if err != nil || sn.Min == 0 || sn.Max < sn.Min || sn.Max > math.MaxInt64 {
		return sn, false
	}
	last := uint64(0)
	for _, p := range strings.Split(parts[2], ",") {
		if parts[2] == "" {
			break
		}
		v := number(p)
		if err != nil || v < sn.Min || v >= sn.Max || v < last {
			return sn, false
		}
		if v != last {
			sn.Running = append(sn.Running, v)
		}
		last = v
	}
	return sn, true
}

// String is the text form.
func (sn Snapshot) String() string {
	b := strconv.AppendUint(nil, sn.Min, 10)
	b = strconv.AppendUint(append(b, ':'), sn.Max, 10)
	b = append(b, ':')
	for i, v := range sn.Running {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, v, 10)
	}
	return string(b)
}

// IsSnapshot reports whether the values of a type are snapshots.
func IsSnapshot(t *Type) bool { return t.OID == TPgSnapshot.OID || t.OID == TTxidSnapshot.OID }

func parseSnapshot(s string) (Datum, error) {
	sn, ok := ParseSnapshot(s)
	if !ok {
		return Datum{}, errSyntaxFor(TPgSnapshot, s)
	}
	return Datum{S: sn.String()}, nil
}
