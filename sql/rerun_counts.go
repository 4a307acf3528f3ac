package sql

import (
	"slices"
	"strings"
	"sync"

	"github.com/minidb/minidb/sql/pgcatalog"
)

// rerunCounts count statements that were run again, by database.
type rerunCounts struct {
	mu sync.Mutex
	of map[string]*pgcatalog.Reruns
}

func (c *rerunCounts) count(database string, f func(*pgcatalog.Reruns)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of[database]
	if n == nil {
		if c.of == nil {
			c.of = map[string]*pgcatalog.Reruns{}
		}
		n = &pgcatalog.Reruns{Database: database}
		c.of[database] = n
	}
	f(n)
}

// countStatement counts that a statement runs again for the nth time.
func (c *rerunCounts) countStatement(database string, nth int) {
	c.count(database, func(n *pgcatalog.Reruns) {
		if nth == 1 {
			n.Statements++
		}
		n.Reruns++
		n.Most = max(n.Most, int64(nth))
	})
}

// countRefused counts a statement that reached the bound on running again.
func (c *rerunCounts) countRefused(database string) {
	c.count(database, func(n *pgcatalog.Reruns) { n.Refused++ })
}

// countTransaction counts an implicit transaction that is run again after a conflict.
func (c *rerunCounts) countTransaction(database string) {
	c.count(database, func(n *pgcatalog.Reruns) { n.Transactions++ })
}

// Reruns lists how often statements were run again, a row for each database where that has
// happened.
func (e *Engine) Reruns() []pgcatalog.Reruns {
	e.reruns.mu.Lock()
	defer e.reruns.mu.Unlock()
	var out []pgcatalog.Reruns
	for _, n := range e.reruns.of {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a,
		b pgcatalog.Reruns) int {
		return strings.Compare(a.Database, b.Database)
	})
	return out
}
