package types

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// ErrCannotCast is 42846 for a pair of types without a cast.
func ErrCannotCast(from, to *Type) error {
	return sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to type %s",
		from.SQLName(), to.SQLName())
}

// Cast converts a value and fits it to the target's modifier. Explicit casts to varchar(n) and
// char(n) cut what is too long; others fail. Cast does not check whether the context allows the
// cast: CastContext does. A nil format is DefaultFormat. A value of a domain is checked, NULL too.
func Cast(d Datum, from, to *Type, explicit bool, f *Format) (Datum, error) {
	if f == nil {
		f = &DefaultFormat
	}
	if to.IsDomain() && from.OID != to.OID {
		v, err := Cast(d, from, to.Base(), explicit, f)
		if err == nil {
			err = to.Admit(v, f)
		}
		return v, err
	}
	if d.Null {
		return Null, nil
	}
	from, to = from.Base(), to.Base()
	if from.OID == to.OID {
		return coerceMod(d, to, explicit)
	}
	r, err := convert(d, from, to, explicit, f)
	if err != nil || r.Null {
		return r, err
	}
	return coerceMod(r, to, explicit)
}

// coerceMod fits a value to the modifier of its type.
func coerceMod(d Datum, t *Type, explicit bool) (Datum, error) {
	if t.Mod == NoMod && t.OID != OIDBPChar || d.Null {
		return d, nil
	}
	var err error
	switch t.OID {
	case OIDVarchar, OIDBPChar:
		return coerceLength(t, d.S, explicit)
	case OIDTimeTZ:
		return timeTZWithMod(d, t.Mod), nil
	case OIDBit, OIDVarbit:
		return bitsWithMod(t, d, explicit)
	case OIDNumeric:
		d.Dec, err = NumericWithMod(d.Dec, t.Mod)
	case OIDTime:
		d.I = roundMicros(d.I, t.Mod)
	case OIDTimestamp, OIDTimestampTZ:
		d.I, err = RoundTimestamp(d.I, t.Mod)
	case OIDInterval:
		d.Iv, err = IntervalWithMod(d.Iv, t.Mod)
	default:
		if t.Family == Array && t.Elem != nil {
			elem := t.Elem.WithMod(t.Mod)
			d.Arr, err = mapArray(d.Arr,
				func(e Datum) (Datum, error) { return coerceMod(e, elem, explicit) })
		}
	}
	if err != nil {
		return Datum{}, err
	}
	return d, nil
}

func mapArray(a *ArrayValue, fn func(Datum) (Datum, error)) (*ArrayValue, error) {
	r := *a
	r.Elems = make([]Datum, len(a.Elems))
	for i, e := range a.Elems {
		var err error
		if r.Elems[i], err = fn(e); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

func convert(d Datum, from, to *Type, explicit bool, f *Format) (Datum, error) {
	switch to.Family {
	case String, CIText:
		if to.OID != OIDChar {
			return toString(d, from, to, explicit, f)
		}
	case HStore:
		if from.Family == Array {
			return HStoreFromArray(d.Arr)
		}
	case Array:
		if from.Family == Array {
			src, dst := from.Elem, to.Elem
			a, err := mapArray(d.Arr,
				func(e Datum) (Datum, error) { return Cast(e, src, dst, explicit, f) })
			return Datum{Arr: a}, err
		}
	case Record:
		if from.Family == Record {
			return d, nil
		}
	}
	switch from.Family {
	case String, CIText:
		if from.OID == OIDChar && to.OID == OIDInt4 {
			if d.S == "" {
				return Datum{}, nil
			}
			return Datum{I: int64(int8(d.S[0]))}, nil
		}
		return ParseText(to.Apply(NoMod), Text(from, d, f), f)
	case Bool:
		if to.OID == OIDInt4 {
			return d, nil
		}
	case Int:
		return fromInt(d.I, from, to)
	case Float:
		return fromFloat(d.F, from, to)
	case Decimal:
		return fromNumeric(d.Dec, to)
	case Date, Time, Timestamp, Interval:
		return fromTemporal(d, from, to, f)
	case Bit:
		return fromBits(d, to)
	case Inet:
		return fromInet(d, to)
	case Range:
		if to.Family == MultiRange && to.Sub.OID == from.OID {
			return MultiRangeDatum(MakeMultiRange(from, []RangeValue{RangeFrom(d)})), nil
		}
	case Money:
		if to.Family == Decimal {
			return Datum{Dec: moneyToNumeric(d.I)}, nil
		}
	case TimeTZ:
		if to.Family == Time {
			return Datum{I: ZonedTimeOf(d).Micros}, nil
		}
	case Geometric:
		return fromShape(d, from, to, f)
	case MacAddr, MacAddr8:
		return fromMAC(d, from, to)
	case JSON:
		return fromJSONB(d.S, to, f.Work)
	case HStore:
		if to.Family == JSON {
			return Datum{S: HStoreJSON(d, false)}, nil
		}
	}
	return Datum{}, ErrCannotCast(from, to)
}

// toString converts to text, varchar, bpchar, name, citext, json or unknown.
func toString(d Datum, from, to *Type, explicit bool, f *Format) (Datum, error) {
	var s string
	switch {
	case from.Family == Bool:
		s = strconv.FormatBool(d.I != 0) // casts write the whole word, output functions a letter
		if to.OID == OIDName {
			s = s[:1] // as the output function
		}
	case from.Family == String && from.OID != OIDChar:
		s = d.S
	case from.Family == XML && to.OID != OIDName:
		s = d.S // with its declaration, which the output function changes
	case from.Family == Inet && to.OID != OIDName:
		s = inetText(d)
	case from.Family == HStore && to.OID == OIDJSON:
		return Datum{S: HStoreJSON(d, false)}, nil
	default:
		s = Text(from, d, f)
	}
	switch to.OID {
	case OIDName:
		s = TruncateName(s)
	case OIDBPChar:
		s = strings.TrimRight(s, " ")
		if to.Mod >= 4 && from.Family != String && from.Family != CIText {
			// Conversions through text use the input function, which does not cut.
			return coerceLength(to, s, explicit)
		}
	case OIDJSON:
		if from.OID != OIDJSON {
			return Datum{S: s}, CheckJSON(s, f.Work)
		}
	}
	if IsSnapshot(to) && !IsSnapshot(from) {
		return parseSnapshot(s)
	}
	return Datum{S: s}, nil
}

func errIntRange(t *Type) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", intRangeName(t))
}

func intRangeName(t *Type) string {
	if t.OID == OIDOid || t.IsReg() {
		return "OID"
	}
	return t.SQLName()
}

// IntInRange checks v against the range of an integer type.
func IntInRange(t *Type, v int64) (int64, error) {
	switch {
	case t.OID == OIDInt2 && v != int64(int16(v)), t.OID == OIDInt4 && v != int64(int32(v)):
		return 0, errIntRange(t)
	case t.Len == 4 && t.OID != OIDInt4 && v != int64(uint32(v)):
		return 0, errIntRange(t)
	}
	return v, nil
}

func fromInt(v int64, from, to *Type) (Datum, error) {
	switch to.Family {
	case Int:
		switch {
		case from.OID == TXid8.OID && to.OID == TXid.OID:
			return Datum{I: XidOf(v)}, nil
		case from.Len == 4 && to.Len == 4: // binary coercible both ways: the bits stay
			if to.OID == OIDInt4 {
				return Datum{I: int64(int32(v))}, nil
			}
			return Datum{I: int64(uint32(v))}, nil
		case from.OID == OIDInt2 && to.Len == 4 && to.OID != OIDInt4:
			return Datum{I: int64(uint32(v))}, nil
		}
		r, err := IntInRange(to, v)
		return Datum{I: r}, err
	case Float:
		if to.OID == OIDFloat4 {
			return Datum{F: float64(float32(v))}, nil
		}
		return Datum{F: float64(v)}, nil
	case Decimal:
		return Datum{Dec: NumericFromInt(v)}, nil
	case Bool:
		if from.OID == OIDInt4 {
			return NewBool(v != 0), nil
		}
	case Money:
		if from.OID == OIDInt4 || from.OID == OIDInt8 {
			m, err := moneyFromInt(v)
			return Datum{I: m}, err
		}
	case Bit:
		if to.OID == OIDBit && from.OID != OIDInt2 {
			return bitsFromInt(v, to), nil
		}
	case String:
		if from.OID == OIDInt4 {
			if v < -128 || v > 127 {
				return Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"char\" out of range")
			}
			if v == 0 {
				return Datum{}, nil
			}
			return Datum{S: string([]byte{byte(v)})}, nil
		}
	}
	return Datum{}, ErrCannotCast(from, to)
}

func fromFloat(v float64, from, to *Type) (Datum, error) {
	switch to.Family {
	case Float:
		if to.OID == OIDFloat8 {
			return Datum{F: v}, nil
		}
		r, err := Float8ToFloat4(v)
		return Datum{F: r}, err
	case Int:
		i, err := FloatToInt(v, to)
		return Datum{I: i}, err
	case Decimal:
		return Datum{Dec: NumericFromFloat(v, from.floatBits())}, nil
	}
	return Datum{}, ErrCannotCast(from, to)
}

// Float8ToFloat4 rounds to float32, with PostgreSQL's errors for values out of its range.
func Float8ToFloat4(v float64) (float64, error) {
	r := float64(float32(v))
	switch {
	case math.IsInf(r, 0) && !math.IsInf(v, 0):
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	case r == 0 && v != 0:
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
	}
	return r, nil
}

// FloatToInt rounds half to even and checks the range of the integer type.
func FloatToInt(v float64, to *Type) (int64, error) {
	r := math.RoundToEven(v)
	lo, hi := -math.Pow(2, 63), math.Pow(2, 63)
	switch to.OID {
	case OIDInt2:
		lo, hi = -1<<15, 1<<15
	case OIDInt4:
		lo, hi = -1<<31, 1<<31
	}
	if !(r >= lo && r < hi) {
		return 0, errIntRange(to)
	}
	return int64(r), nil
}

func fromNumeric(v *apd.Decimal, to *Type) (Datum, error) {
	switch to.Family {
	case Decimal:
		return Datum{Dec: v}, nil
	case Int:
		i, err := NumericToInt(v, to)
		return Datum{I: i}, err
	case Money:
		m, err := moneyFromNumeric(v)
		return Datum{I: m}, err
	case Float:
		if to.OID == OIDFloat4 {
			f, err := ParseFloat(NumericString(v), 32)
			return Datum{F: f}, err
		}
		f, err := NumericToFloat(v)
		return Datum{F: f}, err
	}
	return Datum{}, ErrCannotCast(TNumeric, to)
}

// NumericToInt rounds half away from zero and checks the range of the integer type.
func NumericToInt(v *apd.Decimal, to *Type) (int64, error) {
	if v.Form != apd.Finite {
		what := "infinity"
		if isNaN(v) {
			what = "NaN"
		}
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert %s to %s", what,
			to.SQLName())
	}
	i, ok := NumericToInt64(v)
	if !ok {
		return 0, errIntRange(to)
	}
	return IntInRange(to, i)
}

func fromTemporal(d Datum, from, to *Type, f *Format) (Datum, error) {
	zoned := from.OID == OIDTimestampTZ
	var err error
	switch {
	case from.Family == Date && to.OID == OIDTimestamp:
		d.I, err = DateToTimestamp(d.I)
	case from.Family == Date && to.OID == OIDTimestampTZ:
		d.I, err = DateToTimestampTZ(d.I, f.Location)
	case from.Family == Time && to.Family == Interval:
		return Datum{Iv: IntervalValue{Micros: d.I}}, nil
	case from.Family == Interval && to.Family == Time:
		return Datum{I: IntervalToTime(d.Iv)}, nil
	case to.Family == TimeTZ && (from.Family == Time || zoned):
		return toTimeTZ(d.I, zoned, f)
	case from.Family == Timestamp && to.Family == Timestamp:
		if zoned {
			d.I, err = UTCToLocal(d.I, f.Location)
		} else {
			d.I, err = LocalToUTC(d.I, f.Location)
		}
	case from.Family == Timestamp && (to.Family == Date || to.Family == Time):
		if zoned {
			if d.I, err = UTCToLocal(d.I, f.Location); err != nil {
				return Datum{}, err
			}
		}
		switch {
		case to.Family == Date:
			d.I = TimestampToDate(d.I)
		case IsInfinite(d.I):
			return Null, nil
		default:
			d.I = TimestampToTimeOfDay(d.I)
		}
	default:
		return Datum{}, ErrCannotCast(from, to)
	}
	if err != nil {
		return Datum{}, err
	}
	return d, nil
}

func fromJSONB(s string, to *Type, w Work) (Datum, error) {
	v, err := ParseJSON(s, w)
	if err != nil {
		return Datum{}, err
	}
	if to.Family == Bool && v.Kind == JSONBool {
		return NewBool(v.Bool), nil
	}
	numeric := to.Family == Int || to.Family == Float || to.Family == Decimal
	if numeric && v.Kind == JSONNumber {
		return fromNumeric(v.Num, to)
	}
	if !numeric && to.Family != Bool {
		return Datum{}, ErrCannotCast(TJSONB, to)
	}
	what := "jsonb " + v.TypeName()
	if v.Kind == JSONNumber {
		what = "jsonb numeric"
	}
	return Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast %s to type %s", what,
		to.SQLName())
}
