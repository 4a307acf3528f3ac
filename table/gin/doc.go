// Package gin knows the operator classes of GIN indexes: which keys an index has of a value, and
// which keys the rows must have that satisfy a condition.
//
// An index entry of GIN has one key that a value contains: an element of an array, a key or a
// scalar of a jsonb document, a trigram of a text, a key or a value of an hstore.
// [Column.AppendKeys] extracts them, [Column.Query] turns an operator and its argument into a
// [Query] over keys. A query never excludes a row that satisfies the condition, but it may include
// others: the caller tests the condition on each row that it finds.
//
// The package owns the bytes of keys within entries, and nothing of how entries are stored, read or
// intersected: that is package table's.
//
// # Keys
//
// A key is the position of its column within the index, from 1, in one byte, and then one of
//
//	02 … and 03   a key, or the key NULL, as package codec writes a datum
//	04            there is no key in the value: '{}'
//	05            the value is NULL
//
// The last two let a condition that such values satisfy be answered, as <@ of an array is by '{}'.
package gin
