package history

import (
	"fmt"
	"sort"
	"strings"

	"github.com/minidb/minidb/txn/tso"
)

// cycles looks for a cycle of dependencies between committed transactions (Adya): from a writer to
// those that read or overwrite its version, and from a reader to the one that wrote the next
// version. The versions of a key are in the order of their timestamps, so every edge is known.
func (c *checker) cycles() {
	g := &graph{edges: map[*Record]map[*Record]string{}}
	for _, k := range c.h.Truth.Keys() {
		list := c.h.Truth[k]
		for i := range list[1:] {
			g.add(c.byStart[list[i].StartTS], c.byStart[list[i+1].StartTS], "ww "+k)
		}
	}
	for _, r := range c.h.Records {
		if r.Historical || !c.happened(r) {
			continue
		}
		for _, read := range r.Reads {
			own := r.Own(read.Own)
			keys := []string{read.Key}
			if read.Span != nil {
				keys = c.keysIn(read, own, nil)
			}
			for _, k := range keys {
				if _, mine := own[k]; !mine {
					c.dependOn(g, r, k, read.TS)
				}
			}
		}
	}
	if cycle := g.find(); cycle != "" {
		c.report(Cycle, "%s", cycle)
	}
}

// happened reports whether the transaction is part of the serial order: it committed, as far as the
// records show.
func (c *checker) happened(r *Record) bool {
	if r.Outcome == Committed {
		return true
	}
	for _, w := range r.Writes {
		for _, v := range c.h.Truth[w.Key] {
			if v.StartTS == r.StartTS {
				return true
			}
		}
	}
	return false
}

// dependOn adds the edges of a read of the key at ts.
func (c *checker) dependOn(g *graph, r *Record, k string, ts tso.Timestamp) {
	list := c.h.Truth[k]
	next := sort.Search(len(list), func(i int) bool { return list[i].CommitTS > ts })
	if next > 0 {
		g.add(c.byStart[list[next-1].StartTS], r, "wr "+k)
	}
	if next < len(list) && list[next].StartTS == r.StartTS {
		next++ // its own version; it came directly after what was read
	}
	if next < len(list) {
		g.add(r, c.byStart[list[next].StartTS], "rw "+k)
	}
}

type graph struct {
	edges map[*Record]map[*Record]string
}

func (g *graph) add(from, to *Record, why string) {
	if from == nil || to == nil || from == to {
		return
	}
	if g.edges[from] == nil {
		g.edges[from] = map[*Record]string{}
	}
	g.edges[from][to] = why
}

// find returns a cycle in words, or nothing.
func (g *graph) find() string {
	const fresh, open, closed = 0, 1, 2
	state := map[*Record]int{}
	var path []*Record
	var visit func(r *Record) []*Record
	visit = func(r *Record) []*Record {
		state[r] = open
		path = append(path, r)
		for to := range g.edges[r] {
			switch state[to] {
			case open:
				for i, p := range path {
					if p == to {
						return append(append([]*Record(nil), path[i:]...), to)
					}
				}
			case fresh:
				if found := visit(to); found != nil {
					return found
				}
			}
		}
		state[r] = closed
		path = path[:len(path)-1]
		return nil
	}
	for r := range g.edges {
		if state[r] != fresh {
			continue
		}
		if found := visit(r); found != nil {
			var b strings.Builder
			for i, p := range found[:len(found)-1] {
				fmt.Fprintf(&b, "%s -%s→ ", p, g.edges[p][found[i+1]])
			}
			return b.String() + found[len(found)-1].Name
		}
	}
	return ""
}
