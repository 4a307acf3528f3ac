package pebblekv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/minidb/minidb/kv"
)

// verified is what verifyChunks found: all of a sound file, or what lies before the damage.
type verified struct {
	end    int64 // behind the last valid chunk of the unbroken row of them
	whole  int64 // behind the last record in it
	closed bool  // the log was closed: nothing is missing
	behind int   // valid chunks behind a torn one: they were written and not yet synced
}

// verifyChunks reads a log or a manifest as Pebble will, and distinguishes damage from the torn
// tail that a crash leaves. Pebble takes the first for the second in a manifest, in the last block
// of a log, and where a damaged number looks like the end.
//
// The first invalid chunk is damage if a valid one behind it records that the log had been synced
// beyond it; in a manifest, which is synced after each record, if a valid one behind it begins a
// record; and if the chunk lacks but one byte. What is left is a torn tail, or damage that cannot
// be distinguished from one: several bytes in what was written after the last sync that a later
// chunk records.
func verifyChunks(r io.Reader, name string, f chunkFormat) (verified, error) {
	var v verified
	block := make([]byte, blockSize)
	for at := int64(0); ; at += blockSize {
		n, err := io.ReadFull(r, block)
		if errors.Is(err, io.EOF) {
			return v, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return v, fmt.Errorf("read %s: %w", name, err)
		}
		pos := 0
		for pos < n {
			c := f.parse(block[:n], pos)
			if c.kind == chunkTrailer {
				v.closed = true
				return v, nil
			}
			if c.kind == chunkInvalid {
				return v, f.judge(r, name, block[:n], at, pos, &v)
			}
			if pos = c.end; c.kind == chunkValid {
				v.end = at + int64(pos)
				if c.last {
					v.whole = v.end
				}
			}
		}
	}
}

// judge decides whether the invalid chunk at pos of the block that begins at an offset is damage.
func (f chunkFormat) judge(r io.Reader, name string, block []byte, at int64, pos int,
	v *verified) error {
	invalid := at + int64(pos)
	damaged := f.oneByteOff(block, pos)
	for {
		for p := f.nextPlace(block, pos+1); p >= 0 && !damaged; p = f.nextPlace(block, p+1) {
			if c := f.parse(block, p); c.kind == chunkValid && c.end > p+f.smallest() {
				v.behind++
				damaged = f.manifest && c.first || c.synced > uint64(invalid)
			}
		}
		if damaged {
			what := "the log"
			if f.manifest {
				what = "the list of the store's files"
			}
			return &kv.CorruptionError{File: name,
				What: fmt.Sprintf("%s is damaged at byte %d", what, invalid)}
		}
		block = block[:blockSize]
		n, err := io.ReadFull(r, block)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		block, pos = block[:n], -1
	}
}

// nextPlace returns the next offset at which a chunk of the file may begin, and -1 when there is
// none.
func (f chunkFormat) nextPlace(block []byte, from int) int {
	for p := from; p+f.smallest() <= len(block); p++ {
		if n := f.header(block[p+6]); n != 0 &&
			(f.manifest || binary.LittleEndian.Uint32(block[p+chunkHeader:]) == f.logNum) {
			return p
		}
	}
	return -1
}
