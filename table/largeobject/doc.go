// Package largeobject keeps large objects: bytes of up to 4 TB under an object ID, which clients
// read and write piece by piece, as a file.
//
// It owns their keys and what is below a descriptor: a [Handle] has a position, and reads, writes
// and truncates from there on. Privileges and the numbers of descriptors are of
// package sql; which roles an object names is of package catalog.
//
// # Keys
//
// An object is a record and pages of 2 kB, all of them ordinary keys of the transaction that writes
// them:
//
//	l {database} 01 {object}         → record: owner, privileges, comment
//	l {database} 02 {object}{page}   → the page's bytes, at most 2048
//
// A page that is not there, and the end of a page that has another one behind it, read as zeros.
// The object ends where its last page ends. lo_truncate to a greater length writes a page for that,
// which may be empty.
//
// # Invariants
//
//   - largeobject I1: every page has a record. Whatever writes a page writes the record in the same
//     transaction, whose lock it takes first. So two transactions that write the same object
//     exclude each other, as two that write the same row do; one that removes it as well.
//   - largeobject I2: a handle that was opened for reading alone shows the object as it was then.
//     Others' later commits have later timestamps. What the transaction itself writes later is kept
//     from it by a copy of the page, taken before the write.
package largeobject
