// Package memory bounds what a process holds in memory. It counts bytes that its callers announce;
// it allocates nothing itself and speaks no SQL.
//
// A [Pool] has a bound. Its parts:
//
//	bound
//	├─ fixed     caches and memtables of the open stores (Pool.Fix)
//	└─ the heap  what is left
//	   ├─ share    what accounts hold, at most 9/16 of the heap
//	   │  └─ reserve   the last 1/8 of the share, for small accounts only
//	   └─ room     for garbage, for growing, for what is not counted
//
// Go collects garbage when the heap has doubled, so a heap whose live part stays below the share
// stays within the bound, whether or not the program sets Go's own limit to the heap
// ([Pool.Bound]).
//
// An [Account] counts what one session holds. Its first bytes are free, so that a statement of one
// row never touches the pool; beyond these it takes from the pool in steps that grow with it.
//
// When the pool has no more, the largest account pays, whichever account asks:
//
//   - The asker is the largest: Grow fails with an [ExhaustedError].
//   - Another is: its owner is asked to end what runs (Owner.End), and the asker waits until memory
//     comes back or its own context ends. One account ends at a time: while one is ending, no other
//     is chosen.
//   - An account whose owner runs nothing (the open cursor of an idle client) cannot act, so it is
//     passed over, and the largest that runs something is ended.
//
// Invariants:
//
//   - M1: the sum of what accounts have taken stays at or below the share, and below the share
//     without the reserve as soon as an account of more than 1 MiB takes.
//   - M2: an asker waits only while some other account is ending, and an ending account never
//     waits.
//   - M3: a closed account has given everything back.
package memory
