//go:build cgo

package pebblekv

// OutsideGo reports whether cache and memtables lie outside of Go's heap, where Go's memory limit
// does not see them.
const OutsideGo = true
