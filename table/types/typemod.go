package types

import (
	"fmt"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
)

const maxAttrSize = 10 * 1024 * 1024 // PostgreSQL's MaxAttrSize: longest varchar(n)

// TypeWithMods returns base with the modifiers written in a type name: numeric(p, s), varchar(n),
// timestamp(p), interval(p). For intervals mods may also be {fields, precision}, fields being the
// Interval bits and -1 no precision.
func TypeWithMods(base *Type, mods []int) (*Type, error) {
	if len(mods) == 0 {
		return base, nil
	}
	elem := base
	if base.Family == Array && base.Elem != nil {
		elem = base.Elem
	}
	mod, err := typeMod(elem, mods)
	if err != nil {
		return nil, err
	}
	return base.Apply(mod), nil
}

func errMod(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

func typeMod(t *Type, mods []int) (int32, error) {
	switch t.OID {
	case OIDNumeric:
		return numericMod(mods)
	case OIDVarchar, OIDBPChar:
		name := "varchar"
		if t.OID == OIDBPChar {
			name = "char"
		}
		switch {
		case len(mods) != 1:
			return 0, errMod("invalid type modifier")
		case mods[0] < 1:
			return 0, errMod("length for type %s must be at least 1", name)
		case mods[0] > maxAttrSize:
			return 0, errMod("length for type %s cannot exceed %d", name, maxAttrSize)
		}
		return int32(mods[0]) + 4, nil
	case OIDBit, OIDVarbit:
		return bitsMod(t, mods)
	case OIDTime, OIDTimeTZ, OIDTimestamp, OIDTimestampTZ:
		if len(mods) != 1 {
			return 0, errMod("invalid type modifier")
		}
		return timeMod(t, mods[0])
	case OIDInterval:
		return intervalMod(mods)
	}
	return 0, sqlerr.New(sqlerr.SyntaxError, "type modifier is not allowed for type \"%s\"", t.Name)
}

func numericMod(mods []int) (int32, error) {
	precision, scale := mods[0], 0
	switch {
	case len(mods) > 2:
		return 0, errMod("invalid NUMERIC type modifier")
	case precision < 1 || precision > numericMaxPrecision:
		return 0, errMod("NUMERIC precision %d must be between 1 and %d", precision,
			numericMaxPrecision)
	}
	if len(mods) == 2 {
		scale = mods[1]
		if scale < -1000 || scale > 1000 {
			return 0, errMod("NUMERIC scale %d must be between -1000 and 1000", scale)
		}
	}
	return NumericTypeMod(precision, scale), nil
}

// NumericTypeMod is the type modifier of numeric(precision, scale).
func NumericTypeMod(precision, scale int) int32 { return int32(precision<<16|scale&0x7ff) + 4 }

// timeMod checks the precision of a time type. Above 6 PostgreSQL warns and uses 6.
func timeMod(t *Type, p int) (int32, error) {
	if p < 0 {
		what := "TIME"
		zone := ""
		switch t.OID {
		case OIDTimestamp:
			what = "TIMESTAMP"
		case OIDTimeTZ:
			zone = " WITH TIME ZONE"
		case OIDTimestampTZ:
			what, zone = "TIMESTAMP", " WITH TIME ZONE"
		}
		return 0, errMod("%s(%d)%s precision must not be negative", what, p, zone)
	}
	return int32(min(p, 6)), nil
}

// intervalMod takes a precision, or fields and precision (-1: none).
func intervalMod(mods []int) (int32, error) {
	fields, p := IntervalFullRange, mods[0]
	switch {
	case len(mods) > 2:
		return 0, errMod("invalid INTERVAL type modifier")
	case len(mods) == 2:
		if fields, p = mods[0], mods[1]; p == -1 {
			return IntervalTypeMod(fields, -1), nil
		}
	}
	if p < 0 {
		return 0, errMod("INTERVAL(%d) precision must not be negative", p)
	}
	return IntervalTypeMod(fields, int32(min(p, 6))), nil
}

// IntervalTypeMod is the type modifier of an interval limited to fields (IntervalFullRange: all)
// with the precision (-1: none given).
func IntervalTypeMod(fields int, precision int32) int32 {
	return int32(fields)<<16 | precision&0xffff
}

// TypeName is the SQL name of a type as messages, regtype and data_type show it: without a
// modifier, and with character and bit where FormatType has bpchar and "bit", since columns of type
// char(n) and bit(n) have that name.
func TypeName(oid OID) string {
	if t, ok := ByOID(oid); ok {
		return t.SQLName()
	}
	return FormatType(oid, NoMod)
}

// FormatType is PostgreSQL's format_type: the SQL name of a type with its modifier.
func FormatType(oid OID, mod int32) string {
	t, ok := ByOID(oid)
	if !ok {
		if oid == 0 {
			return "-"
		}
		return "???"
	}
	return t.Apply(mod).String()
}

// String is the type as PostgreSQL prints it, with its modifier.
func (t *Type) String() string {
	switch {
	case t.Def != nil:
		return t.userName()
	case t.Nests():
		return t.Elem.WithMod(t.Mod).String() + "[]"
	}
	e := types().entries[t.OID]
	if e == nil {
		return t.Name
	}
	oid, mod := t.OID, t.Mod
	name := e.display
	if name == "" {
		name = t.Name
	}
	if mod < 0 {
		switch oid {
		case OIDBPChar:
			return "bpchar"
		case OIDBit:
			return `"bit"`
		}
		return name
	}
	switch oid {
	case OIDBPChar, OIDVarchar:
		if mod >= 4 {
			return name + "(" + strconv.Itoa(int(mod-4)) + ")"
		}
	case OIDBit, OIDVarbit:
		return name + "(" + strconv.Itoa(int(mod)) + ")"
	case OIDNumeric:
		if mod >= 4 {
			p, s := NumericModParts(mod)
			return fmt.Sprintf("numeric(%d,%d)", p, s)
		}
	case OIDTime, OIDTimeTZ, OIDTimestamp, OIDTimestampTZ:
		base, rest := "time", " without time zone"
		if oid != OIDTime && oid != OIDTimeTZ {
			base = "timestamp"
		}
		if oid == OIDTimestampTZ || oid == OIDTimeTZ {
			rest = " with time zone"
		}
		return base + "(" + strconv.Itoa(int(mod)) + ")" + rest
	case OIDInterval:
		return "interval" + intervalModText(mod)
	}
	return name
}

var intervalFieldNames = map[int]string{
	IntervalYear: " year", IntervalMonth: " month", IntervalDay: " day", IntervalHour: " hour",
	IntervalMinute: " minute", IntervalSecond: " second",
	IntervalYear | IntervalMonth:                                 " year to month",
	IntervalDay | IntervalHour:                                   " day to hour",
	IntervalDay | IntervalHour | IntervalMinute:                  " day to minute",
	IntervalDay | IntervalHour | IntervalMinute | IntervalSecond: " day to second",
	IntervalHour | IntervalMinute:                                " hour to minute",
	IntervalHour | IntervalMinute | IntervalSecond:               " hour to second",
	IntervalMinute | IntervalSecond:                              " minute to second",
}

func intervalModText(mod int32) string {
	fields, precision := IntervalModParts(mod)
	s := intervalFieldNames[fields]
	if precision >= 0 {
		s += "(" + strconv.Itoa(int(precision)) + ")"
	}
	return s
}
