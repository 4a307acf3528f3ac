package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// manifestFormat is the format of manifests and of the files that they list.
const manifestFormat = 1

const (
	manifestName = "manifest.json"
	progressName = "progress.json"
	manifestMost = 64 << 20 // bytes of one that is read
)

// Manifest describes a backup. It is JSON.
type Manifest struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	// Store is the identity of the store.
	Store []byte `json:"store"`
	// At is the timestamp whose state the backup has. Since is that of the backup that it
	// continues, Base; zero and empty for a full one.
	At    tso.Timestamp `json:"at"`
	Since tso.Timestamp `json:"since,omitempty"`
	Base  string        `json:"base,omitempty"`
	// Safepoint is that of the store when all was read: readers below it missed some versions.
	Safepoint tso.Timestamp `json:"safepoint"`
	// Hold is the store's hold that keeps what the next incremental backup reads.
	Hold uint64 `json:"hold,omitempty"`
	// Replaced are spans of user keys that the backup has whole: what backups before it have there
	// is not part of the store any more.
	Replaced []kv.Span `json:"replaced,omitempty"`
	Files    []File    `json:"files"`
}

// File is a file of a backup.
type File struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	Cells int64  `json:"cells"`
	Bytes int64  `json:"bytes"` // of keys and values
	Size  int64  `json:"size"`  // of the file
	// Digest is the SHA-256 of the file.
	Digest []byte `json:"sha256"`
	// Encrypted: it is an age file.
	Encrypted bool `json:"encrypted,omitempty"`
}

// Full reports whether the backup continues none.
func (m *Manifest) Full() bool { return m.Since == 0 }

// Time is the moment whose state the backup has, by the store's clock.
func (m *Manifest) Time() time.Time { return time.UnixMilli(m.At.Physical()) }

// Totals returns how many cells the backup has, the length of their keys and values, and that of
// its files.
func (m *Manifest) Totals() (cells, bytes, size int64) {
	for _, f := range m.Files {
		cells, bytes, size = cells+f.Cells, bytes+f.Bytes, size+f.Size
	}
	return cells, bytes, size
}

// progress is a backup that is not finished.
type progress struct {
	Manifest Manifest `json:"manifest"`
	Phase    Phase    `json:"phase"`
	Span     int      `json:"span"` // of Manifest.Replaced, in the phase of spans
	Next     []byte   `json:"next"` // the raw key to go on from
}

// readJSON reads a file of a place.
func readJSON(ctx context.Context, p Place, name string, into any) (err error) {
	f, err := p.Get(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, manifestMost))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s is damaged: %w", name, err)
	}
	return nil
}

func writeJSON(ctx context.Context, p Place, name string, value any) error {
	return p.Put(ctx, name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(value)
	})
}

// List returns the finished backups of a place, in the order of their timestamps within each store.
func List(ctx context.Context, p Place) (all []*Manifest, err error) {
	all, _, err = list(ctx, p)
	return all, err
}

// list lists the finished backups, and the names of those that are not.
func list(ctx context.Context, p Place) (all []*Manifest, open []string, err error) {
	names, err := p.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	finished := map[string]bool{}
	var seen []string
	for _, name := range names {
		dir, file := path.Split(name)
		dir = path.Clean(dir)
		if len(seen) == 0 || seen[len(seen)-1] != dir {
			seen = append(seen, dir)
		}
		if file != manifestName {
			continue
		}
		m := &Manifest{}
		if err := readJSON(ctx, p, name, m); err != nil {
			return nil, nil, err
		}
		if m.Format != manifestFormat {
			return nil, nil, fmt.Errorf("backup %s has format %d, and this program reads format "+
				"%d: use a newer one", dir, m.Format, manifestFormat)
		}
		if m.Name != dir {
			return nil, nil, fmt.Errorf("%w: %s has the manifest of %s", ErrDamaged, dir, m.Name)
		}
		finished[dir] = true
		all = append(all, m)
	}
	for _, dir := range seen {
		if !finished[dir] {
			open = append(open, dir)
		}
	}
	return all, open, nil
}

// Chain returns the backups that lead to the one of that name, the full one first.
func Chain(all []*Manifest, name string) (chain []*Manifest, err error) {
	byName := map[string]*Manifest{}
	for _, m := range all {
		byName[m.Name] = m
	}
	for name != "" {
		m := byName[name]
		if m == nil {
			return nil, fmt.Errorf("there is no backup %q", name)
		}
		if len(chain) > 0 && chain[0].Since != m.At || len(chain) > len(all) {
			return nil, fmt.Errorf("backup %q does not continue %q", chain[0].Name, name)
		}
		chain = append([]*Manifest{m}, chain...)
		name = m.Base
	}
	if len(chain) > 0 && !chain[0].Full() {
		return nil, fmt.Errorf("backup %q continues one that is not named", chain[0].Name)
	}
	return chain, nil
}
