package minidb

import (
	stdsql "database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// scanRow copies a row into pointers.
func scanRow(cols []physical.Column, row []types.Datum, dest []any, f *types.Format) error {
	if len(dest) != len(row) {
		return fmt.Errorf("minidb: Scan into %d destinations, the row has %d columns", len(dest),
			len(row))
	}
	for i, d := range dest {
		if d == nil {
			continue
		}
		if err := scanDatum(cols[i].Type, row[i], d, f); err != nil {
			return fmt.Errorf("minidb: Scan column %d (%s): %w", i+1, cols[i].Name, err)
		}
	}
	return nil
}

func scanDatum(t *types.Type, d types.Datum, dest any, f *types.Format) error {
	switch p := dest.(type) {
	case *any:
		*p = goValue(t, d, f)
		return nil
	case *string:
		if d.Null {
			return errNull(t, dest)
		}
		*p = textOf(t, d, f)
		return nil
	case *[]byte:
		*p = bytesOf(t, d, f)
		return nil
	case *stdsql.RawBytes:
		*p = bytesOf(t, d, f)
		return nil
	case *json.RawMessage:
		*p = bytesOf(t, d, f)
		return nil
	case *time.Time:
		return scanTime(t, d, p)
	case *time.Duration:
		return scanDuration(t, d, p)
	case stdsql.Scanner:
		return p.Scan(driverValue(t, d, f))
	}
	if done, err := scanNetwork(t, d, dest); done {
		return err
	}
	rv := reflect.ValueOf(dest)
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		return fmt.Errorf("destination %T is not a pointer", dest)
	}
	return scanReflect(t, d, rv.Elem(), f)
}

func errNull(t *types.Type, dest any) error {
	return fmt.Errorf("NULL of type %s cannot go into %T: use a pointer to a pointer, or sql.Null",
		t, dest)
}

// textOf is a value as a string: bytea as its bytes, all else as psql shows it.
func textOf(t *types.Type, d types.Datum, f *types.Format) string {
	if t.Family == types.Bytes {
		return d.S
	}
	return types.Text(t, d, f)
}

func bytesOf(t *types.Type, d types.Datum, f *types.Format) []byte {
	if d.Null {
		return nil
	}
	return []byte(textOf(t, d, f))
}

// scanReflect copies into a variable of any type.
func scanReflect(t *types.Type, d types.Datum, v reflect.Value, f *types.Format) error {
	if v.Kind() == reflect.Pointer {
		if d.Null {
			v.SetZero()
			return nil
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return scanDatum(t, d, v.Interface(), f)
	}
	if d.Null {
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Interface {
			v.SetZero()
			return nil
		}
		return errNull(t, v.Addr().Interface())
	}
	switch v.Kind() {
	case reflect.Bool:
		if t.Family != types.Bool {
			return mismatch(t, v)
		}
		v.SetBool(d.I != 0)
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return scanInt(t, d, v, f)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		u, err := strconv.ParseUint(types.Text(t, d, f), 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s cannot go into %s: %w", t, v.Type(), err)
		}
		v.SetUint(u)
		return nil
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(types.Text(t, d, f), v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s cannot go into %s: %w", t, v.Type(), err)
		}
		v.SetFloat(x)
		return nil
	case reflect.String:
		v.SetString(textOf(t, d, f))
		return nil
	}
	return scanComposite(t, d, v, f)
}

func mismatch(t *types.Type, v reflect.Value) error {
	return fmt.Errorf("%s cannot go into %s", t, v.Type())
}

func scanInt(t *types.Type, d types.Datum, v reflect.Value, f *types.Format) error {
	i := d.I
	switch t.Family {
	case types.Int:
	case types.Decimal, types.Float, types.String:
		var err error
		if i, err = strconv.ParseInt(types.Text(t, d, f), 10, 64); err != nil {
			return fmt.Errorf("%s cannot go into %s: %w", t, v.Type(), err)
		}
	default:
		return mismatch(t, v)
	}
	if v.OverflowInt(i) {
		return fmt.Errorf("%d does not fit into %s", i, v.Type())
	}
	v.SetInt(i)
	return nil
}

// scanComposite copies into arrays, slices, structs and maps.
func scanComposite(t *types.Type, d types.Datum, v reflect.Value, f *types.Format) error {
	switch {
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8:
		b := bytesOf(t, d, f)
		if t.Family.FixedLen() > 0 {
			b = []byte(d.S)
		}
		if len(b) != v.Len() {
			return fmt.Errorf("%d bytes cannot go into %s", len(b), v.Type())
		}
		reflect.Copy(v, reflect.ValueOf(b))
		return nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(bytesOf(t, d, f))
		return nil
	case v.Kind() == reflect.Slice && t.Family == types.Array:
		out := reflect.MakeSlice(v.Type(), len(d.Arr.Elems), len(d.Arr.Elems))
		for i, e := range d.Arr.Elems {
			if err := scanDatum(t.Elem, e, out.Index(i).Addr().Interface(), f); err != nil {
				return fmt.Errorf("element %d: %w", i+1, err)
			}
		}
		v.Set(out)
		return nil
	case t.Family == types.JSON || t.OID == types.OIDJSON:
		return json.Unmarshal([]byte(d.S), v.Addr().Interface())
	case v.Kind() == reflect.Interface && v.NumMethod() == 0:
		v.Set(reflect.ValueOf(goValue(t, d, f)))
		return nil
	}
	return mismatch(t, v)
}

func scanTime(t *types.Type, d types.Datum, p *time.Time) error {
	if d.Null {
		return errNull(t, p)
	}
	x, ok := timeOf(t, d)
	if !ok {
		return fmt.Errorf("%s cannot go into time.Time", t)
	}
	*p = x
	return nil
}

// timeOf is a date or timestamp as a time in UTC; false for infinity and for other types.
func timeOf(t *types.Type, d types.Datum) (time.Time, bool) {
	switch t.Family {
	case types.Timestamp:
		if !types.IsInfinite(d.I) {
			return types.TimestampToTime(d.I), true
		}
	case types.Date:
		if !types.IsInfinite(d.I) {
			y, m, day := types.DateToYMD(d.I)
			return time.Date(y, time.Month(m), day, 0, 0, 0, 0, time.UTC), true
		}
	}
	return time.Time{}, false
}

func scanDuration(t *types.Type, d types.Datum, p *time.Duration) error {
	if d.Null {
		return errNull(t, p)
	}
	switch t.Family {
	case types.Interval:
		if d.Iv.Months != 0 {
			return fmt.Errorf("an interval with months is not a time.Duration")
		}
		*p = time.Duration(d.Iv.Days)*24*time.Hour + time.Duration(d.Iv.Micros)*time.Microsecond
	case types.Time:
		*p = time.Duration(d.I) * time.Microsecond
	case types.Int:
		*p = time.Duration(d.I)
	default:
		return fmt.Errorf("%s cannot go into time.Duration", t)
	}
	return nil
}

// goValue is a value as a *any gets it: bool, int64, float64, string, []byte, time.Time, a slice of
// these for an array, or nil. numeric, uuid, jsonb, time and interval are strings.
func goValue(t *types.Type, d types.Datum, f *types.Format) any {
	if t.Family == types.Array && !d.Null {
		out := make([]any, len(d.Arr.Elems))
		for i, e := range d.Arr.Elems {
			out[i] = goValue(t.Elem, e, f)
		}
		return out
	}
	return driverValue(t, d, f)
}

// driverValue is a value as database/sql wants it.
func driverValue(t *types.Type, d types.Datum, f *types.Format) any {
	if d.Null {
		return nil
	}
	switch t.Family {
	case types.Bool:
		return d.I != 0
	case types.Int:
		return d.I
	case types.Float:
		return d.F
	case types.Bytes:
		return []byte(d.S)
	case types.Date, types.Timestamp:
		if x, ok := timeOf(t, d); ok {
			return x
		}
	}
	return types.Text(t, d, f)
}
