package sql

import (
	"container/list"
	"strings"
	"sync"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// planKey is what a plan depends on beside the schema.
type planKey struct {
	database table.ID
	text     string
	params   string // OIDs of the declared parameter types
	settings string // search path, time zone and the other settings that literals depend on
	user     string // "$user" in the search path, current_user in a view
}

// planEntry is a cached plan, good for one version of the catalog while the statistics of its tables stay.
type planEntry struct {
	key     planKey
	version uint64
	epoch   uint64 // of the statistics
	plan    *physical.Plan
}

// planCache keeps the plans of the texts used last. It is shared by all sessions.
type planCache struct {
	size int
	mu   struct {
		sync.Mutex
		byKey map[planKey]*list.Element
		order list.List // of *planEntry, the one used last in front
	}
}

func newPlanCache(size int) *planCache {
	c := &planCache{size: size}
	c.mu.byKey = map[planKey]*list.Element{}
	return c
}

// get returns the plan made for the key at this version of the catalog, or nil. current judges the
// statistics, and may move the entry's epoch on.
func (c *planCache) get(key planKey, version uint64, current func(*physical.Plan, *uint64) bool) *physical.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.mu.byKey[key]
	if el == nil {
		return nil
	}
	e := el.Value.(*planEntry)
	if e.version != version || !current(e.plan, &e.epoch) {
		return nil
	}
	c.mu.order.MoveToFront(el)
	return e.plan
}

// put keeps a plan. A plan for an older version than the one that is there is not kept.
func (c *planCache) put(key planKey, version, epoch uint64, plan *physical.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.mu.byKey[key]; el != nil {
		if e := el.Value.(*planEntry); e.version <= version {
			e.version, e.epoch, e.plan = version, epoch, plan
			c.mu.order.MoveToFront(el)
		}
		return
	}
	c.mu.byKey[key] = c.mu.order.PushFront(&planEntry{key: key, version: version, epoch: epoch, plan: plan})
	for len(c.mu.byKey) > c.size {
		el := c.mu.order.Back()
		c.mu.order.Remove(el)
		delete(c.mu.byKey, el.Value.(*planEntry).key)
	}
}

// maxCachedText bounds the texts that the cache keeps: long ones are loads of rows, sent once.
const maxCachedText = 8 << 10

func typesKey(ts []*types.Type) string {
	if len(ts) == 0 {
		return ""
	}
	var b strings.Builder
	for _, t := range ts {
		if t == nil {
			b.WriteByte(0)
			b.WriteByte(0)
			b.WriteByte(0)
			continue
		}
		b.WriteByte(byte(t.OID))
		b.WriteByte(byte(t.OID >> 8))
		b.WriteByte(byte(t.OID >> 16))
	}
	return b.String()
}
