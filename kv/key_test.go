package kv_test

import (
	"bytes"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

func TestPrefixEndsAtTheFirstTerminator(t *testing.T) {
	for _, c := range []struct{ key, prefix, row string }{
		{"", "", ""},
		{"x", "x", ""},
		{"xabc", "xabc", "abc"},
		{"xa\x00\x01", "xa\x00\x01", "a\x00\x01"},
		{"xa\x00\x01q\x00\x01", "xa\x00\x01", "a\x00\x01"},
		{"xa\x00\xff\x00\x01q", "xa\x00\xff\x00\x01", "a\x00\xff\x00\x01"},
		{"xa\x00", "xa\x00", "a\x00"},
		{"\x00\x01\x00\x01", "\x00\x01\x00\x01", "\x01\x00\x01"},
		{"x\x00\x00\x01q", "x\x00\x00\x01", "\x00\x00\x01"},
	} {
		require.Equal(t, c.prefix, string(kv.Prefix([]byte(c.key))), "%q", c.key)
		require.Equal(t, c.row, string(kv.Row([]byte(c.key))), "%q", c.key)
	}
}

func TestSpan(t *testing.T) {
	s := kv.Span{Start: []byte("b"), End: []byte("d")}
	require.True(t, s.Contains([]byte("b")))
	require.False(t, s.Contains([]byte("d")))
	require.True(t, kv.Span{Start: []byte("b")}.Contains([]byte("\xff\xff")))
	require.True(t, kv.Span{Start: []byte("b"), End: []byte("b")}.Empty())
	require.Equal(t, "b", string(kv.PrefixEnd([]byte("a\xff"))))
	require.Nil(t, kv.PrefixEnd([]byte("\xff\xff")))
}

// FuzzPrefixOrder checks what an engine with prefix filters relies on: prefixes order keys before
// qualifiers do.
func FuzzPrefixOrder(f *testing.F) {
	f.Add([]byte("xa\x00\x01q"), []byte("xa\x00\xff"))
	f.Add([]byte("x\x00\x01"), []byte("x\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		pa, pb := kv.Prefix(a), kv.Prefix(b)
		if c := bytes.Compare(pa, pb); c != 0 && c != bytes.Compare(a, b) {
			t.Fatalf("%x, %x: prefixes order %d", a, b, c)
		}
		if !bytes.HasPrefix(a, pa) || !bytes.Equal(kv.Prefix(pa), pa) {
			t.Fatalf("%x: prefix %x", a, pa)
		}
	})
}

func TestBatchKeepsCopiesInOrder(t *testing.T) {
	var b kv.Batch
	k := []byte("k")
	b.Set(k, []byte("v"))
	k[0] = 'x'
	b.Delete([]byte("d"))
	require.Equal(t, 2, b.Len())
	key, value, deleted := b.Op(0)
	require.Equal(t, "k=v", string(key)+"="+string(value))
	require.False(t, deleted)
	key, _, deleted = b.Op(1)
	require.Equal(t, "d", string(key))
	require.True(t, deleted)
	b.Reset()
	require.True(t, b.Empty())
}
