package pebblekv

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unlessForeign refuses a directory that holds something and no store, before anything is put
// there.
func unlessForeign(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	other, pebble := "", false
	for _, n := range names {
		switch {
		case strings.HasPrefix(n, "marker."+formatMarker+"."):
			return nil
		case strings.HasPrefix(n, "MANIFEST"):
			pebble = true
		case n == "LOCK", n == "lost+found", strings.HasPrefix(n, "marker."):
			// an Open that was cut short; a mount
		default:
			other = n
		}
	}
	switch {
	case pebble:
		return nil // which checkFormat refuses in its words
	case other != "":
		return fmt.Errorf("not a minidb store, and not empty: %q is in it", other)
	}
	return nil
}
