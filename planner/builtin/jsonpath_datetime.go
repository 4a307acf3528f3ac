package builtin

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// pathMoment is a date, a time or a timestamp that .datetime() has read.
type pathMoment struct {
	t    *types.Type
	d    types.Datum
	east int32 // seconds that the zone is east of UTC, for timestamptz
}

// pathTemplates are the templates of ISO 8601, in the order in which .datetime() tries them: the
// last ones are what to_json writes.
var pathTemplates = func() (list []string) {
	zones := []string{"TZH:TZM", "TZH", ""}
	times := func(prefixes []string, zones []string) {
		for _, p := range prefixes {
			for _, fraction := range []string{".US", ""} {
				for _, z := range zones {
					list = append(list, p+"HH24:MI:SS"+fraction+z)
				}
			}
		}
	}
	list = append(list, "yyyy-mm-dd")
	times([]string{""}, zones[:2])
	times([]string{""}, zones[2:])
	dated := []string{"yyyy-mm-dd ", `yyyy-mm-dd"T"`}
	times(dated, zones[:2])
	times(dated, zones[2:])
	return list
}()

// pathTextMax bounds what .datetime() looks at: no date or time is longer.
const pathTextMax = 1 << 10

func (x *pathExec) datetime(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	if !v.is(types.JSONString) {
		return x.fail(sqlerr.InvalidSQLJSONDatetimeArg,
			"jsonpath item method .%s() can only be applied to a string", it.Kind)
	}
	var m *pathMoment
	var err error
	if it.Left != nil {
		if err = x.rt.Tick(len(v.Str) + len(it.Left.Str)); err != nil {
			return pathFailed, err
		}
		m, err = readTemplate(x.rt, v.Str, it.Left.Str)
		var broken *templateError
		if errors.As(err, &broken) {
			return pathFailed, broken.error
		}
		var invalid *sqlerr.Error
		if errors.As(err, &invalid) && !x.throw {
			return pathFailed, nil
		}
		if err != nil {
			return pathFailed, err
		}
	} else if m, err = x.isoMoment(v.Str); err != nil {
		return pathFailed, err
	} else if m == nil {
		if !x.throw {
			return pathFailed, nil
		}
		return pathFailed, sqlerr.New(sqlerr.InvalidSQLJSONDatetimeArg,
			"datetime format is not recognized: \"%s\"", v.Str).
			WithHint("Use a datetime template argument to specify the input data format.")
	}
	return x.next(it, pathValue{at: m}, found)
}

// isoMoment reads a text by the templates of ISO 8601; nil if none of them fits.
func (x *pathExec) isoMoment(s string) (*pathMoment, error) {
	if len(s) > pathTextMax && strings.TrimRight(s, " \t\n\r\v\f") == s {
		return nil, nil
	}
	for _, template := range pathTemplates {
		if err := x.rt.Tick(len(s) + 256); err != nil {
			return nil, err
		}
		m, err := readTemplate(x.rt, s, template)
		if err == nil {
			return m, nil
		}
		if !isData(err) {
			return nil, err
		}
	}
	return nil, nil
}

// compareMoments orders two moments; comparable is false for a date and a time.
func (x *pathExec) compareMoments(l, r *pathMoment) (c int, comparable bool, err error) {
	if rank(l.t) > rank(r.t) {
		c, comparable, err = x.compareMoments(r, l)
		return -c, comparable, err
	}
	zone := func() error {
		if l.t.OID == r.t.OID || x.zoned {
			return nil
		}
		return errZoneNotUsed(l.t.Name, r.t.Name)
	}
	switch {
	case rank(l.t) <= clockRank && rank(r.t) > clockRank:
		return 0, false, nil
	case l.t.OID == r.t.OID:
		return types.Compare(l.t, l.d, r.d), true, nil
	case l.t.OID == types.OIDTime && r.t.OID == types.OIDTimeTZ:
		if err := zone(); err != nil {
			return 0, false, err
		}
		d, err := types.Cast(l.d, types.TTime, types.TTimeTZ, true, &x.rt.Format)
		return types.Compare(types.TTimeTZ, d, r.d), true, err
	case r.t.OID == types.OIDTimestamp: // and a date
		ts, err := types.DateToTimestamp(l.d.I)
		if err != nil {
			return 1, true, nil // the date is after all timestamps
		}
		return cmp.Compare(ts, r.d.I), true, nil
	}
	if err := zone(); err != nil {
		return 0, false, err
	}
	var ts int64
	if l.t.OID == types.OIDDate {
		ts, err = types.DateToTimestampTZ(l.d.I, location(x.rt))
	} else {
		ts, err = types.LocalToUTC(l.d.I, location(x.rt))
	}
	if err != nil {
		return cmp.Compare(l.d.I, 0), true, nil
	}
	return cmp.Compare(ts, r.d.I), true, nil
}

// clockRank is the rank of the last type that has no date.
const clockRank = 1

// rank orders the types of moments so that one can be converted to those after it, but for the
// times before the dates.
func rank(t *types.Type) int {
	switch t.OID {
	case types.OIDTime:
		return 0
	case types.OIDTimeTZ:
		return 1
	case types.OIDDate:
		return 2
	case types.OIDTimestamp:
		return 3
	}
	return 4
}

// json is the moment as a JSON string, in ISO 8601.
func (m *pathMoment) json() *types.JSONValue {
	f := types.DefaultFormat
	var text string
	switch m.t.OID {
	case types.OIDTimeTZ:
		z := types.ZonedTimeOf(m.d)
		text = string(types.AppendTime(nil, z.Micros)) + zoneText(-z.West)
	case types.OIDTimestampTZ:
		local := types.NewInt(m.d.I + int64(m.east)*types.MicrosPerSecond)
		date, bc := strings.CutSuffix(types.Text(types.TTimestamp, local, &f), " BC")
		text = date + zoneText(m.east)
		if bc {
			text += " BC"
		}
	default:
		text = types.Text(m.t, m.d, &f)
	}
	if m.t.Family == types.Timestamp {
		text = strings.Replace(text, " ", "T", 1)
	}
	return &types.JSONValue{Kind: types.JSONString, Str: text}
}

func zoneText(east int32) string {
	sign := '+'
	if east < 0 {
		sign, east = '-', -east
	}
	return fmt.Sprintf("%c%02d:%02d", sign, east/3600, east/60%60)
}
