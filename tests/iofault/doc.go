// Package iofault fails every write of a workload in turn, with an I/O error or a full disk, once
// and for good, and proves that the store answers with an error or stops, and never with wrong
// data: what was acknowledged is there after it is opened again, whole, and nothing else that was
// refused.
package iofault
