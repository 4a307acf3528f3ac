// Package lru is the cache of values by key: plans, templates, regular expressions, prepared
// statements. It forgets what was not used for a while.
//
// Values are kept in two generations, which approximate "least recently used" without a list: a
// value that is used moves from the old generation to the young one. When the young one is full it
// becomes the old one, and what was old is forgotten. Most hits take only a read lock.
package lru

import "sync"

// Cache keeps the values used last, at least size and at most twice as many. It is safe for
// concurrent use.
type Cache[K comparable, V any] struct {
	size int
	mu   struct {
		sync.RWMutex
		young, old map[K]V
	}
}

// New returns an empty cache. Requires: size is positive.
func New[K comparable, V any](size int) *Cache[K, V] {
	c := &Cache[K, V]{size: size}
	c.mu.young = map[K]V{}
	return c
}

// Get returns the value of a key and reports whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.RLock()
	v, young := c.mu.young[key]
	known := young
	if !young {
		v, known = c.mu.old[key]
	}
	c.mu.RUnlock()
	if known && !young {
		c.keep(key, v, false) // what another goroutine has put meanwhile stays
	}
	return v, known
}

// Put sets the value of a key.
func (c *Cache[K, V]) Put(key K, v V) { c.keep(key, v, true) }

func (c *Cache[K, V]) keep(key K, v V, replace bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, young := c.mu.young[key]
	if young && !replace {
		return
	}
	if !young && len(c.mu.young) >= c.size {
		c.mu.young, c.mu.old = make(map[K]V, c.size), c.mu.young
	}
	c.mu.young[key] = v
}

// Delete forgets a key.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mu.young, key)
	delete(c.mu.old, key)
}
