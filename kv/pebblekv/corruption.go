package pebblekv

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
)

// corruption remembers which files were found damaged while the store is open. Pebble goes on: only
// reads that need a damaged block fail, and compactions that do are put off.
type corruption struct {
	log    *slog.Logger
	notify func(*kv.CorruptionError)

	mu struct {
		sync.Mutex
		files map[string]bool
	}
}

func (c *corruption) init(opts Options) {
	c.log, c.notify = opts.logger(), opts.OnCorruption
	c.mu.files = map[string]bool{}
}

// found is called by Pebble each time that it reads a damaged block.
func (c *corruption) found(info pebble.DataCorruptionInfo) {
	err := corruptionError(&info)
	c.mu.Lock()
	known := c.mu.files[err.File]
	c.mu.files[err.File] = true
	c.mu.Unlock()
	switch {
	case known:
	case c.notify != nil:
		c.notify(err)
	default:
		c.log.Error(err.Error())
	}
}

// background logs what made a flush or a compaction fail, unless it is damage, which found has
// reported, or a lack of space, which space reports.
func (c *corruption) background(err error) {
	if !pebble.IsCorruptionError(err) && !errors.Is(err, syscall.ENOSPC) {
		c.log.Error(err.Error(), "component", "pebble")
	}
}

func corruptionError(info *pebble.DataCorruptionInfo) *kv.CorruptionError {
	end := info.Bounds.End.Key
	if end != nil { // the last key itself belongs to the file
		end = append(bytes.Clone(end), 0)
	}
	return &kv.CorruptionError{
		File: vfs.Default.PathBase(info.Path), What: "this table file of the store is damaged",
		Bound: kv.Span{Start: bytes.Clone(info.Bounds.Start), End: end},
	}
}

// mark makes Pebble's corruption recognisable as kv.ErrCorruption, with the file where it is known.
func mark(err error) error {
	if err == nil || !pebble.IsCorruptionError(err) || errors.Is(err, kv.ErrCorruption) {
		return err
	}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return corruptionError(info)
	}
	return fmt.Errorf("%w: %w", kv.ErrCorruption, err)
}
