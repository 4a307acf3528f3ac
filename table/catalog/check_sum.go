package catalog

import (
	"context"
	"encoding/binary"
	"hash/maphash"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// entrySum is a sum over a set of index entries that does not depend on their order: rows ask for
// entries in the order of rows, and the index has them in its own. Two sets of equal sums are
// equal, but for a chance of one in 2^128: the seeds are drawn anew in each process.
type entrySum struct {
	n    int
	a, b uint64
}

var checkSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// add adds an entry.
func (s *entrySum) add(key, value []byte) {
	var length [8]byte // of the key, so that no byte can change sides
	binary.BigEndian.PutUint64(length[:], uint64(len(key)))
	sum := func(seed maphash.Seed) uint64 {
		var h maphash.Hash
		h.SetSeed(seed)
		_, _ = h.Write(length[:])
		_, _ = h.Write(key)
		_, _ = h.Write(value)
		return h.Sum64()
	}
	s.n++
	s.a += sum(checkSeeds[0])
	s.b += sum(checkSeeds[1])
}

// sumOf reads the entries of an index.
func (ch *checker) sumOf(ctx context.Context, d *table.Desc, ix table.IndexID) (sum entrySum,
	err error) {
	it, err := ch.tx.Scan(ctx, d.IndexSpan(ix), txn.ScanOptions{})
	if err != nil {
		return sum, err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		ch.passed(d)
		sum.add(it.Key(), it.Value())
	}
	return sum, it.Err()
}
