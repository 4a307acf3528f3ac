package sql

import (
	"strings"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// planKey is what a plan depends on beside the schema.
type planKey struct {
	database table.ID
	text     string
	params   string // OIDs of the declared parameter types
	// settings are the search path, time zone and the other settings that literals depend on, and
	// the roles of the session: "$user" in the search path, and whose rights the plan was made for
	settings string
}

// cachedPlan is good for one version of the catalog while the statistics of its tables stay.
type cachedPlan struct {
	version uint64
	epoch   uint64 // of the statistics
	plan    *physical.Plan
}

// planCache keeps the plans of the texts used last. It is shared by all sessions.
type planCache struct {
	plans *lru.Cache[planKey, cachedPlan]
}

// get returns the plan made for the key at this version of the catalog, or nil. current is
// planIsCurrent.
func (c planCache) get(key planKey, version uint64,
	current func(*physical.Plan, uint64) (uint64, bool)) *physical.Plan {
	p, ok := c.plans.Get(key)
	if !ok || p.version != version {
		return nil
	}
	now, ok := current(p.plan, p.epoch)
	if !ok {
		return nil
	}
	if p.epoch != now {
		p.epoch = now
		c.plans.Put(key, p)
	}
	return p.plan
}

// put keeps a plan, unless there is one for a newer version.
func (c planCache) put(key planKey, p cachedPlan) {
	if old, ok := c.plans.Get(key); !ok || old.version <= p.version {
		c.plans.Put(key, p)
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
