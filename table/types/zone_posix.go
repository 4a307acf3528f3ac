package types

import (
	"encoding/binary"
	"strings"
	"time"
)

// posixHours bounds the hours of offsets in POSIX zone strings: a week less an hour.
const posixHours = 167

// posixZone reads a POSIX zone string: a name and how far its clocks are behind UTC, then perhaps
// the same of daylight saving time and the days on which that begins and ends ("EST5",
// "<+05>-5", "NZST-12NZDT,M9.5.0/2,M4.1.0/3"). Without the days it is the United States' rule. As
// PostgreSQL does, it takes names of any length.
func posixZone(s string) (*time.Location, bool) {
	r := posixReader{rest: s}
	std, ok := r.name()
	if !ok || strings.HasPrefix(s, ":") {
		return nil, false
	}
	west, ok := r.offset()
	if !ok {
		return nil, false
	}
	if r.rest == "" {
		return time.FixedZone(fixedName(s, std), -west), true
	}
	canonical := "<" + std + ">" + s[len(s)-len(r.rest)-len(r.last):len(s)-len(r.rest)]
	dst, ok := r.name()
	if !ok || dst == "" {
		return nil, false
	}
	canonical += "<" + dst + ">"
	if r.rest != "" && r.rest[0] != ',' {
		if _, ok := r.offset(); !ok {
			return nil, false
		}
		canonical += r.last
	}
	rules := r.rest
	if rules != "" {
		begins, ends := r.rule(), r.rule()
		if !begins || !ends || r.rest != "" {
			return nil, false
		}
	}
	loc, err := time.LoadLocationFromTZData(s, zoneFile(canonical+rules, std, -west))
	return loc, err == nil
}

// fixedName is the name of a zone without daylight saving time, as SHOW prints it.
func fixedName(s, std string) string {
	if std == "" || strings.HasPrefix(s, "<") {
		return s
	}
	return std
}

// posixReader reads a POSIX zone string from its beginning.
type posixReader struct {
	rest string
	last string // the offset that was read last
}

// name reads a name, which is quoted by angle brackets or ends before a number.
func (r *posixReader) name() (name string, ok bool) {
	if strings.HasPrefix(r.rest, "<") {
		name, r.rest, ok = strings.Cut(r.rest[1:], ">")
		return name, ok
	}
	end := strings.IndexAny(r.rest, "0123456789,-+")
	if end < 0 {
		end = len(r.rest)
	}
	name, r.rest = r.rest[:end], r.rest[end:]
	return strings.ReplaceAll(name, ">", "_"), true
}

// offset reads [+-]h[h[h]][:mm[:ss]], in seconds.
func (r *posixReader) offset() (sec int, ok bool) {
	end := 0
	for end < len(r.rest) && (strings.IndexByte("0123456789:", r.rest[end]) >= 0 ||
		end == 0 && strings.IndexByte("+-", r.rest[0]) >= 0) {
		end++
	}
	r.last, r.rest = r.rest[:end], r.rest[end:]
	digits := strings.TrimLeft(r.last, "+-")
	if sec, ok = clockOffset(digits, posixHours); strings.HasPrefix(r.last, "-") {
		sec = -sec
	}
	return sec, ok
}

// rule reads ",Mm.w.d", ",Jn" or ",n", and "/time" behind it.
func (r *posixReader) rule() bool {
	if !strings.HasPrefix(r.rest, ",") {
		return false
	}
	r.rest = r.rest[1:]
	ok := false
	switch {
	case strings.HasPrefix(r.rest, "M"):
		ok = r.number("M", 1, 12) && r.number(".", 1, 5) && r.number(".", 0, 6)
	case strings.HasPrefix(r.rest, "J"):
		ok = r.number("J", 1, 365)
	default:
		ok = r.number("", 0, 365)
	}
	if ok && strings.HasPrefix(r.rest, "/") {
		r.rest = r.rest[1:]
		_, ok = r.offset()
	}
	return ok
}

// number reads a number between bounds, behind a prefix.
func (r *posixReader) number(prefix string, least, most int) bool {
	digits, ok := strings.CutPrefix(r.rest, prefix)
	if !ok {
		return false
	}
	n, i := 0, 0
	for ; i < len(digits) && isDigit(digits[i]) && n <= most; i++ {
		n = n*10 + int(digits[i]-'0')
	}
	r.rest = digits[i:]
	return i > 0 && n >= least && n <= most
}

// zoneFile returns the contents of a file of the tz database (RFC 8536) that has no transitions:
// only the rule in its last line, and the standard time, which Go wants to see before it.
func zoneFile(rule, std string, east int) []byte {
	counts := []uint32{0, 0, 0, 0, 1, uint32(len(std) + 1)} // one type of local time, its name
	header := make([]byte, 20, 64)
	copy(header, "TZif2")
	for _, n := range counts {
		header = binary.BigEndian.AppendUint32(header, n)
	}
	block := binary.BigEndian.AppendUint32(header, uint32(int32(east)))
	block = append(block, 0, 0) // no daylight saving time; the first name
	block = append(append(block, std...), 0)
	file := append(append([]byte{}, block...), block...) // the old form and the new one
	return append(append(append(file, '\n'), rule...), '\n')
}
