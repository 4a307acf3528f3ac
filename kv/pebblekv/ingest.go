package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
)

// ingests makes table files beside those of the store, which Pebble then takes over: their keys
// pass neither the log nor a memtable, and mostly come to rest where no compaction rewrites them.
type ingests struct {
	fs      vfs.FS // below Pebble's: a failure here ends an ingestion, and not the engine
	dir     string
	options *pebble.Options
	number  atomic.Uint64 // of the last file
}

// ingestPrefix begins the names of files that the store does not have yet. A crash may leave some.
const ingestPrefix = "ingest-"

// removeIngestFiles removes what ingestions have left that a crash cut short.
func removeIngestFiles(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, ingestPrefix) {
			err = errors.Join(err, fs.Remove(fs.PathJoin(dir, name)))
		}
	}
	return err
}

// Ingests implements kv.Ingester.
func (e *Engine) Ingests() bool { return true }

// Ingest implements kv.Ingester: each source becomes a table file, in a goroutine of its own. The
// files are synced before Pebble lists them.
func (e *Engine) Ingest(ctx context.Context, sources []kv.Source) error {
	if err := e.enter(); err != nil {
		return kv.NotApplied(err)
	}
	defer e.gate.RUnlock()
	names, err := e.ingests.write(ctx, e.db.TableFormat(), sources)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || len(names) == 0 {
		return kv.NotApplied(errors.Join(fullOr(err), e.ingests.remove(names)))
	}
	err = e.db.Ingest(context.WithoutCancel(ctx), names)
	if failed := e.fail.get(); failed != nil {
		return failed
	}
	if err != nil {
		return kv.NotApplied(errors.Join(fullOr(err), e.ingests.remove(names)))
	}
	return nil
}

// fullOr makes the error of a file that found no space one for which kv.ErrDiskFull holds.
func fullOr(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
	}
	return err
}

// write makes the files of the sources that give anything, and returns their names, also with an
// error.
func (g *ingests) write(ctx context.Context, format sstable.TableFormat,
	sources []kv.Source) (names []string, err error) {
	made, errs := make([]string, len(sources)), make([]error, len(sources))
	var wg sync.WaitGroup
	for i, source := range sources {
		wg.Go(func() { made[i], errs[i] = g.writeFile(ctx, format, source) })
	}
	wg.Wait()
	for _, name := range made {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, errors.Join(errs...)
}

// writeFile makes the file of a source, unless that gives nothing.
func (g *ingests) writeFile(ctx context.Context, format sstable.TableFormat,
	source kv.Source) (name string, err error) {
	var w *sstable.Writer
	n := 0
	err = source(func(key, value []byte) error {
		if w == nil {
			name = g.fs.PathJoin(g.dir, fmt.Sprintf("%s%d", ingestPrefix, g.number.Add(1)))
			f, err := g.fs.Create(name, vfs.WriteCategoryUnspecified)
			if err != nil {
				return err
			}
			w = sstable.NewWriter(objstorageprovider.NewFileWritable(f),
				g.options.MakeWriterOptions(len(g.options.Levels)-1, format))
		}
		if n++; n%entriesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return w.Set(key, value)
	})
	if w != nil {
		err = errors.Join(err, w.Close())
	}
	return name, err
}

// remove removes files that Pebble has not taken over.
func (g *ingests) remove(names []string) (err error) {
	for _, name := range names {
		if _, gone := g.fs.Stat(name); gone == nil {
			err = errors.Join(err, g.fs.Remove(name))
		}
	}
	return err
}
