// Package buffer keeps the writes of a transaction until it commits, in the order of their keys,
// each with the older writes of its key that savepoints want back.
//
// A [Buffer] takes writes of several kinds (set.go), shows them to the transaction's reads
// (Buffer.Get, [Cursor]), also as they were at one moment (Buffer.Freeze), and returns to
// savepoints (undo.go). Keys and values are copied into an [Arena]. What a write leaves for
// observers stays with it (notes.go). When the buffer is full package txn streams the writes out
// and empties it; [Of] is a write read back from the transaction's own lock.
//
// It is memory alone: it knows neither the store nor the transaction. A Buffer belongs to one
// goroutine at a time.
//
// # I26 of package txn (a savepoint costs no memory for what is written after it)
//
// Writes are numbered, and a savepoint is a number. A write after a savepoint keeps the write that
// it replaces only if a savepoint that is still wanted returns to that one, and of the writes of a
// key between two savepoints only the last is kept. So a key has at most one older write for each
// savepoint, and a statement that writes a key a thousand times after one keeps two. When the
// buffer is streamed out, numbers and older writes go into the locks (mvcc.Lock), and of the
// savepoint stays the span of the keys (savepoint.go).
package buffer
