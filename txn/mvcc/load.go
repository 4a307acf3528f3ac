package mvcc

import (
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Loaded makes the cells of keys that a transaction brings in as sorted files (txn: I29). Each gets
// a write record at the transaction's own start_ts, which it reads itself. The record names DataTS,
// a timestamp of no transaction: one that named start_ts would pass for the transaction's commit.
type Loaded struct {
	StartTS, DataTS tso.Timestamp

	row, cell, value []byte // buffers
}

// Write puts the write record of a key.
func (l *Loaded) Write(put func(key, value []byte) error, key, value []byte) error {
	l.row = AppendRow(l.row[:0], key)
	l.cell = appendWriteKey(l.cell[:0], l.row, l.StartTS)
	w := Write{Kind: KindPut, StartTS: l.DataTS}
	if len(value) <= ShortValueMax {
		w.Short, w.HasShort = value, true
	}
	l.value = w.appendTo(l.value[:0])
	return put(l.cell, l.value)
}

// Data puts the value of a key, if it is too long for the write record.
func (l *Loaded) Data(put func(key, value []byte) error, key, value []byte) error {
	if len(value) <= ShortValueMax {
		return nil
	}
	l.row = AppendRow(l.row[:0], key)
	l.cell = appendDataKey(l.cell[:0], l.row, l.DataTS)
	return put(l.cell, value)
}

// LoadedSpans returns where an engine keeps what was loaded into a span of user keys.
func LoadedSpans(span kv.Span) []kv.Span {
	return []kv.Span{familySpan(familyData, span), familySpan(familyWrite, span)}
}
