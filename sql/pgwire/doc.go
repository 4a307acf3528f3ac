// Package pgwire is the server: PostgreSQL's frontend/backend protocol, version 3.0, over sessions
// of package sql.
//
// It owns sockets, frames and the forms of values on the wire; what a statement means is package
// sql's. A [Server] accepts; each connection has one goroutine, which reads a message, lets the
// session work and writes the reply into a buffer that goes out when the client is waiting for it.
//
// Bytes from the client pass three gates. A frame's length is bounded by its type before memory is
// taken for it (frame.go), and memory grows only as bytes arrive. The body's structure is checked
// to its last byte (validate.go). Only then pgproto3 decodes it, which trusts what it is given.
//
// # A conflict, and what the client sees of it
//
// In the extended protocol an implicit transaction commits at Sync, after the replies to its
// Execute messages have been written to the buffer. When that commit meets a conflict, and nothing
// since the first Execute has left the buffer, the connection takes the replies back, runs the
// Execute messages again and tries once more (batch.go).
//
// # How long a client may take
//
// A connection that has not sent its start-up packet has little time and a place that is not a
// session's (slots.go). A session may be idle for as long as its settings allow, but a message that
// has begun must go on (frame.go). A client that does not read makes its session wait in a write;
// cancellation, a timeout and termination of the statement end that wait (output.go), and clock.go
// keeps the deadlines of all this.
//
// # Invariants
//
//   - pgwire I1: what one connection sends, or does not read, never disturbs another one: every
//     limit is per connection, and a panic ends its own connection only.
//   - pgwire I2: an ErrorResponse in the extended protocol is sent at once, with all that was
//     answered before it, and nothing is done from then on until Sync.
//   - pgwire I3: every Query and every Sync is answered by exactly one ReadyForQuery.
//   - pgwire I4: a session ends, and gives back its snapshot and locks, before its connection waits
//     for the client to take the last message.
package pgwire
