package pebblekv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
)

// LostLog is what cannot be read of a log.
type LostLog struct {
	Log string // its name in the store's directory
	// From is the offset of the first byte that is not read, Bytes how many there are.
	From, Bytes int64
	// Damage is why; nil for a log behind one that is damaged: its updates rest on some that are
	// lost.
	Damage error
}

func (l LostLog) String() string {
	if l.Damage != nil {
		return fmt.Sprintf("log %s: damaged at byte %d; %d bytes from there on are lost", l.Log,
			l.From, l.Bytes)
	}
	return fmt.Sprintf("log %s: all %d bytes are lost, for a log before it is damaged", l.Log,
		l.Bytes)
}

// Salvaged is a damaged store as far as it can be read.
type Salvaged struct {
	*Engine
	// Lost lists what was not read of the logs, in their order.
	Lost []LostLog
	// Unlisted is nil when the list of the store's files could be used.
	Unlisted *Unlisted
}

// OpenDamaged opens a store whose files may be damaged, without a change to its directory: what the
// engine writes stays in memory and ends with it. Of the logs everything before the first damage is
// read, and nothing behind it, so what the engine shows was the state of the store at some time,
// but for what lies in damaged blocks of tables: reading those fails as in any other store.
//
// When the manifest, which lists the files, cannot be used, what all table files and logs hold is
// copied into a store in the directory scratch, which must not exist and is the caller's to remove
// (Unlisted).
func OpenDamaged(ctx context.Context, dir, scratch string, opts Options) (*Salvaged, error) {
	overlay, err := overlayOfStore(dir, opts)
	if err != nil {
		return nil, err
	}
	logs := &soundLogs{overlayFS: overlay}
	view := opts
	view.FS, view.MustExist, view.readOnce = logs, true, true
	e, cause := Open(dir, view)
	if cause == nil {
		return &Salvaged{Engine: e, Lost: logs.lost}, nil
	}
	if errors.Is(cause, kv.ErrInUse) || errors.Is(cause, errFormat) {
		return nil, cause
	}
	if overlay, err = newOverlayFS(overlay.base, dir); err != nil { // without what the attempt left
		return nil, err
	}
	s, err := openUnlisted(ctx, &soundLogs{overlayFS: overlay}, dir, scratch, cause, opts)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	return s, nil
}

// soundLogs shows each log up to the first damage in all of them. Pebble opens those that it needs
// in their order.
type soundLogs struct {
	*overlayFS
	mu   sync.Mutex
	lost []LostLog
}

// Open implements vfs.FS.
func (fs *soundLogs) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if strings.HasSuffix(name, ".log") && fs.below(name) {
		if err := fs.cut(name); err != nil {
			return nil, err
		}
	}
	return fs.overlayFS.Open(name, opts...)
}

// cut puts what may be read of a log into memory, unless that is all of it.
func (fs *soundLogs) cut(name string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	base := fs.PathBase(name)
	num, err := strconv.ParseUint(strings.TrimSuffix(base, ".log"), 10, 64)
	if err != nil {
		return fmt.Errorf("log %s has no number", base)
	}
	content, err := contentOf(fs.base, name)
	if err != nil {
		return err
	}
	lost := LostLog{Log: base}
	if len(fs.lost) == 0 {
		var v verified
		v, lost.Damage = verifyChunks(bytes.NewReader(content), base,
			chunkFormat{logNum: uint32(num)})
		if lost.Damage == nil {
			return nil
		}
		if !errors.Is(lost.Damage, kv.ErrCorruption) {
			return lost.Damage
		}
		lost.From = v.whole
	}
	lost.Bytes = int64(len(content)) - lost.From
	fs.lost = append(fs.lost, lost)
	return fs.put(name, closedLog(content[:lost.From:lost.From], uint32(num)))
}

func contentOf(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(f)
	return content, errors.Join(err, f.Close())
}

// closedLog ends a log behind a whole record as one that was closed.
func closedLog(records []byte, num uint32) []byte {
	if room := blockSize - len(records)%blockSize; room < syncChunkHeader {
		records = append(records, make([]byte, room)...)
	}
	trailer := make([]byte, logChunkHeader)
	trailer[6] = firstLogType
	binary.LittleEndian.PutUint32(trailer[chunkHeader:], num+1)
	return append(records, trailer...)
}
