package catalog

import (
	"sync"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// state is what has been read so far of one version of the catalog. It only grows: a version never
// changes.
type state struct {
	version uint64

	mu         sync.RWMutex
	databases  map[string]*Database // nil: known to be absent
	schemas    map[schemaName]*Schema
	names      map[relationName]nameEntry // zero: known to be absent
	descs      map[table.ID]*table.Desc   // nil: known to be absent
	owners     map[table.ID]owners        // by database
	roles      *acl.Roles                 // nil: not read yet
	objects    map[table.ID][]ObjectACL   // by database
	types      map[table.ID]*typeEntry    // nil: known to be absent
	typeNames  map[relationName]table.ID  // 0: known to be absent
	extensions map[table.ID][]Extension   // by database
	// allRoles has one entry, once it was read.
	allRoles map[struct{}][]AllRolesSettings
}

// descsKept bounds the decoded descriptors that outlive a change of the catalog.
const descsKept = 10_000

// stateKept bounds each map of a state.
const stateKept = 50_000

type schemaName struct {
	db   table.ID
	name string
}

type relationName struct {
	db, schema table.ID
	name       string
}

func newState(version uint64) *state {
	return &state{
		version: version, databases: map[string]*Database{}, schemas: map[schemaName]*Schema{},
		names: map[relationName]nameEntry{}, descs: map[table.ID]*table.Desc{},
		owners: map[table.ID]owners{}, types: map[table.ID]*typeEntry{},
		typeNames: map[relationName]table.ID{}, extensions: map[table.ID][]Extension{},
		allRoles: map[struct{}][]AllRolesSettings{},
	}
}

// at returns the shared state of a version. A version older than the newest one seen (a snapshot
// that began before a change, or a historical read) gets a state of its own.
func (c *Catalog) at(version uint64) *state {
	c.cache.RLock()
	st := c.cache.state
	c.cache.RUnlock()
	if st != nil && st.version == version {
		return st
	}
	c.cache.Lock()
	defer c.cache.Unlock()
	if st := c.cache.state; st != nil && st.version >= version {
		if st.version == version {
			return st
		}
		return newState(version)
	}
	if len(c.cache.descs) > descsKept {
		clear(c.cache.descs) // dropped tables stay in the map: begin again now and then
	}
	c.cache.state = newState(version)
	return c.cache.state
}

// decoded returns the descriptor whose value is b, decoding it only when its version is not the one
// decoded last. Requires: b is committed.
func (c *Catalog) decoded(id table.ID, b []byte, types resolveType,
	known func(*table.Desc)) (*table.Desc, error) {
	version, _, err := descVersion(b)
	if err != nil {
		return nil, err
	}
	c.cache.RLock()
	d := c.cache.descs[id]
	c.cache.RUnlock()
	if d != nil && d.Version == version {
		return d, nil
	}
	if d, err = c.decodeDesc(b, types, known); err != nil {
		return nil, err
	}
	c.cache.Lock()
	defer c.cache.Unlock()
	if old := c.cache.descs[id]; old == nil || old.Version < d.Version {
		c.cache.descs[id] = d
	}
	return d, nil
}

// memo looks key up in one of the state's maps; on a miss it calls load and keeps the result. A nil
// state (the transaction has changed the schema) keeps nothing.
func memo[K comparable, V any](st *state, of func(*state) map[K]V, key K,
	load func() (V, error)) (V, error) {
	if st == nil {
		return load()
	}
	st.mu.RLock()
	v, ok := of(st)[key]
	st.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, err := load()
	if err != nil {
		return v, err
	}
	st.mu.Lock()
	if len(of(st)) >= stateKept {
		clear(of(st)) // names that do not exist are kept too, and there is no end of those
	}
	of(st)[key] = v
	st.mu.Unlock()
	return v, nil
}
