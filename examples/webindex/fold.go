package main

import (
	"context"
	"strings"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/recipes"
)

// counts are rows (name, item, n) as arrays.
type counts struct {
	names, items []string
	n            []int64
}

func (c *counts) add(name, item string, n int64) {
	c.names, c.items, c.n = append(c.names, name), append(c.items, item), append(c.n, n)
}

// into adds the counts to those of a table with columns (name, item, n).
func (c *counts) into(ctx context.Context, tx *minidb.Tx, table, name, item string) error {
	if len(c.names) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `INSERT INTO `+table+` AS t
		SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::bigint[])
		ON CONFLICT (`+name+`, `+item+`) DO UPDATE SET n = t.n + excluded.n
		RETURNING `+name+`, `+item+`, n`, c.names, c.items, c.n)
	if err != nil {
		return err
	}
	defer rows.Close()
	var none counts
	for rows.Next() {
		var key, value string
		var n int64
		if err := rows.Scan(&key, &value, &n); err != nil {
			return err
		}
		if n == 0 {
			none.add(key, value, 0)
		}
	}
	if err := rows.Err(); err != nil || len(none.names) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE (`+name+`, `+item+`) IN
		(SELECT unnest($1::text[]), unnest($2::text[]))`, none.names, none.items)
	return err
}

// foldLinks counts links by their target and anchor, and passes them on to the target's cluster.
func (p *pipeline) foldLinks(ctx context.Context, tx *minidb.Tx, sums []recipes.Delta) error {
	var anchors counts
	var targets []string
	var inlinks []int64
	for _, d := range sums {
		if d.By == 0 {
			continue
		}
		anchors.add(d.Key, d.Item, d.By)
		if last := len(targets) - 1; last >= 0 && targets[last] == d.Key {
			inlinks[last] += d.By
		} else {
			targets, inlinks = append(targets, d.Key), append(inlinks, d.By)
		}
	}
	if err := anchors.into(ctx, tx, "anchors", "target", "anchor"); err != nil {
		return err
	}
	hashes, err := countInlinks(ctx, tx, targets, inlinks)
	if err != nil {
		return err
	}
	var moved []recipes.Delta
	for i, target := range anchors.names {
		if hash := hashes[target]; hash != "" {
			moved = append(moved, recipes.Delta{Key: hash, Item: anchorPrefix + anchors.items[i],
				By: anchors.n[i]})
		}
	}
	p.counts.linked.Add(int64(len(sums)))
	return p.clusters.Add(ctx, tx, moved...)
}

// countInlinks adds to the number of links to pages, and returns the clusters of those that are
// crawled. It writes the row of each page, see setPage.
func countInlinks(ctx context.Context, tx *minidb.Tx, targets []string,
	inlinks []int64) (map[string]string, error) {
	rows, err := tx.Query(ctx, `INSERT INTO pages AS p (url, inlinks)
		SELECT unnest($1::text[]), unnest($2::bigint[])
		ON CONFLICT (url) DO UPDATE SET inlinks = p.inlinks + excluded.inlinks
		RETURNING url, coalesce(hash, '')`, targets, inlinks)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	hashes := map[string]string{}
	for rows.Next() {
		var url, hash string
		if err := rows.Scan(&url, &hash); err != nil {
			return nil, err
		}
		hashes[url] = hash
	}
	return hashes, rows.Err()
}

// foldClusters counts documents and links of clusters, and chooses the canonical URL of each again.
func (p *pipeline) foldClusters(ctx context.Context, tx *minidb.Tx, sums []recipes.Delta) error {
	var anchors counts
	var hashes []string
	var documents, inlinks []int64
	for _, d := range sums {
		last := len(hashes) - 1
		if last < 0 || hashes[last] != d.Key {
			hashes, documents, inlinks = append(hashes, d.Key), append(documents, 0),
				append(inlinks, 0)
			last++
		}
		if anchor, ok := strings.CutPrefix(d.Item, anchorPrefix); !ok {
			documents[last] += d.By
		} else if d.By != 0 {
			inlinks[last] += d.By
			anchors.add(d.Key, anchor, d.By)
		}
	}
	if err := anchors.into(ctx, tx, "cluster_anchors", "hash", "anchor"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO clusters AS c SELECT hash,
			(SELECT url FROM pages WHERE pages.hash = d.hash ORDER BY rank, url LIMIT 1), members, n
		FROM (SELECT unnest($1::text[]) AS hash, unnest($2::bigint[]) AS members,
			unnest($3::bigint[]) AS n) AS d
		ON CONFLICT (hash) DO UPDATE SET canonical = excluded.canonical,
			members = c.members + excluded.members, inlinks = c.inlinks + excluded.inlinks,
			revision = c.revision + 1`, hashes, documents, inlinks)
	if err != nil {
		return err
	}
	p.counts.clustered.Add(int64(len(hashes)))
	_, err = tx.Exec(ctx, `DELETE FROM clusters WHERE hash = ANY($1::text[]) AND canonical IS NULL
		AND members = 0 AND inlinks = 0`, hashes)
	return err
}

// foldRenders renders each page of a batch once, however often it was asked for.
func (p *pipeline) foldRenders(ctx context.Context, tx *minidb.Tx, sums []recipes.Delta) error {
	urls := make([]string, len(sums))
	for i, d := range sums {
		urls[i] = d.Key
	}
	bodies, err := textsOf(ctx, tx,
		"SELECT url, body FROM documents WHERE url = ANY($1::text[])", urls)
	if err != nil {
		return err
	}
	resources, err := textsOf(ctx, tx, `SELECT page, coalesce(body, 'missing ' || resource)
		FROM dependencies LEFT JOIN resources ON url = resource
		WHERE page = ANY($1::text[]) ORDER BY page, resource`, urls)
	if err != nil {
		return err
	}
	var there, digests, gone []string
	for _, url := range urls {
		if body := bodies[url]; len(body) == 1 {
			there, digests = append(there, url), append(digests, digest(body[0], resources[url]))
		} else {
			gone = append(gone, url)
		}
	}
	p.counts.rendered.Add(int64(len(urls)))
	if len(gone) > 0 {
		_, err := tx.Exec(ctx, "DELETE FROM rendered WHERE url = ANY($1::text[])", gone)
		if err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO rendered SELECT unnest($1::text[]), unnest($2::text[])
		ON CONFLICT (url) DO UPDATE SET digest = excluded.digest`, there, digests)
	return err
}

// textsOf collects the second column of a query by the first.
func textsOf(ctx context.Context, tx *minidb.Tx, query string, urls []string) (map[string][]string,
	error) {
	rows, err := tx.Query(ctx, query, urls)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	texts := map[string][]string{}
	for rows.Next() {
		var url, text string
		if err := rows.Scan(&url, &text); err != nil {
			return nil, err
		}
		texts[url] = append(texts[url], text)
	}
	return texts, rows.Err()
}
