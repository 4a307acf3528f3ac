package exec

import (
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// scanned counts scans of a node that read so many entries or rows.
func (r *run) scanned(n *physical.Scan, scans, read int64) {
	r.scannedBy(scannedIndex(n), n, scans, read)
}

// lookedUp counts reads of keys of the inner side of a join, which found so many entries or rows.
func (r *run) lookedUp(n *physical.Scan, keys, found int64) {
	index := table.RowIndexID
	if n.Index != nil {
		index = n.Index.ID
	}
	r.scannedBy(index, n, keys, found)
}

func (r *run) scannedBy(index table.IndexID, n *physical.Scan, scans, read int64) {
	if r.env.Scans == nil {
		return
	}
	fetched := read
	if index == 0 || n.Index != nil && n.Covering {
		fetched = 0
	}
	r.env.Scans.Scanned(n.Table, index, scans, read, fetched)
}

// scannedPoint counts a read of one row by its key.
func (r *run) scannedPoint(n *physical.Scan, found bool) {
	read := int64(0)
	if found {
		read = 1
	}
	r.scanned(n, 1, read)
}

// scannedIndex is the index that a scan goes by; 0: it goes through the rows.
func scannedIndex(n *physical.Scan) table.IndexID {
	switch {
	case n.Index != nil:
		return n.Index.ID
	case n.Ranges != nil || n.Ordered:
		return table.RowIndexID
	}
	return 0
}
