package mvcc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRowsKeepTheOrderOfKeys(t *testing.T) {
	keys := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "a", "a\x00", "a\x00\x00b",
		"a\x00b", "a\x01", "ab", "b", "\xff", "\xff\xff"}
	for i, a := range keys {
		back, err := UserKey(Row([]byte(a)), nil)
		require.NoError(t, err)
		require.Equal(t, a, string(back))
		for j, b := range keys {
			require.Equal(t, bytes.Compare([]byte(a), []byte(b)),
				bytes.Compare(Row([]byte(a)), Row([]byte(b))), "%d %d", i, j)
		}
	}
}

func TestNewerVersionsSortFirst(t *testing.T) {
	row := Row([]byte("k"))
	require.Negative(t, bytes.Compare(appendWriteKey(nil, row, 9), appendWriteKey(nil, row, 8)))
	require.Negative(t, bytes.Compare(appendWriteKey(nil, row, 1),
		appendWriteKey(nil, Row([]byte("k\x00")), tso.Max)))
	require.Equal(t, row, kv.Row(appendWriteKey(nil, row, 0x0001_0000_0000_0001)))
}

// TestEncodedBytes pins the disk format.
func TestEncodedBytes(t *testing.T) {
	row := Row([]byte("a\x00b"))
	require.Equal(t, "a\x00\xffb\x00\x01", string(row))
	require.Equal(t, "la\x00\xffb\x00\x01", string(appendLockKey(nil, row)))
	require.Equal(t, "wa\x00\xffb\x00\x01\xff\xff\xff\xff\xff\xff\xff\xf7",
		string(appendWriteKey(nil, row, 8)))
	require.Equal(t, "da\x00\xffb\x00\x01\xff\xff\xff\xff\xff\xff\xff\xf8",
		string(appendDataKey(nil, row, 7)))
	l := Lock{Kind: KindPut, StartTS: 7, Primary: []byte("Bob"), TTLMillis: 300, MinCommitTS: 9,
		Short: []byte("3"), HasShort: true}
	require.Equal(t, "\x01P\x00\x00\x00\x00\x00\x00\x00\x07\xac\x02\x09\x03Bob\x013",
		string(l.appendTo(nil)))
	l.Async, l.Owner, l.Secondaries = true, 5, [][]byte{[]byte("Joe")}
	extended := l.appendTo(nil)
	require.Equal(t, "\x02P\x00\x00\x00\x00\x00\x00\x00\x07\xac\x02\x09\x03Bob"+
		"\x01\x05\x01\x03Joe\x013", string(extended))
	told := l
	told.Client, told.Statement = 12, "UP"
	require.Equal(t, "\x02P\x00\x00\x00\x00\x00\x00\x00\x07\xac\x02\x09\x03Bob"+
		"\x03\x05\x0c\x02UP\x01\x03Joe\x013", string(told.appendTo(nil)))
	versioned := told
	versioned.Seq, versioned.Older = 9, []OlderWrite{{Seq: 4, Kind: KindPut, Value: []byte("2")},
		{Kind: KindLock, Value: []byte{}}}
	require.Equal(t, "\x02P\x00\x00\x00\x00\x00\x00\x00\x07\xac\x02\x09\x03Bob\x07\x05\x0c\x02UP"+
		"\x09\x02\x04P\x012\x00L\x00\x01\x03Joe\x013", string(versioned.appendTo(nil)))
	for _, l := range []Lock{l, told, versioned} {
		extended := l.appendTo(nil)
		back, err := decodeLock(extended)
		require.NoError(t, err)
		require.Equal(t, l, back)
		for n := range len(extended) - 1 {
			_, err := decodeLock(extended[:n])
			require.ErrorIs(t, err, kv.ErrCorruption)
		}
	}
	w := Write{Kind: KindPut, StartTS: 7, Short: []byte("3"), HasShort: true}
	require.Equal(t, "P\x01\x00\x00\x00\x00\x00\x00\x00\x073", string(w.appendTo(nil)))
	w = Write{Kind: KindRollback, StartTS: 7, Protected: true}
	require.Equal(t, "R\x02\x00\x00\x00\x00\x00\x00\x00\x07", string(w.appendTo(nil)))
	require.Equal(t, "ra\x00\xffb\x00\x01\x04\x00\x00\x00\x00\x00\x00\x00\x08",
		string(appendRowLockKey(nil, row, &keyShare)))
	require.Equal(t, "\x01\x00\x00\x00\x00\x00\x00\x00\x05\x0c\x02UP",
		string(keyShare.appendTo(nil)))
	require.Equal(t, "ra\x00\xffb\x00\x01\x11\x00\x00\x00\x00\x00\x00\x00\x09"+
		"\x00\x00\x00\x00\x00\x00\x00\x07",
		string(appendRowLockKey(nil, row, &queued)))
	require.Equal(t, "\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00", string(queued.appendTo(nil)))
}

// Of one row: a lock, and a place in the queue.
var (
	keyShare = RowHolder{StartTS: 8, Owner: 5, Mode: rowlock.KeyShare, Client: 12, Statement: "UP"}
	queued   = RowHolder{StartTS: 7, Owner: 5, Mode: rowlock.Update, Place: 9}
)

func TestDecodeRefusesWhatIsNotACell(t *testing.T) {
	for _, c := range []struct{ key, value string }{
		{"", ""},
		{"z", ""},
		{"l", ""},
		{"la", "\x01P\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00"},
		{"la\x00\x01", "\x02P\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00"},
		{"la\x00\x01", "\x01R\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00"},
		{"la\x00\x01", "\x01P\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x05ab\x00"},
		{"wa\x00\x01", "P\x00\x00\x00\x00\x00\x00\x00\x00\x07"},
		{"wa\x00\x01\xff\xff\xff\xff\xff\xff\xff\xf7", "Q\x00\x00\x00\x00\x00\x00\x00\x00\x07"},
		{"wa\x00\x01\xff\xff\xff\xff\xff\xff\xff\xf7", "P\x00\x00\x00\x00\x00\x00\x00\x00\x07x"},
		{"wa\x00b\x00\x01\xff\xff\xff\xff\xff\xff\xff\xf7",
			"P\x00\x00\x00\x00\x00\x00\x00\x00\x07"},
		{"d", "x"},
		{"ra\x00\x01", string(keyShare.appendTo(nil))},
		{"ra\x00\x01\x04\x00\x00\x00\x00\x00\x00\x00\x08", "\x01"},
		{"ra\x00\x01\x05\x00\x00\x00\x00\x00\x00\x00\x08", string(keyShare.appendTo(nil))},
		{"ra\x00\x01\x14\x00\x00\x00\x00\x00\x00\x00\x08", string(keyShare.appendTo(nil))},
		{"ra\x00\x01\x04\x00\x00\x00\x00\x00\x00\x00\x08", string(keyShare.appendTo(nil)) + "x"},
		{"ra\x00\x01\x11" + strings.Repeat("\x00", 16), string(queued.appendTo(nil))},
	} {
		_, err := Decode([]byte(c.key), []byte(c.value))
		require.ErrorIs(t, err, kv.ErrCorruption, "%q %q", c.key, c.value)
	}
}

func FuzzRow(f *testing.F) {
	f.Add([]byte("a\x00b"), []byte("a"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ra, rb := Row(a), Row(b)
		if bytes.Compare(a, b) != bytes.Compare(ra, rb) {
			t.Fatalf("%x and %x change order as rows", a, b)
		}
		back, err := UserKey(ra, nil)
		if err != nil || !bytes.Equal(back, a) {
			t.Fatalf("%x came back as %x, %v", a, back, err)
		}
		if got := kv.Row(appendWriteKey(nil, ra, tso.Timestamp(len(b)))); !bytes.Equal(got, ra) {
			t.Fatalf("row of write key: %x, want %x", got, ra)
		}
	})
}

// FuzzDecode checks that no bytes make the decoder panic, and that what it accepts encodes back.
func FuzzDecode(f *testing.F) {
	row := Row([]byte("k"))
	l := Lock{Kind: KindPut, StartTS: 7, Primary: []byte("p"), TTLMillis: 3000, HasShort: true,
		Short: []byte("v")}
	w := Write{Kind: KindPut, StartTS: 7, HasShort: true, Short: []byte("v")}
	f.Add(appendLockKey(nil, row), l.appendTo(nil))
	f.Add(appendWriteKey(nil, row, 9), w.appendTo(nil))
	f.Add(appendDataKey(nil, row, 9), []byte("data"))
	f.Add(MetaKey("oracle"), []byte{0})
	f.Add(appendRowLockKey(nil, row, &keyShare), keyShare.appendTo(nil))
	f.Add(appendRowLockKey(nil, row, &queued), queued.appendTo(nil))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		c, err := Decode(key, value)
		if err != nil {
			return
		}
		row := Row(c.Key)
		var raw, val []byte
		switch c.Column {
		case ColumnLock:
			raw, val = appendLockKey(nil, row), c.Lock.appendTo(nil)
			again, err := Decode(raw, val)
			if err != nil || again.Lock.StartTS != c.Lock.StartTS ||
				!bytes.Equal(again.Lock.Primary, c.Lock.Primary) {
				t.Fatalf("lock %x came back as %+v, %v", value, again, err)
			}
			return // uvarints have several encodings
		case ColumnRowLock:
			again, err := Decode(appendRowLockKey(nil, row, &c.Holder), c.Holder.appendTo(nil))
			if err != nil || again.Holder != c.Holder {
				t.Fatalf("row lock %x came back as %+v, %v", value, again, err)
			}
			return
		case ColumnWrite:
			raw, val = appendWriteKey(nil, row, c.TS), c.Write.appendTo(nil)
		case ColumnData:
			raw, val = appendDataKey(nil, row, c.TS), c.Value
		case ColumnMeta:
			raw, val = MetaKey(string(c.Key)), c.Value
		}
		if !bytes.Equal(raw, key) || !bytes.Equal(val, value) {
			t.Fatalf("%x=%x came back as %x=%x", key, value, raw, val)
		}
	})
}
