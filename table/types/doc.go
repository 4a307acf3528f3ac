// Package types is minidb's values: SQL types, single values (Datum), and vectors of values (Vec).
//
// A type belongs to a family, and the family to a storage class, which is the field of Datum and
// the slice of Vec that hold its values. Code that moves values (vec_ops.go, vec_hash.go,
// vec_compare.go, the row format of table/codec) switches on the class once, outside the loop over
// the rows; only what a value means asks for its family.
//
//	family    | types                                              | class | held as
//	----------+--------------------------------------------------+-------+-----------------------
//	Bool      | boolean                                            | I64   | 0, 1
//	Int       | int2, int4, int8, oid and the reg* types           | I64   |
//	Float     | float4 (rounded to float32), float8                | F64   |
//	Decimal   | numeric                                            | Dec   |
//	String    | text, varchar, bpchar, name, "char", unknown, json | Str   | valid UTF-8
//	Bytes     | bytea                                              | Str   | raw bytes
//	Date      | date                                               | I64   | days since 2000-01-01
//	Time      | time                                               | I64   | µs of the day
//	Timestamp | timestamp, timestamptz (UTC)                       | I64   | µs since 2000
//	Interval  | interval                                           | Iv    |
//	UUID      | uuid                                               | Str   | 16 bytes
//	JSON      | jsonb                                              | Str   | canonical jsonb text
//	TID       | tid                                                | Str   | six bytes, then a key
//	JSONPath  | jsonpath                                           | Str   | as it was written
//	XML       | xml                                                | Str   | as it was written
//	Array     | arrays of any other type                           | Arr   |
//	Record    | anonymous rows, composite types                    | Arr   | Elems are the fields
//	Bit       | bit, varbit                                        | Str   | groups of bits
//	Enum      | types made by CREATE TYPE … AS ENUM                | Str   | a label's key
//	Inet      | inet, cidr                                         | Str   | network, address
//	MacAddr   | macaddr                                            | Str   | 6 bytes
//	MacAddr8  | macaddr8                                           | Str   | 8 bytes
//	TimeTZ    | timetz                                             | Str   | 12 bytes: UTC, offset
//	Money     | money                                              | I64   | cents
//	LSN       | pg_lsn                                             | I64   | highest bit flipped
//	Range     | the range types                                    | Arr   | bounds and flags
//	Geometric | point, box and the other geometric types           | Str   | as send writes it
//	CIText    | citext                                             | Str   | as it was written
//	HStore    | hstore                                             | Str   | texts, then an index
//	MultiRange | the multirange types                              | Arr   | ranges in order
//	Void      | void, and what no value has                        | -     |
//
// A user type has a Definition. A domain has the family of the type that it is over, and its values
// are those of that type: what asks for more than the family or the class asks [Type.Base].
//
// Infinities of date and timestamp are math.MinInt64 and math.MaxInt64 in I.
//
// Invariants: a NULL Datum has no other field set but Null; a bpchar keeps its padding off (it is
// stored trimmed and padded on output to its length); numeric keeps its display scale.
package types
