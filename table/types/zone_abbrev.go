package types

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Zone is what a value or an argument names as its time zone: a location, or one abbreviation in
// the history of a location. MSK was +03 until 2011, +04 from then on and +03 again since 2014, so
// what it means depends on the moment.
type Zone struct {
	Location *time.Location
	abbrev   string // "": the location's own offsets count
}

// abbreviation is an entry of zoneAbbrevs.
type abbreviation struct {
	name     string
	fixed    *time.Location // nil when the meaning depends on the moment
	offset   int            // of fixed
	daylight bool           // fixed is daylight saving time
	zone     string         // whose history it has otherwise
}

func newAbbreviation(name, meaning string) abbreviation {
	seconds, daylight := strings.CutSuffix(meaning, "D")
	offset, err := strconv.Atoi(seconds)
	switch {
	case err != nil:
		return abbreviation{name: name, zone: meaning}
	case name == "UTC":
		return abbreviation{name: name, fixed: time.UTC}
	}
	return abbreviation{name: name, fixed: time.FixedZone(name, offset), offset: offset,
		daylight: daylight}
}

// history returns the zone of an abbreviation whose meaning depends on the moment.
func (a *abbreviation) history() Zone {
	l, ok := namedZone(a.zone)
	if !ok { // the system's tz database lacks it
		l = time.UTC
	}
	return Zone{Location: l, abbrev: a.name}
}

// abbreviated finds an abbreviation in any case.
func abbreviated(name string) (Zone, bool) {
	a, ok := zoneTables().abbrevs[strings.ToLower(name)]
	switch {
	case !ok:
		return Zone{}, false
	case a.fixed != nil:
		return Zone{Location: a.fixed}, true
	}
	return a.history(), true
}

// ToLocal turns a timestamptz into what the zone's clocks show.
func (z Zone) ToLocal(ts int64) (int64, error) {
	if offset, ok := z.meaning(ts); ok {
		return moved(ts, offset)
	}
	return UTCToLocal(ts, z.Location)
}

// ToUTC turns what the zone's clocks show into a timestamptz.
func (z Zone) ToUTC(local int64) (int64, error) { return moved(local, -z.localOffset(local)) }

// localOffset returns the seconds east of UTC for a local timestamp. An abbreviation means what it
// meant at the moment when the location's clocks showed that time, as in PostgreSQL.
func (z Zone) localOffset(local int64) int {
	offset := localOffset(local, z.Location)
	if meant, ok := z.meaning(local - int64(offset)*MicrosPerSecond); ok {
		return meant
	}
	return offset
}

// lastKnown is when the tz database's list of changes of clocks ends. What comes later repeats the
// last years, and gives no abbreviation a new meaning.
var lastKnown = time.Date(2037, 12, 31, 0, 0, 0, 0, time.UTC)

// meaning returns the offset for which the abbreviation was last used at or before a timestamptz,
// or else first used after it; false when the zone has no abbreviation, or its history does not
// know it.
func (z Zone) meaning(ts int64) (offset int, ok bool) {
	if z.abbrev == "" || IsInfinite(ts) {
		return 0, false
	}
	t, ok := z.used(TimestampToTime(ts))
	_, offset = t.Zone()
	return offset, ok
}

// used returns a moment at which the zone's clocks had the abbreviation: the last one at or before
// a moment, or else the first one after it. Where they never had it, it is the given moment.
func (z Zone) used(at time.Time) (time.Time, bool) {
	if at.After(lastKnown) {
		at = lastKnown
	}
	at = at.In(z.Location)
	for t := at; ; {
		start, _ := t.ZoneBounds()
		if start.IsZero() {
			break
		}
		if name, _ := t.Zone(); name == z.abbrev {
			return t, true
		}
		t = start.Add(-1)
	}
	for t := at; ; {
		_, t = t.ZoneBounds()
		if t.IsZero() || t.After(lastKnown) {
			return at, false
		}
		if name, _ := t.Zone(); name == z.abbrev {
			return t, true
		}
	}
}

// ZoneAbbreviation is what an abbreviation means at a moment.
type ZoneAbbreviation struct {
	Name     string
	Offset   int // in seconds east of UTC
	Daylight bool
}

// ZoneAbbreviations lists what all abbreviations mean at a moment, ordered by name.
func ZoneAbbreviations(now time.Time) []ZoneAbbreviation {
	var out []ZoneAbbreviation
	for _, a := range zoneTables().abbrevs {
		z := ZoneAbbreviation{Name: a.name, Offset: a.offset, Daylight: a.daylight}
		if a.fixed == nil {
			t, _ := a.history().used(now)
			_, z.Offset = t.Zone()
			z.Daylight = t.IsDST()
		}
		out = append(out, z)
	}
	slices.SortFunc(out, func(x, y ZoneAbbreviation) int { return strings.Compare(x.Name, y.Name) })
	return out
}
