// Package bulk sorts many keys with their values in memory, on all processors: chunks are sorted
// while more are added, and merged in parts that do not overlap. Package txn makes files of the
// parts.
package bulk
