package minidb

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/follow"
)

// viewMaintainers keeps the incremental views of all databases up to date, by one goroutine for
// each group of views. It learns of changes from the commits of this process, and at its start from
// the store.
type viewMaintainers struct {
	db     *DB
	ctx    context.Context // of all advances
	cancel context.CancelFunc
	reload chan struct{} // the views have changed, perhaps
	done   sync.WaitGroup

	mu       sync.Mutex
	trackers map[uint32]*follow.Tracker   // by observer
	by       map[uint32]*viewMaintainer   // by observer
	views    map[table.ID]*viewMaintainer // by view
	groups   map[string]*viewMaintainer   // by their views
	changes  uint64                       // of the views, as far as they are known
	current  uint64                       // those of them that a load has seen
	loaded   chan struct{}                // closed, and made anew, by each load
}

// newViewMaintainers makes one that does nothing yet.
func newViewMaintainers(db *DB) *viewMaintainers {
	m := &viewMaintainers{db: db, reload: make(chan struct{}, 1), loaded: make(chan struct{}),
		trackers: map[uint32]*follow.Tracker{}, by: map[uint32]*viewMaintainer{},
		views: map[table.ID]*viewMaintainer{}, groups: map[string]*viewMaintainer{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// start begins to maintain the views that there are. That they cannot be listed does not keep the
// database from being opened: it is tried again.
func (m *viewMaintainers) start(ctx context.Context) {
	if m.load(ctx) != nil {
		m.changed()
	}
	m.done.Go(m.follow)
}

// stop ends all maintainers.
func (m *viewMaintainers) stop() {
	m.cancel()
	m.done.Wait()
	m.mu.Lock()
	groups := m.groups
	m.groups, m.by, m.views = nil, nil, nil
	m.mu.Unlock()
	for _, g := range groups {
		g.stop()
	}
}

// viewsPoll is how often the views are listed that other processes may have made or dropped.
const viewsPoll = 5 * time.Second

// follow loads the views anew whenever they have changed.
func (m *viewMaintainers) follow() {
	var poll <-chan time.Time
	if m.db.store.Shared() {
		ticker := time.NewTicker(viewsPoll)
		defer ticker.Stop()
		poll = ticker.C
	}
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.reload:
		case <-poll:
		}
		for attempt := 1; ; attempt++ {
			err := m.load(m.ctx)
			if err == nil || m.ctx.Err() != nil {
				break
			}
			m.db.opts.logger.Warn("incremental views cannot be listed", "error", err)
			if pauseUpdate(m.ctx, attempt) != nil {
				return
			}
		}
	}
}

// notified receives what a commit has notified: keys of an observer, or nil for some that the store
// has. It never blocks.
func (m *viewMaintainers) notified(observer uint32, keys [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if keys == nil {
		m.reloadLocked()
	}
	for id, tracker := range m.trackers {
		if id == observer || observer == 0 {
			tracker.Note(keys)
			if g := m.by[id]; g != nil {
				g.ring()
			}
		}
	}
}

// reloadLocked asks for a load. Requires: mu is held.
func (m *viewMaintainers) reloadLocked() {
	m.changes++
	select {
	case m.reload <- struct{}{}:
	default:
	}
}

// changed asks for a load.
func (m *viewMaintainers) changed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reloadLocked()
}

// tracker returns that of an observer, which exists from now on.
func (m *viewMaintainers) tracker(observer uint32) *follow.Tracker {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.trackers[observer]
	if t == nil {
		t = follow.NewTracker()
		m.trackers[observer] = t
	}
	return t
}

// load makes the groups that run those of the catalog.
func (m *viewMaintainers) load(ctx context.Context) error {
	m.mu.Lock()
	changes := m.changes
	m.mu.Unlock()
	found, err := m.list(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	var ended []*viewMaintainer
	for key, g := range m.groups {
		if found[key] == nil {
			ended = append(ended, g)
			delete(m.groups, key)
			// What waits for its views waits for the load from now on.
			maps.DeleteFunc(m.views, func(_ table.ID, of *viewMaintainer) bool { return of == g })
		} else {
			found[key] = g
		}
	}
	if len(ended) > 0 {
		m.changes++
		changes++
	}
	m.mu.Unlock()
	for _, g := range ended {
		g.stop()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use(found)
	m.current = changes
	close(m.loaded)
	m.loaded = make(chan struct{})
	return nil
}

// use starts the groups that do not run yet. Requires: mu is held.
func (m *viewMaintainers) use(found map[string]*viewMaintainer) {
	m.by, m.views = map[uint32]*viewMaintainer{}, map[table.ID]*viewMaintainer{}
	for key, g := range found {
		for _, o := range g.observers {
			m.by[o] = g
			if m.trackers[o] == nil {
				m.trackers[o] = follow.NewTracker()
			}
		}
		for _, v := range g.ids {
			m.views[v] = g
		}
		if m.groups[key] == nil {
			m.groups[key] = g
			g.start()
		}
	}
	for id := range m.trackers {
		if m.by[id] == nil {
			delete(m.trackers, id)
		}
	}
}

// list finds the groups of all databases, by what they are made of.
func (m *viewMaintainers) list(ctx context.Context) (found map[string]*viewMaintainer, err error) {
	tx, err := m.db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) }()
	view := m.db.catalog.View(tx)
	databases, err := view.Databases(ctx)
	if err != nil {
		return nil, err
	}
	found = map[string]*viewMaintainer{}
	for _, database := range databases {
		groups, err := view.ViewGroups(ctx, database.ID)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			w := newViewMaintainer(m, database.Name, g)
			found[w.key()] = w
		}
	}
	return found, nil
}

// newViewMaintainer makes what maintains a group. It does not run yet.
func newViewMaintainer(m *viewMaintainers, database string,
	g *catalog.ViewGroup) *viewMaintainer {
	w := &viewMaintainer{m: m, database: database, wake: make(chan struct{}, 1),
		progress: make(chan struct{})}
	for _, d := range g.Views {
		w.ids = append(w.ids, d.ID)
		w.names = append(w.names, d.Name)
	}
	for _, d := range g.Tables {
		if o := d.ViewObserver(); o != nil {
			w.observers = append(w.observers, uint32(o.ID))
		}
	}
	slices.SortFunc(w.observers, cmp.Compare[uint32])
	return w
}
