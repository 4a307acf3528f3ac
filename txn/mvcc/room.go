package mvcc

import "bytes"

// What a mutation takes of an update's room (kv.Limits).

// RowWrites is how often a row is written to at most in one update of a commit or a rollback, but
// for its notifications and row locks: a rollback removes lock, data and an older record of its
// kind, and writes a record.
const RowWrites = 4

const (
	// cellBytes is what a cell takes at most, without its row and what varies: family, timestamps,
	// numbers of ten bytes at most, lengths.
	cellBytes = 96
	// ValueOverhead is the most by which a cell's value is longer than the value of a key in it.
	ValueOverhead = 512
)

// CellKeyBytes is the most that the key of a cell of the row takes.
func CellKeyBytes(row []byte) int { return len(row) + 32 }

// MostWritten returns the most writes that a mutation causes in one update, and their bytes.
func MostWritten(m *Mutation, primary []byte) (ops, size int) {
	ops = RowWrites + len(m.Notes)
	size = ops*(CellKeyBytes(m.Row)+cellBytes) + len(m.Value) + len(primary)
	for i := range m.Older {
		size += cellBytes + len(m.Older[i].Value)
	}
	for i := range m.Notes {
		size += len(m.Notes[i].Old) + len(m.Notes[i].Path)
	}
	if bytes.Equal(m.Key, primary) {
		size += StatementMax
	}
	return ops, size
}
