// Package types is minidb's values: SQL types, single values (Datum), and vectors of values (Vec).
//
// A type belongs to a family, and the family alone decides how a value is held in memory. Everything
// that loops over rows switches on the family once, outside the loop.
//
//	family   | types                                                     | held as
//	---------+-----------------------------------------------------------+----------------------
//	Bool     | boolean                                                   | I (0, 1)
//	Int      | int2, int4, int8, oid and the reg* types                  | I
//	Float    | float4 (rounded to float32), float8                       | F
//	Decimal  | numeric                                                   | Dec
//	String   | text, varchar, bpchar, name, "char", unknown, json        | S (valid UTF-8)
//	Bytes    | bytea                                                     | S (raw bytes)
//	Date     | date                                                      | I: days since 2000-01-01
//	Time     | time                                                      | I: microseconds of the day
//	Timestamp| timestamp, timestamptz (UTC)                              | I: microseconds since 2000-01-01
//	Interval | interval                                                  | Iv
//	UUID     | uuid                                                      | S (16 bytes)
//	JSON     | jsonb                                                     | S: canonical jsonb text
//	Array    | arrays of any other type                                  | Arr
//	Record   | anonymous rows                                            | Arr (Elems are the fields)
//	Void     | void, and what no value has                               | -
//
// Infinities of date and timestamp are math.MinInt64 and math.MaxInt64 in I.
//
// Invariants: a NULL Datum has no other field set but Null; a bpchar keeps its padding off (it is
// stored trimmed and padded on output to its length); numeric keeps its display scale.
package types
