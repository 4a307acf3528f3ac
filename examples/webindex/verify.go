package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/minidb/minidb"
)

// derived is all that the pipeline derives, as it is computed at once from the documents.
type derived struct {
	pages        map[string]string // url → hash, rank, title, inlinks
	anchors      map[string]string // target, anchor → n
	clusters     map[string]string // hash → canonical, members, inlinks
	clusterLinks map[string]string // hash, anchor → n
	dependencies map[string]string
	rendered     map[string]string // url → digest
	entries      map[string]entry
}

// verify compares all derived tables with what follows from the documents of the same snapshot, and
// the serving table. It returns the number of differences.
func verify(ctx context.Context, db *minidb.DB, out *serving, w io.Writer) (wrong int, err error) {
	err = db.View(ctx, func(tx *minidb.Tx) error {
		want, documents, err := recompute(ctx, tx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "compared with a recomputation from %d documents:\n", documents)
		for _, x := range []struct {
			name, query string
			want        map[string]string
		}{
			{"pages", `SELECT url, concat_ws(' ', hash, rank, inlinks, title) FROM pages
				WHERE hash IS NOT NULL OR inlinks <> 0`, want.pages},
			{"anchors", "SELECT target || ' ' || anchor, n::text FROM anchors", want.anchors},
			{"clusters", `SELECT hash, concat_ws(' ', canonical, members, inlinks) FROM clusters`,
				want.clusters},
			{"anchors of clusters", "SELECT hash || ' ' || anchor, n::text FROM cluster_anchors",
				want.clusterLinks},
			{"dependencies", "SELECT page || ' ' || resource, '' FROM dependencies",
				want.dependencies},
			{"rendered", "SELECT url, digest FROM rendered", want.rendered},
		} {
			got, err := texts(ctx, tx, x.query)
			if err != nil {
				return fmt.Errorf("%s: %w", x.name, err)
			}
			wrong += compare(w, x.name, x.want, got)
		}
		served, err := out.entries(ctx)
		if err != nil {
			return err
		}
		wrong += compare(w, "serving table", want.entries, served)
		return nil
	})
	return wrong, err
}

// compare counts the differences, and shows the first of them.
func compare[V comparable](w io.Writer, name string, want, got map[string]V) (wrong int) {
	keys := maps.Clone(want)
	maps.Copy(keys, got)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		expected, wanted := want[key]
		value, found := got[key]
		if wanted == found && expected == value {
			continue
		}
		if wrong++; wrong <= 3 {
			fmt.Fprintf(w, "  %s: %s is %v, should be %v\n", name, key, value, expected)
		}
	}
	fmt.Fprintf(w, "  %-20s %8d rows, %d differences\n", name, len(got), wrong)
	return wrong
}

func texts(ctx context.Context, tx *minidb.Tx, query string) (map[string]string, error) {
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		all[key] = value
	}
	return all, rows.Err()
}

// recompute derives everything from the documents and resources of a snapshot.
func recompute(ctx context.Context, tx *minidb.Tx) (d derived, documents int, err error) {
	resources, err := texts(ctx, tx, "SELECT url, body FROM resources")
	if err != nil {
		return d, 0, err
	}
	rows, err := tx.Query(ctx, "SELECT url, rank, body FROM documents")
	if err != nil {
		return d, 0, err
	}
	defer rows.Close()
	d.rendered, d.dependencies = map[string]string{}, map[string]string{}
	pages := map[string]*page{}
	links := map[link]int64{}
	for rows.Next() {
		var url, body string
		var rank int
		if err := rows.Scan(&url, &rank, &body); err != nil {
			return d, 0, err
		}
		p := parse(url, rank, body)
		pages[url] = p
		for l, n := range p.links {
			links[l] += n
		}
		p.links = nil
		var parts []string
		for _, r := range p.resources {
			d.dependencies[url+" "+r] = ""
			part, ok := resources[r]
			if !ok {
				part = "missing " + r
			}
			parts = append(parts, part)
		}
		d.rendered[url] = digest(body, parts)
	}
	d.invert(pages, links)
	return d, len(pages), rows.Err()
}

// cluster is documents with the same text.
type cluster struct {
	canonical        *page
	members, inlinks int64
	anchors          map[string]int64
}

// invert makes clusters of pages, and brings the links to their targets' clusters.
func (d *derived) invert(pages map[string]*page, links map[link]int64) {
	clusters := map[string]*cluster{}
	for _, p := range pages {
		c := clusters[p.hash]
		if c == nil {
			c = &cluster{anchors: map[string]int64{}}
			clusters[p.hash] = c
		}
		c.members++
		if o := c.canonical; o == nil || p.rank < o.rank || p.rank == o.rank && p.url < o.url {
			c.canonical = p
		}
	}
	inlinks := map[string]int64{}
	d.anchors, d.clusterLinks = map[string]string{}, map[string]string{}
	for l, n := range links {
		inlinks[l.target] += n
		d.anchors[l.target+" "+l.anchor] = fmt.Sprint(n)
		if p := pages[l.target]; p != nil {
			clusters[p.hash].inlinks += n
			clusters[p.hash].anchors[l.anchor] += n
		}
	}
	d.pages = map[string]string{}
	for url, n := range inlinks {
		d.pages[url] = fmt.Sprintf("%d", n)
	}
	for url, p := range pages {
		d.pages[url] = fmt.Sprintf("%s %d %d %s", p.hash, p.rank, inlinks[url], p.title)
	}
	d.clusters, d.entries = map[string]string{}, map[string]entry{}
	for hash, c := range clusters {
		d.clusters[hash] = fmt.Sprintf("%s %d %d", c.canonical.url, c.members, c.inlinks)
		for anchor, n := range c.anchors {
			d.clusterLinks[hash+" "+anchor] = fmt.Sprint(n)
		}
		d.entries[hash] = c.entry()
	}
}

func (c *cluster) entry() entry {
	all := slices.Collect(maps.Keys(c.anchors))
	sort.Slice(all, func(i, j int) bool {
		n, m := c.anchors[all[i]], c.anchors[all[j]]
		return n > m || n == m && all[i] < all[j]
	})
	all = all[:min(len(all), topAnchors)]
	for i, anchor := range all {
		all[i] = fmt.Sprintf("%s (%d)", anchor, c.anchors[anchor])
	}
	return entry{canonical: c.canonical.url, members: c.members, inlinks: c.inlinks,
		anchors: strings.Join(all, ", ")}
}
