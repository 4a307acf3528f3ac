package types

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zones travel with the binary

	"github.com/minidb/minidb/internal/sqlerr"
)

var (
	// zoneNames lists the time zones that PostgreSQL shows in pg_timezone_names, for finding a name
	// in any case: the tz database itself is looked up by the exact name.
	//go:embed zone_names.txt
	zoneNames string
	// zoneAbbrevs is the Default set of time zone abbreviations of PostgreSQL 15: a name, and
	// either its seconds east of UTC, with a D for daylight saving time, or the zone whose history
	// says what it means at a moment. gen_zones.go makes the file.
	//go:embed zone_abbrevs.txt
	zoneAbbrevs string
)

var zoneTables = sync.OnceValue(func() (t struct {
	names   map[string]string
	abbrevs map[string]abbreviation // by the name in lower case
}) {
	names := strings.Fields(zoneNames)
	t.names = make(map[string]string, len(names))
	for _, n := range names {
		t.names[strings.ToLower(n)] = n
	}
	abbrevs := strings.Fields(zoneAbbrevs)
	t.abbrevs = make(map[string]abbreviation, len(abbrevs))
	for _, a := range abbrevs {
		name, meaning, _ := strings.Cut(a, "=")
		t.abbrevs[strings.ToLower(name)] = newAbbreviation(name, meaning)
	}
	return t
})

// ZoneNames lists the names that pg_timezone_names shows.
func ZoneNames() []string { return strings.Fields(zoneNames) }

var zoneCache sync.Map // lower case name → *time.Location

// namedZone finds a zone of the tz database in any case.
func namedZone(name string) (*time.Location, bool) {
	low := strings.ToLower(name)
	if low == "utc" {
		return time.UTC, true
	}
	if l, ok := zoneCache.Load(low); ok {
		return l.(*time.Location), true
	}
	exact, ok := zoneTables().names[low]
	if !ok {
		return nil, false
	}
	l, err := time.LoadLocation(exact)
	if err != nil {
		return nil, false
	}
	zoneCache.Store(low, l)
	return l, true
}

// fixedZone returns a zone with a constant offset, named as PostgreSQL shows it: <+02>-02.
func fixedZone(offset int) *time.Location {
	iso := string(appendOffset(nil, offset))
	posix := string(appendOffset(nil, -offset))
	return time.FixedZone("<"+iso+">"+posix, offset)
}

// clockOffset reads h[h[h]][:mm[:ss]].
func clockOffset(s string, maxHour int) (sec int, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || p[0] == '+' || i == 0 && n > maxHour || i > 0 && n > 59 {
			return 0, false
		}
		sec = sec*60 + n
	}
	for range 3 - len(parts) {
		sec *= 60
	}
	return sec, true
}

// ParseZone finds the zone that AT TIME ZONE and timezone() name: an abbreviation ("EST"), a name
// of the tz database in any case, or a POSIX offset, which counts west.
func ParseZone(name string) (Zone, error) {
	if z, ok := abbreviated(name); ok {
		return z, nil
	}
	if l, ok := namedZone(name); ok {
		return Zone{Location: l}, nil
	}
	if l, ok := posixZone(name); ok {
		return Zone{Location: l}, nil
	}
	return Zone{}, sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}

// tzHourMax is how many hours from UTC a numeric zone may be, as in PostgreSQL.
const tzHourMax = 15

// ParseZoneOffset reads a zone as ParseZone does, but takes a signed number as hours (and minutes
// and seconds) east of UTC, where POSIX counts them to the west.
func ParseZoneOffset(name string) (Zone, error) {
	if name == "" || !isDigit(name[0]) && name[0] != '+' && name[0] != '-' {
		return ParseZone(name)
	}
	if isDigit(name[0]) {
		return Zone{}, sqlerr.New(sqlerr.InvalidParameterValue,
			"invalid input syntax for type numeric time zone: \"%s\"", name).
			WithHint("Numeric time zones must have \"-\" or \"+\" as first character.")
	}
	rest := name[1:]
	if len(rest) == 4 && strings.IndexByte(rest, ':') < 0 { // hhmm
		rest = rest[:2] + ":" + rest[2:]
	}
	sec, ok := clockOffset(rest, 167)
	switch {
	case !ok:
		return ParseZone(name)
	case sec >= (tzHourMax+1)*3600:
		return Zone{}, sqlerr.New(sqlerr.InvalidParameterValue,
			"numeric time zone \"%s\" out of range", name)
	case name[0] == '-':
		sec = -sec
	}
	return Zone{Location: fixedZone(sec)}, nil
}

// ParseZoneSetting reads a value of the TimeZone parameter and returns how SHOW prints it. Plain
// numbers are hours east of UTC; abbreviations do not count, unlike in ParseZone.
func ParseZoneSetting(value string) (loc *time.Location, show string, err error) {
	v := strings.TrimSpace(value)
	if low := strings.ToLower(v); strings.HasPrefix(low, "interval") {
		iv, err := ParseInterval(strings.Trim(strings.TrimSpace(v[len("interval"):]), "'"), NoMod)
		if err == nil && iv.Months == 0 && iv.Days == 0 {
			l := fixedZone(int(iv.Micros / MicrosPerSecond))
			return l, l.String(), nil
		}
	}
	if h, err := strconv.ParseFloat(v, 64); err == nil && h > -168 && h < 168 {
		l := fixedZone(int(h * 3600))
		return l, l.String(), nil
	}
	if l, ok := namedZone(v); ok {
		return l, l.String(), nil
	}
	if l, ok := posixZone(v); ok {
		return l, v, nil
	}
	return nil, "", sqlerr.New(sqlerr.InvalidParameterValue,
		"invalid value for parameter \"TimeZone\": \"%s\"", value)
}

// IntervalZone returns the zone of AT TIME ZONE interval.
func IntervalZone(iv IntervalValue) (Zone, error) {
	if iv.Months != 0 || iv.Days != 0 {
		return Zone{}, sqlerr.New(sqlerr.InvalidParameterValue,
			"interval time zone \"%s\" must not include months or days", AppendInterval(nil, iv,
				"postgres"))
	}
	seconds := int32(iv.Micros / MicrosPerSecond) // PostgreSQL's int overflows too
	return Zone{Location: fixedZone(int(seconds))}, nil
}

// utcOffset returns the seconds east of UTC that are in force at a UTC timestamp.
func utcOffset(ts int64, loc *time.Location) int {
	if loc == time.UTC || loc == nil || IsInfinite(ts) {
		return 0
	}
	_, off := TimestampToTime(ts).In(loc).Zone()
	return off
}

// zoneAt returns offset, abbreviation and whether daylight saving is in force.
func zoneAt(ts int64, loc *time.Location) (off int, abbrev string) {
	if loc == nil {
		loc = time.UTC
	}
	abbrev, off = TimestampToTime(ts).In(loc).Zone()
	return off, abbrev
}

// OffsetAround returns how far loc's clocks are ahead of UTC at a finite timestamptz, in
// microseconds, and whether they were and will be for the given time before and after.
func OffsetAround(ts int64, loc *time.Location, around time.Duration) (micros int64, steady bool) {
	micros = int64(utcOffset(ts, loc)) * MicrosPerSecond
	if loc == time.UTC || loc == nil {
		return micros, true
	}
	at := TimestampToTime(ts).In(loc)
	start, end := at.ZoneBounds()
	steady = (start.IsZero() || at.Sub(start) > around) && (end.IsZero() || end.Sub(at) > around)
	return micros, steady
}

// localOffset returns the offset for a local timestamp. In the gap and in the repeated hour of a
// change of clocks it takes the smaller offset, standard time, as PostgreSQL does.
func localOffset(local int64, loc *time.Location) int {
	if loc == time.UTC || loc == nil || IsInfinite(local) {
		return 0
	}
	before := utcOffset(local-MicrosPerDay, loc)
	after := utcOffset(local+MicrosPerDay, loc)
	if before == after {
		return before
	}
	validBefore := utcOffset(local-int64(before)*MicrosPerSecond, loc) == before
	validAfter := utcOffset(local-int64(after)*MicrosPerSecond, loc) == after
	switch {
	case validBefore && !validAfter:
		return before
	case validAfter && !validBefore:
		return after
	}
	return min(before, after)
}

// LocalToUTC turns a local timestamp into the timestamptz that loc's clocks show as it.
func LocalToUTC(local int64, loc *time.Location) (int64, error) {
	return moved(local, -localOffset(local, loc))
}

// UTCToLocal turns a timestamptz into what loc's clocks show.
func UTCToLocal(ts int64, loc *time.Location) (int64, error) {
	return moved(ts, utcOffset(ts, loc))
}

// moved adds seconds to a timestamp, unless that is infinite.
func moved(ts int64, seconds int) (int64, error) {
	if IsInfinite(ts) {
		return ts, nil
	}
	if ts += int64(seconds) * MicrosPerSecond; !ValidTimestamp(ts) {
		return 0, errTimestampRange()
	}
	return ts, nil
}

// appendOffset writes +hh[:mm[:ss]].
func appendOffset(dst []byte, off int) []byte {
	sign := byte('+')
	if off < 0 {
		sign, off = '-', -off
	}
	dst = append(dst, sign)
	dst = appendPad2(dst, off/3600)
	if off%3600 != 0 {
		dst = append(dst, ':')
		dst = appendPad2(dst, off/60%60)
		if off%60 != 0 {
			dst = append(dst, ':')
			dst = appendPad2(dst, off%60)
		}
	}
	return dst
}

func appendPad2(dst []byte, n int) []byte {
	if n < 100 {
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	}
	return fmt.Appendf(dst, "%d", n)
}
