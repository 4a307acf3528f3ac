package template

import "sync"

// recent keeps the values used last by their texts, up to twice its size. It is safe for concurrent use.
//
// Values move from old to young when they are used. When young is full it becomes old, and what was not
// used since the last time is forgotten.
type recent[V any] struct {
	size       int
	mu         sync.RWMutex
	young, old map[string]V
}

func newRecent[V any](size int) *recent[V] {
	return &recent[V]{size: size, young: map[string]V{}}
}

// get returns the value of a text.
func (r *recent[V]) get(text string) (v V, known bool) {
	r.mu.RLock()
	v, young := r.young[text]
	if known = young; !young {
		v, known = r.old[text]
	}
	r.mu.RUnlock()
	if known && !young {
		r.put(text, v)
	}
	return v, known
}

// put keeps a value.
func (r *recent[V]) put(text string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.young[text]; !known && len(r.young) >= r.size {
		r.young, r.old = make(map[string]V, r.size), r.young
	}
	r.young[text] = v
}
