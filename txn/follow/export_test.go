package follow

// Bounded returns the table with another bound on the rows of Changes.
func (f *Table) Bounded(rows int) *Table {
	c := *f
	c.rowsMax = rows
	return &c
}
