// Package notify carries NOTIFY's messages from the transactions that send them to the sessions
// that LISTEN, in this process's memory.
//
// A transaction gathers its messages in a [Pending]. Before it commits it announces itself
// ([Queue.Announce]); afterwards the [Sending] is committed or dropped. A [Listener] takes what is
// new for it when its session is idle.
//
// # Invariants
//
//   - notify I1: a message is seen only after what its transaction wrote is, and never when the
//     transaction failed.
//   - notify I2: messages come in the order in which their transactions became visible. A message
//     waits for every sender that had announced itself and may still commit at an earlier
//     timestamp.
//   - notify I3: a session that has listened since before a transaction became visible gets what
//     that transaction sends, however slow the session is. The queue is bounded instead, and a
//     sender is refused when it is full.
package notify
