package choose

import (
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// orderPath marks a path as ordered if it gives rows in the required order, read forward or in
// reverse. Columns that the ranges hold to one value are skipped, in the key and in the order.
func (c *chooser) orderPath(s *logical.Scan, key []table.IndexColumn, p *path, req required) {
	if len(req.order) == 0 {
		return
	}
	if p.point && p.rows <= 1 {
		p.ordered = true
		return
	}
	direction, ok := c.keyDirection(s, key, p, req.order)
	p.ordered, p.reverse = ok, ok && direction < 0
}

// keyDirection returns the direction in which a path gives rows in an order: 1 forward, -1 in
// reverse, 0 either. ok is false when it does not in any.
func (c *chooser) keyDirection(s *logical.Scan, key []table.IndexColumn, p *path,
	order []orderCol) (direction int, ok bool) {
	k := 0
	for _, o := range order {
		if !s.OwnsPart(o.id) {
			return 0, false
		}
		if c.fixedColumn(s, key, p, o.id) {
			continue
		}
		for k < len(key) && p.fixedPart(k) && c.keyID(s, key[k]) != o.id {
			k++
		}
		if k == len(key) {
			return direction, p.uniqueKey(s, key)
		}
		if c.keyID(s, key[k]) != o.id {
			return 0, false
		}
		d := readDirection(&key[k], o, s.NeverNull(o.id))
		if d == 0 || direction != 0 && d != direction {
			return 0, false
		}
		direction = d
		k++
	}
	return direction, true
}

// fixedPart reports whether the ranges hold column k of the key to one value.
func (p *path) fixedPart(k int) bool { return len(p.ranges) == 1 && k < len(p.ranges[0].Eq) }

// readDirection returns the direction in which a key column has the required order: 1 forward, -1
// in reverse, 0 if NULLs are at the wrong end in both.
func readDirection(key *table.IndexColumn, o orderCol, notNull bool) int {
	d, nullsFirst := 1, key.NullsFirst
	if key.Desc != o.desc {
		d, nullsFirst = -1, !nullsFirst
	}
	if !notNull && nullsFirst != o.nullsFirst {
		return 0
	}
	return d
}

func (c *chooser) keyID(s *logical.Scan, kc table.IndexColumn) logical.ColID {
	return s.KeyID(kc.ColumnID)
}

// uniqueKey reports whether the path's key is unique and never NULL, so that the order of rows with
// equal keys does not matter.
func (p *path) uniqueKey(s *logical.Scan, key []table.IndexColumn) bool {
	if p.index == nil {
		return true
	}
	if !p.index.Immediate() {
		return false
	}
	for _, kc := range key {
		if i := s.Desc.ColumnByID(kc.ColumnID); i < 0 || !s.Desc.Columns[i].NotNull {
			return false
		}
	}
	return true
}

// fixedColumn reports whether the ranges hold a key column to one value.
func (c *chooser) fixedColumn(s *logical.Scan, key []table.IndexColumn, p *path,
	id logical.ColID) bool {
	if len(p.ranges) != 1 {
		return false
	}
	for k := range p.ranges[0].Eq {
		if c.keyID(s, key[k]) == id {
			return true
		}
	}
	return false
}
