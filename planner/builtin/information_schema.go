package builtin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// informationFunctions are what PostgreSQL's information_schema.sql defines for its views: facts of
// a type and its modifier. NULL is that a type has no such fact.
var informationFunctions = []def{
	ofType("_pg_char_max_length", charMaxLength),
	ofType("_pg_char_octet_length", charOctetLength),
	ofType("_pg_numeric_precision", typePrecision),
	ofType("_pg_numeric_precision_radix", typeRadix),
	ofType("_pg_numeric_scale", typeScale),
	ofType("_pg_datetime_precision", datetimePrecision),
	f("_pg_interval_type(oid,int4) text", intervalType),
	f("nameconcatoid(name,oid) name", nameWithOID),
	f("_pg_truetypid(record,record) oid", columnFact("atttypid", "typbasetype")),
	f("_pg_truetypmod(record,record) int4", columnFact("atttypmod", "typtypmod")),
}

// columnFact returns a function of rows of pg_attribute and pg_type that gives a fact of the
// column's type: for a domain, of what the domain is over.
func columnFact(column, domain string) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		kind, err := fieldNamed(a[1].Arr, "typtype")
		if err != nil {
			return types.Null, err
		}
		if kind.S == "d" {
			return fieldNamed(a[1].Arr, domain)
		}
		return fieldNamed(a[0].Arr, column)
	}
}

func fieldNamed(r *types.ArrayValue, name string) (types.Datum, error) {
	i := slices.Index(r.Names, name)
	if i < 0 {
		return types.Null, sqlerr.New(sqlerr.DatatypeMismatch, "the record has no field \"%s\"",
			name)
	}
	return r.Elems[i], nil
}

func ofType(name string, fact func(oid types.OID, mod int64) (int64, bool)) def {
	return f(name+"(oid,int4) int4", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		n, ok := fact(types.OID(a[0].I), a[1].I)
		if !ok {
			return types.Null, nil
		}
		return types.NewInt(n), nil
	})
}

// Types that these functions know beside those of package types.
const (
	oidTimeTZ types.OID = 1266
	oidBit    types.OID = 1560
	oidVarbit types.OID = 1562
)

func charMaxLength(oid types.OID, mod int64) (int64, bool) {
	switch oid {
	case types.OIDBPChar, types.OIDVarchar:
		return mod - 4, mod != -1
	case oidBit, oidVarbit:
		return mod, mod != -1
	}
	return 0, false
}

// maxCharacterBytes is the length of the longest character in UTF-8.
const maxCharacterBytes = 4

func charOctetLength(oid types.OID, mod int64) (int64, bool) {
	switch oid {
	case types.OIDText, types.OIDBPChar, types.OIDVarchar:
		if mod == -1 {
			return 1 << 30, true
		}
		n, ok := charMaxLength(oid, mod)
		return n * maxCharacterBytes, ok
	}
	return 0, false
}

func typePrecision(oid types.OID, mod int64) (int64, bool) {
	switch oid {
	case types.OIDInt2:
		return 16, true
	case types.OIDInt4:
		return 32, true
	case types.OIDInt8:
		return 64, true
	case types.OIDFloat4:
		return 24, true
	case types.OIDFloat8:
		return 53, true
	case types.OIDNumeric:
		return (mod - 4) >> 16 & 0xffff, mod != -1
	}
	return 0, false
}

func typeRadix(oid types.OID, _ int64) (int64, bool) {
	switch oid {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDFloat4, types.OIDFloat8:
		return 2, true
	}
	return 10, oid == types.OIDNumeric
}

func typeScale(oid types.OID, mod int64) (int64, bool) {
	switch oid {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8:
		return 0, true
	case types.OIDNumeric:
		return (mod - 4) & 0xffff, mod != -1
	}
	return 0, false
}

func datetimePrecision(oid types.OID, mod int64) (int64, bool) {
	const microseconds, anyPrecision = 6, 0xffff
	switch oid {
	case types.OIDDate:
		return 0, true
	case types.OIDTime, types.OIDTimestamp, types.OIDTimestampTZ, oidTimeTZ:
		if mod < 0 {
			return microseconds, true
		}
		return mod, true
	case types.OIDInterval:
		if mod < 0 || mod&anyPrecision == anyPrecision {
			return microseconds, true
		}
		return mod & anyPrecision, true
	}
	return 0, false
}

// intervalType are the fields to which an interval is restricted: DAY TO SECOND.
func intervalType(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if types.OID(a[0].I) != types.OIDInterval {
		return types.Null, nil
	}
	name := types.FormatType(types.OIDInterval, int32(a[1].I))
	name = strings.TrimLeft(strings.TrimPrefix(name, "interval"), "()0123456789")
	if name = strings.TrimSpace(name); name == "" {
		return types.Null, nil
	}
	return types.NewString(strings.ToUpper(name)), nil
}

// nameWithOID makes a name unique: the name, shortened where needed, and an OID.
func nameWithOID(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	suffix := "_" + strconv.FormatInt(a[1].I, 10)
	room := types.TruncateName(a[0].S + suffix)
	if len(room) == len(a[0].S)+len(suffix) {
		return types.NewString(room), nil
	}
	return types.NewString(a[0].S[:len(room)-len(suffix)] + suffix), nil
}
