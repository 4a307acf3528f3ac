package minidb

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// bindArgs converts Go values to the types of a statement's parameters.
func bindArgs(ts []*types.Type, args []any, f *types.Format) ([]types.Datum, error) {
	if len(args) != len(ts) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"the statement has %d parameters, %d arguments were given", len(ts), len(args))
	}
	if len(args) == 0 {
		return nil, nil
	}
	out := make([]types.Datum, len(args))
	for i, a := range args {
		d, err := toDatum(ts[i], a, f)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", i+1, err)
		}
		out[i] = d
	}
	return out, nil
}

// toDatum converts one Go value. Strings are read as SQL reads a literal of the type. A value of a
// domain must meet its constraints.
func toDatum(t *types.Type, v any, f *types.Format) (types.Datum, error) {
	if t.IsDomain() {
		d, err := toDatum(t.Base(), v, f)
		if err == nil {
			err = t.Admit(d, f)
		}
		return d, err
	}
	switch x := v.(type) {
	case nil:
		return types.Null, nil
	case int:
		return intDatum(t, int64(x), f)
	case int64:
		return intDatum(t, x, f)
	case string:
		return textDatum(t, x, f)
	case bool:
		return boolDatum(t, x, f)
	case float64:
		return floatDatum(t, x, f)
	case []byte:
		if x == nil {
			return types.Null, nil
		}
		return bytesDatum(t, x, f)
	case time.Time:
		return timeDatum(t, x, f)
	case time.Duration:
		return durationDatum(t, x, f)
	case driver.Valuer:
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			return types.Null, nil
		}
		inner, err := x.Value()
		if err != nil {
			return types.Datum{}, err
		}
		if _, again := inner.(driver.Valuer); again {
			return types.Datum{}, fmt.Errorf("%T gives another driver.Valuer", v)
		}
		return toDatum(t, inner, f)
	}
	return reflectDatum(t, v, f)
}

// reflectDatum converts values of named and composite types.
func reflectDatum(t *types.Type, v any, f *types.Format) (types.Datum, error) {
	if s, ok := networkText(t, v); ok {
		return textDatum(t, s, f)
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return types.Null, nil
		}
		return toDatum(t, rv.Elem().Interface(), f)
	}
	if raw, ok := v.(json.RawMessage); ok && raw == nil {
		return types.Null, nil
	}
	switch rv.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int, reflect.Int64:
		return intDatum(t, rv.Int(), f)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint, reflect.Uint64,
		reflect.Uintptr:
		u := rv.Uint()
		if u > math.MaxInt64 {
			return textDatum(t, strconv.FormatUint(u, 10), f)
		}
		return intDatum(t, int64(u), f)
	case reflect.Float32:
		if t.Family == types.Float {
			return types.NewFloat(rv.Float()), nil
		}
		return textDatum(t, strconv.FormatFloat(rv.Float(), 'g', -1, 32), f)
	case reflect.Float64:
		return floatDatum(t, rv.Float(), f)
	case reflect.String:
		return textDatum(t, rv.String(), f)
	case reflect.Bool:
		return boolDatum(t, rv.Bool(), f)
	}
	if b, ok := byteSequence(rv); ok {
		return bytesDatum(t, b, f)
	}
	if t.Family == types.JSON || t.OID == types.OIDJSON {
		b, err := json.Marshal(v)
		if err != nil {
			return types.Datum{}, err
		}
		return types.ParseText(t, string(b), f)
	}
	if t.Family == types.Array && (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array) {
		return arrayDatum(t, rv, f)
	}
	if s, ok := v.(fmt.Stringer); ok {
		return textDatum(t, s.String(), f)
	}
	return types.Datum{}, fmt.Errorf("%T cannot be a %s", v, t)
}

// byteSequence returns the bytes of []byte, [n]byte and named types of these.
func byteSequence(rv reflect.Value) ([]byte, bool) {
	switch rv.Kind() {
	case reflect.Slice:
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			return rv.Bytes(), true
		}
	case reflect.Array:
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, rv.Len())
			reflect.Copy(reflect.ValueOf(b), rv)
			return b, true
		}
	}
	return nil, false
}

func arrayDatum(t *types.Type, rv reflect.Value, f *types.Format) (types.Datum, error) {
	if rv.Kind() == reflect.Slice && rv.IsNil() {
		return types.Null, nil
	}
	elems := make([]types.Datum, rv.Len())
	for i := range elems {
		var err error
		if elems[i], err = toDatum(t.Elem, rv.Index(i).Interface(), f); err != nil {
			return types.Datum{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return types.NewArray(elems), nil
}

func textDatum(t *types.Type, s string, f *types.Format) (types.Datum, error) {
	if t.Family == types.Bytes {
		return types.NewString(s), nil
	}
	if err := types.CheckUTF8([]byte(s)); err != nil {
		return types.Datum{}, err
	}
	return types.ParseText(t, s, f)
}

func intDatum(t *types.Type, i int64, f *types.Format) (types.Datum, error) {
	switch t.Family {
	case types.Int:
		if t.Len == 8 {
			return types.NewInt(i), nil
		}
	case types.Float:
		return types.NewFloat(float64(i)), nil
	case types.Decimal:
		if t.Mod == types.NoMod {
			return types.NewDecimal(types.NumericFromInt(i)), nil
		}
	}
	return types.ParseText(t, strconv.FormatInt(i, 10), f)
}

func floatDatum(t *types.Type, x float64, f *types.Format) (types.Datum, error) {
	if t.Family == types.Float && t.Len == 8 {
		return types.NewFloat(x), nil
	}
	if t.Family == types.Int && x == math.Trunc(x) && math.Abs(x) < 1<<63 {
		return intDatum(t, int64(x), f)
	}
	return types.ParseText(t, strconv.FormatFloat(x, 'g', -1, 64), f)
}

func boolDatum(t *types.Type, b bool, f *types.Format) (types.Datum, error) {
	if t.Family == types.Bool {
		return types.NewBool(b), nil
	}
	return types.ParseText(t, strconv.FormatBool(b), f)
}

func bytesDatum(t *types.Type, b []byte, f *types.Format) (types.Datum, error) {
	switch {
	case t.Family == types.Bytes:
		return types.NewString(string(b)), nil
	case len(b) > 0 && len(b) == t.Family.FixedLen():
		return types.NewString(string(b)), nil
	}
	return textDatum(t, string(b), f)
}

func durationDatum(t *types.Type, d time.Duration, f *types.Format) (types.Datum, error) {
	switch t.Family {
	case types.Interval:
		return types.NewInterval(types.IntervalValue{Micros: d.Microseconds()}), nil
	case types.Time:
		if d >= 0 && d <= 24*time.Hour {
			return types.NewInt(d.Microseconds()), nil
		}
	case types.Int, types.Float, types.Decimal:
		return intDatum(t, int64(d), f)
	}
	return types.ParseText(t, strconv.FormatInt(d.Microseconds(), 10)+" microseconds", f)
}

// timeDatum converts a time: a timestamptz is the instant, the types without zone are what the
// time's own clock and calendar show.
func timeDatum(t *types.Type, x time.Time, f *types.Format) (types.Datum, error) {
	wall := time.Date(x.Year(), x.Month(), x.Day(), x.Hour(), x.Minute(), x.Second(),
		x.Nanosecond(), time.UTC)
	switch t.Family {
	case types.Timestamp:
		if t.OID == types.OIDTimestampTZ {
			wall = x
		}
		ts := types.TimestampFromTime(wall)
		if !types.ValidTimestamp(ts) {
			return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
		}
		if t.Mod != types.NoMod {
			var err error
			if ts, err = types.RoundTimestamp(ts, t.Mod); err != nil {
				return types.Datum{}, err
			}
		}
		return types.NewInt(ts), nil
	case types.Date:
		d, ok := types.DateFromYMD(x.Year(), int(x.Month()), x.Day())
		if !ok {
			return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range")
		}
		return types.NewInt(d), nil
	case types.Time:
		return types.NewInt(int64(x.Hour())*3_600_000_000 + int64(x.Minute())*60_000_000 +
			int64(x.Second())*1_000_000 + int64(x.Nanosecond())/1000), nil
	}
	return types.ParseText(t, x.Format("2006-01-02 15:04:05.999999Z07:00"), f)
}
