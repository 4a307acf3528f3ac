package types

// Storage is the class of memory that holds a value: the field of Datum and the slice of Vec. Code
// that moves values switches on it, so that a new family with a storage class of another adds no
// case.
type Storage uint8

// The storage classes.
const (
	NoStorage Storage = iota
	I64               // Datum.I and Vec.I
	F64               // Datum.F and Vec.F
	Str               // Datum.S and Vec.S
	Dec               // Datum.Dec and Vec.Dec
	Iv                // Datum.Iv and Vec.Iv
	Arr               // Datum.Arr and Vec.Arr
)

// The arrays have an entry for each uint8, so that looking one up needs no check of bounds.
var (
	storages = [256]Storage{
		Bool: I64, Int: I64, Date: I64, Time: I64, Timestamp: I64,
		Float:  F64,
		String: Str, Bytes: Str, UUID: Str, JSON: Str, Bit: Str, TID: Str, Enum: Str,
		Inet: Str, MacAddr: Str, MacAddr8: Str,
		TimeTZ: Str, Money: I64, LSN: I64, JSONPath: Str, Geometric: Str,
		CIText: Str, HStore: Str, XML: Str,
		Decimal:  Dec,
		Interval: Iv,
		Array:    Arr, Record: Arr, Range: Arr, MultiRange: Arr,
	}
	orders = [256]Storage{
		Bool: I64, Int: I64, Date: I64, Time: I64, Timestamp: I64,
		Float:  F64,
		String: Str, Bytes: Str, UUID: Str, Bit: Str, Enum: Str,
		Inet: Str, MacAddr: Str, MacAddr8: Str,
		TimeTZ: Str, Money: I64, LSN: I64, HStore: Str,
		Decimal:  Dec,
		Interval: Iv,
	}
)

// Storage returns the class of memory that holds the family's values; NoStorage for Void.
func (f Family) Storage() Storage { return storages[f] }

// Order returns the storage class whose comparison is the family's: numbers, text by bytes,
// numerics, intervals. It is NoStorage where Compare must look into the value (JSON, CIText, Array,
// Record). A bpchar orders as Str when it is trimmed, as stored values are.
func (f Family) Order() Storage { return orders[f] }

// Unordered reports whether values of the type can be neither sorted nor hashed: json, jsonpath,
// xml, and the geometric types, whose operators = and < compare areas and lengths.
func (t *Type) Unordered() bool {
	t = t.Base()
	return t.OID == OIDJSON || t.Family == JSONPath || t.Family == XML ||
		t.Family == Geometric
}

// FixedLen returns the length in bytes of the family's strings if they all have one, else 0. Such
// strings are stored as they are; others in a key are escaped and end with a mark.
func (f Family) FixedLen() int {
	switch f {
	case UUID:
		return 16
	case MacAddr:
		return 6
	case MacAddr8:
		return 8
	case TimeTZ:
		return zonedTimeLen
	}
	return 0
}

// FixedSize reports whether all values of the class take the same memory, none of it elsewhere.
func (s Storage) FixedSize() bool { return s == I64 || s == F64 || s == Iv }
