package catalog

import (
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Programs compiles the expressions and predicates of a table's indexes. Package table cannot: what
// an expression means is the planner's. A text that cannot be compiled gives a program that fails
// with the reason, so that the table remains readable.
type Programs interface {
	Compile(d *table.Desc) table.RowProgram
	// CompileDomain compiles the constraints of a domain, which mention these user types.
	CompileDomain(d *types.Definition, mentioned []*types.Type) types.DomainProgram
}

// Option is what a catalog is opened with.
type Option func(*Catalog)

// WithPrograms makes the catalog attach programs to the descriptors that it hands out. Without it
// no row can be written to a table that has an index with an expression or a predicate.
func WithPrograms(p Programs) Option { return func(c *Catalog) { c.programs = p } }

func (c *Catalog) apply(with []Option) {
	for _, o := range with {
		o(c)
	}
}

// prepare works out the encodings of a descriptor that is complete.
func (c *Catalog) prepare(d *table.Desc) error {
	if c.programs == nil || !d.Computes() {
		return d.Prepare(nil)
	}
	return d.Prepare(c.programs.Compile(d))
}
