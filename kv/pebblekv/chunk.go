package pebblekv

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// Pebble's logs and manifests are blocks of 32 KiB, and blocks are chunks. A record is one chunk or
// several in a row (first, middle, last). A chunk does not cross the end of its block; what is left
// of a block behind its last chunk is zero.
//
//	+-----+--------+------+---------+---------------+---------+
//	| CRC | length | type | log     | synced offset | payload |
//	| 4   | 2      | 1    | 4       | 8             |         |
//	+-----+--------+------+---------+---------------+---------+
//
// Types 1 to 4 (manifests) end their header behind the type, 5 to 8 behind the low bytes of the
// log's file number. 9 to 12 also have the offset up to which the log was synced when the chunk was
// written: whatever lies below it was acknowledged. The checksum covers everything from the type
// on.
const (
	blockSize = 32 << 10

	chunkHeader     = 7
	logChunkHeader  = chunkHeader + 4
	syncChunkHeader = logChunkHeader + 8
	firstLogType    = 5
	firstSyncType   = 9
	lastSyncType    = 12
	manifestTypes   = 4 // types
)

// chunkKind is what parseChunk finds at a place.
type chunkKind int

const (
	chunkInvalid  chunkKind = iota
	chunkValid              // its checksum is right
	chunkTrailer            // the end of a log that was closed
	chunkBlockEnd           // nothing more fits into the block
)

// chunk is a decoded piece of a record, at some offset of a block.
type chunk struct {
	kind   chunkKind
	end    int    // offset behind it
	first  bool   // it begins a record
	last   bool   // it ends a record
	synced uint64 // offset in the log up to which it was synced
}

// chunkFormat is what marks a chunk as belonging to one file.
type chunkFormat struct {
	manifest bool
	logNum   uint32 // low bytes of the number of the log
}

// header returns the length of the header of a chunk of the type; 0 for a type that the file has
// not.
func (f chunkFormat) header(typ byte) int {
	switch {
	case f.manifest && typ >= 1 && typ <= manifestTypes:
		return chunkHeader
	case f.manifest:
		return 0
	case typ >= firstSyncType && typ <= lastSyncType:
		return syncChunkHeader
	case typ >= firstLogType && typ < firstSyncType:
		return logChunkHeader
	}
	return 0
}

// smallest returns the least room that a writer still puts a chunk into.
func (f chunkFormat) smallest() int {
	if f.manifest {
		return chunkHeader
	}
	return syncChunkHeader
}

// parse reads the chunk at an offset of a block.
func (f chunkFormat) parse(block []byte, at int) chunk {
	b := block[at:]
	if len(b) < f.smallest() && len(block) == blockSize && len(bytes.Trim(b, "\x00")) == 0 {
		return chunk{kind: chunkBlockEnd, end: len(block)}
	}
	if len(b) < chunkHeader {
		return chunk{}
	}
	typ, length := b[6], int(binary.LittleEndian.Uint16(b[4:]))
	n := f.header(typ)
	if n == 0 || len(b) < n {
		return chunk{}
	}
	if !f.manifest {
		num := binary.LittleEndian.Uint32(b[chunkHeader:])
		if typ == firstLogType && num == f.logNum+1 && length == 0 &&
			binary.LittleEndian.Uint32(b) == 0 {
			return chunk{kind: chunkTrailer, end: at + n}
		}
		if num != f.logNum {
			return chunk{}
		}
	}
	if len(b) < n+length || binary.LittleEndian.Uint32(b) != checksum(b[6:n+length]) {
		return chunk{}
	}
	c := chunk{kind: chunkValid, end: at + n + length, first: (typ-1)%4 < 2, last: (typ-1)%4%3 == 0}
	if n == syncChunkHeader {
		c.synced = binary.LittleEndian.Uint64(b[logChunkHeader:])
	}
	return c
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is Pebble's: CRC-32C, rotated and added to.
func checksum(b []byte) uint32 { return cook(crc32.Checksum(b, castagnoli)) }

func cook(crc uint32) uint32 { return bits.RotateLeft32(crc, 17) + 0xa282ead8 }

func uncook(sum uint32) uint32 { return bits.RotateLeft32(sum-0xa282ead8, -17) }

// mostSuspected is the longest chunk in which a damaged byte is looked for. A torn chunk can look
// like one with a damaged byte by chance, once in 16 million bytes of it.
const mostSuspected = 4 << 10

// A disk writes sectors whole. leastOfASector is how much of a chunk must lie in the sector of its
// only wrong byte: with less, the sector may just be missing, and old bytes be there that differ in
// one.
const (
	sectorSize     = 512
	leastOfASector = 16
)

// oneByteOff reports whether the invalid chunk at an offset of a block is a valid one but for a
// single byte. A write that was torn by a crash lacks whole sectors, so this is damage.
func (f chunkFormat) oneByteOff(block []byte, at int) bool {
	b := block[at:]
	n := f.smallest()
	if len(b) < n {
		return false
	}
	sum, length := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint16(b[4:]))
	crc := crc32.Checksum(b[6:n], castagnoli)
	for l := 0; l <= len(b)-n; l++ {
		if l > 0 {
			crc = crc32.Update(crc, castagnoli, b[n+l-1:n+l])
		}
		wrong := -1
		switch fits := cook(crc) == sum; {
		case fits && oneByte(uint32(l^length)):
			wrong = 4 // the length is not under the checksum
		case l == length && oneByte(cook(crc)^sum):
			wrong = 0
		case l == length && l <= mostSuspected:
			if p := wrongByte(crc^uncook(sum), n+l-6); p >= 0 {
				wrong = 6 + p
			}
		}
		if wrong >= 0 {
			return !sectorMissing(block[:at+n+l], at, at+wrong)
		}
	}
	return false
}

// sectorMissing reports whether the sector of a wrong byte may not have been written at all, as far
// as the chunk from start to the end of block lies in it.
func sectorMissing(block []byte, start, wrong int) bool {
	from := max(start, wrong/sectorSize*sectorSize)
	part := block[from:min(len(block), wrong/sectorSize*sectorSize+sectorSize)]
	return len(part) < leastOfASector || len(bytes.Trim(part, "\x00")) == 0
}

// oneByte reports whether two numbers that differ by x differ in one byte.
func oneByte(x uint32) bool {
	return x != 0 && (x>>(bits.TrailingZeros32(x)&^7)) <= 0xff
}

// wrongByte returns where two texts of n bytes whose CRCs differ by x can differ in a single byte,
// and -1 where they cannot. The difference of the CRCs is that byte's, carried through the bytes
// behind it, which is undone step by step: the highest byte of a table entry identifies the entry
// that was used.
func wrongByte(x uint32, n int) int {
	if x == 0 {
		return -1 // the checksum is right, as in what a log held before it was used again
	}
	for p := n - 1; p >= 0; p-- {
		i := crcIndex[byte(x>>24)]
		x = (x^castagnoli[i])<<8 | uint32(i)
		if x <= 0xff {
			return p
		}
	}
	return -1
}

// crcIndex finds an entry of the table by its highest byte.
var crcIndex = func() (index [256]byte) {
	for i, entry := range castagnoli {
		index[entry>>24] = byte(i)
	}
	return index
}()
