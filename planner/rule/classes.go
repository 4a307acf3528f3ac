package rule

import (
	"github.com/minidb/minidb/planner/logical"
)

// classes is a union-find structure over columns: two columns are in one class when equalities
// connect them.
type classes struct {
	parent map[logical.ColID]logical.ColID
	order  []logical.ColID
}

func newClasses() *classes { return &classes{parent: map[logical.ColID]logical.ColID{}} }

func (c *classes) empty() bool { return len(c.parent) == 0 }

func (c *classes) find(id logical.ColID) logical.ColID {
	for {
		p, ok := c.parent[id]
		if !ok {
			return 0
		}
		if p == id {
			return id
		}
		c.parent[id] = c.parent[p]
		id = p
	}
}

func (c *classes) add(id logical.ColID) logical.ColID {
	if root := c.find(id); root != 0 {
		return root
	}
	c.parent[id] = id
	c.order = append(c.order, id)
	return id
}

func (c *classes) join(a, b logical.ColID) {
	ra, rb := c.add(a), c.add(b)
	if ra != rb {
		c.parent[rb] = ra
	}
}

// members lists the columns of an ID's class, in the order in which they were met.
func (c *classes) members(id logical.ColID) []logical.ColID {
	root := c.find(id)
	if root == 0 {
		return nil
	}
	var out []logical.ColID
	for _, m := range c.order {
		if c.find(m) == root {
			out = append(out, m)
		}
	}
	return out
}
