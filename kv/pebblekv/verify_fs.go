package pebblekv

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
)

// Replay is what opening a store read from its log.
type Replay struct {
	Log     string // the last log file
	End     int64  // offset behind the last update that was read from it
	Updates int    // from all logs
	Closed  bool   // the log was closed, so nothing was under way
	// Dropped counts pieces behind a torn one in the last log. They were not synced, so none of
	// them was acknowledged.
	Dropped int
}

// verifyFS looks at logs and at the manifest before Pebble reads them, and remembers which file
// Pebble opened last, so that an error can name it.
type verifyFS struct {
	vfs.FS
	visit func(key []byte) // sees each key in the logs

	mu struct {
		sync.Mutex
		reading string // file that was opened last; "" once the store is open
		replay  Replay
	}
}

// Open verifies what has no checks of its own that go far enough.
func (fs *verifyFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	base := fs.PathBase(name)
	fs.mu.Lock()
	fs.mu.reading = base
	fs.mu.Unlock()
	f, err := fs.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(base, "MANIFEST-"):
		_, err = verifyChunks(f, base, chunkFormat{manifest: true})
	case strings.HasSuffix(base, ".log"):
		err = fs.verifyLog(name, f)
	default:
		return f, nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return fs.FS.Open(name, opts...)
}

func (fs *verifyFS) verifyLog(name string, f vfs.File) error {
	base := fs.PathBase(name)
	num, err := strconv.ParseUint(strings.TrimSuffix(base, ".log"), 10, 64)
	if err != nil {
		return fmt.Errorf("log %s has no number", base)
	}
	v, err := verifyChunks(f, base, chunkFormat{logNum: uint32(num)})
	if err != nil {
		return err
	}
	n, err := fs.readUpdates(name, uint32(num))
	fs.mu.Lock()
	defer fs.mu.Unlock()
	r := &fs.mu.replay
	*r = Replay{Log: base, End: v.end, Updates: r.Updates + n, Closed: v.closed, Dropped: v.behind}
	return err
}

// readUpdates shows the keys of a log's updates to the visitor.
func (fs *verifyFS) readUpdates(name string, num uint32) (n int, err error) {
	f, err := fs.FS.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	records := newRecordReader(record.NewReader, f, uint64(num))
	for {
		r, err := records.Next()
		if err != nil {
			return n, nil // its end; what is behind it was judged before
		}
		repr, err := io.ReadAll(r)
		if err != nil {
			return n, nil
		}
		n++
		if fs.visit == nil {
			continue
		}
		for batch := batchrepr.Read(repr); ; {
			_, key, _, ok, err := batch.Next()
			if !ok || err != nil {
				break
			}
			fs.visit(key)
		}
	}
}

// newRecordReader converts the number to the type that Pebble keeps to itself.
func newRecordReader[N ~uint64](newReader func(io.Reader, N) *record.Reader, r io.Reader,
	num uint64) *record.Reader {
	return newReader(r, N(num))
}

// Unwrap implements vfs.FS.
func (fs *verifyFS) Unwrap() vfs.FS { return fs.FS }

// opened forgets what was read last.
func (fs *verifyFS) opened() Replay {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.mu.reading = ""
	return fs.mu.replay
}

// explain names the file whose reading made opening the store fail.
func (fs *verifyFS) explain(err error) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var known *kv.CorruptionError
	if errors.As(err, &known) {
		return known // without what Pebble says about it
	}
	if fs.mu.reading == "" || strings.Contains(err.Error(), fs.mu.reading) {
		return err
	}
	return fmt.Errorf("%s: %w", fs.mu.reading, err)
}
