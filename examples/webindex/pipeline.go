package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/recipes"
)

const schema = `
CREATE TABLE IF NOT EXISTS documents (url text PRIMARY KEY, rank int NOT NULL, body text NOT NULL);
CREATE TABLE IF NOT EXISTS resources (url text PRIMARY KEY, body text NOT NULL);
CREATE TABLE IF NOT EXISTS loaders (loader int PRIMARY KEY, next int NOT NULL);

-- a URL that was crawled, or that links lead to: then hash, rank and title are NULL
CREATE TABLE IF NOT EXISTS pages (url text PRIMARY KEY, hash text, rank int, title text,
	inlinks bigint NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS pages_cluster ON pages (hash, rank, url);
CREATE TABLE IF NOT EXISTS anchors (target text, anchor text, n bigint NOT NULL,
	PRIMARY KEY (target, anchor));

-- documents with the same text; revision grows with each change
CREATE TABLE IF NOT EXISTS clusters (hash text PRIMARY KEY, canonical text, members bigint NOT NULL,
	inlinks bigint NOT NULL, revision bigint NOT NULL DEFAULT 1);
CREATE TABLE IF NOT EXISTS cluster_anchors (hash text, anchor text, n bigint NOT NULL,
	PRIMARY KEY (hash, anchor));

CREATE TABLE IF NOT EXISTS dependencies (page text, resource text, PRIMARY KEY (page, resource));
CREATE INDEX IF NOT EXISTS dependencies_resource ON dependencies (resource);
CREATE TABLE IF NOT EXISTS rendered (url text PRIMARY KEY, digest text NOT NULL)`

// pipeline is the observers, with what they have counted in this process.
type pipeline struct {
	links    recipes.Combine // key: target, item: anchor
	clusters recipes.Combine // key: hash, item: members or an anchor
	renders  recipes.Combine // key: URL
	export   recipes.Export[entry]

	counts struct{ loaded, parsed, linked, clustered, rendered, exported atomic.Int64 }
}

// Items of the queue of clusters: a document more or less, and links with an anchor.
const (
	members      = "members"
	anchorPrefix = "anchor "
)

// start registers the observers and runs them until ctx ends.
func (p *pipeline) start(ctx context.Context, db *minidb.DB, serving *serving) error {
	if _, err := db.Exec(ctx, schema); err != nil {
		return err
	}
	p.links = recipes.Combine{Name: "links", Fold: p.foldLinks}
	p.clusters = recipes.Combine{Name: "cluster_changes", Fold: p.foldClusters}
	p.renders = recipes.Combine{Name: "renders", Fold: p.foldRenders}
	p.export = recipes.Export[entry]{
		Observer: minidb.Observer{Name: "export", Table: "clusters", Workers: exportWorkers},
		Load:     loadEntry,
		Send: func(ctx context.Context, items []recipes.Item[entry]) error {
			err := serving.send(ctx, items)
			if err == nil {
				p.counts.exported.Add(int64(len(items)))
			}
			return err
		}}
	for _, open := range []func() error{ // the end of the chain first
		func() error { return p.export.Open(ctx, db) },
		func() error { return p.renders.Open(ctx, db) },
		func() error { return p.clusters.Open(ctx, db) },
		func() error { return p.links.Open(ctx, db) },
		func() error {
			return db.Observe(ctx, minidb.Observer{Name: "parse", Table: "documents",
				Workers: parseWorkers}, p.parse)
		},
		func() error {
			return db.Observe(ctx, minidb.Observer{Name: "resources", Table: "resources"},
				p.resourceChanged)
		},
	} {
		if err := open(); err != nil {
			return err
		}
	}
	return nil
}

const (
	parseWorkers  = 16
	exportWorkers = 32
)

// parse takes what the document said out of all that is derived from it, and puts in what it says.
func (p *pipeline) parse(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	before, err := parseImage(c.Before)
	if err != nil {
		return err
	}
	after, err := parseImage(c.Row)
	if err != nil {
		return err
	}
	if before == nil && after == nil {
		return nil // it came and went, and nothing was derived from it
	}
	url := c.Key[0].(string)
	if err := p.setPage(ctx, tx, url, before, after); err != nil {
		return err
	}
	if err := p.links.Add(ctx, tx, linkDeltas(before, after)...); err != nil {
		return err
	}
	if err := setDependencies(ctx, tx, url, before, after); err != nil {
		return err
	}
	if err := p.renders.Add(ctx, tx, recipes.Delta{Key: url}); err != nil {
		return err
	}
	p.counts.parsed.Add(1)
	return nil
}

// linkDeltas is what becomes of the numbers of links.
func linkDeltas(before, after *page) (all []recipes.Delta) {
	if before != nil {
		for l, n := range before.links {
			all = append(all, recipes.Delta{Key: l.target, Item: l.anchor, By: -n})
		}
	}
	if after != nil {
		for l, n := range after.links {
			all = append(all, recipes.Delta{Key: l.target, Item: l.anchor, By: n})
		}
	}
	return all
}

// setPage writes the row of the page and moves it from its old cluster into its new one, with the
// links that lead to it. A fold of links to the page writes the same row, so one of the two is run
// again, and no link is moved that has not been counted or the other way round.
func (p *pipeline) setPage(ctx context.Context, tx *minidb.Tx, url string,
	before, after *page) error {
	var err error
	var from, to string
	if before != nil {
		from = before.hash
	}
	if after == nil {
		_, err = tx.Exec(ctx,
			"UPDATE pages SET hash = NULL, rank = NULL, title = NULL WHERE url = $1", url)
	} else {
		to = after.hash
		_, err = tx.Exec(ctx, `INSERT INTO pages VALUES ($1, $2, $3, $4) ON CONFLICT (url)
			DO UPDATE SET hash = excluded.hash, rank = excluded.rank, title = excluded.title`,
			url, to, after.rank, after.title)
	}
	if err != nil {
		return err
	}
	if from == to { // its rank may have changed
		return p.clusters.Add(ctx, tx, recipes.Delta{Key: to, Item: members})
	}
	counts, err := anchorsOf(ctx, tx, url)
	if err != nil {
		return err
	}
	counts[members] = 1
	var moves []recipes.Delta
	for item, n := range counts {
		if from != "" {
			moves = append(moves, recipes.Delta{Key: from, Item: item, By: -n})
		}
		if to != "" {
			moves = append(moves, recipes.Delta{Key: to, Item: item, By: n})
		}
	}
	return p.clusters.Add(ctx, tx, moves...)
}

// anchorsOf counts the links to a page, as items of the queue of clusters.
func anchorsOf(ctx context.Context, tx *minidb.Tx, url string) (map[string]int64, error) {
	rows, err := tx.Query(ctx, "SELECT anchor, n FROM anchors WHERE target = $1", url)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[string]int64{}
	for rows.Next() {
		var anchor string
		var n int64
		if err := rows.Scan(&anchor, &n); err != nil {
			return nil, err
		}
		counts[anchorPrefix+anchor] = n
	}
	return counts, rows.Err()
}

// setDependencies writes which resources a page is made of.
func setDependencies(ctx context.Context, tx *minidb.Tx, url string, before, after *page) error {
	if before != nil && len(before.resources) > 0 {
		if _, err := tx.Exec(ctx, "DELETE FROM dependencies WHERE page = $1", url); err != nil {
			return err
		}
	}
	if after == nil || len(after.resources) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, "INSERT INTO dependencies SELECT $1::text, r "+
		"FROM unnest($2::text[]) AS r", url, after.resources)
	return err
}

// resourceChanged has all pages rendered again that are made of a resource: the paper's fan-in.
func (p *pipeline) resourceChanged(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	rows, err := tx.Query(ctx, "SELECT page FROM dependencies WHERE resource = $1", c.Key[0])
	if err != nil {
		return err
	}
	defer rows.Close()
	var pages []recipes.Delta
	for rows.Next() {
		var d recipes.Delta
		if err := rows.Scan(&d.Key); err != nil {
			return err
		}
		pages = append(pages, d)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return p.renders.Add(ctx, tx, pages...)
}

// digest stands for the work of rendering a page from its document and its resources.
func digest(body string, resources []string) string {
	h := sha256.New()
	h.Write([]byte(body))
	for _, r := range resources {
		h.Write([]byte{0})
		h.Write([]byte(r))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
