package recipes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb"
)

// Combine is a queue of deltas that an observer folds into aggregates. Its fields are set before
// Open and not changed after it.
//
// A writer asks for a fold by a weak notification (minidb.Tx.Notify), by which writers do not
// conflict: of a row of Name_buckets, a table that is always empty, with the bucket and the second
// in which the deltas were queued. Many notifications of one row are one fold.
type Combine struct {
	// Name is that of the observer, and begins the names of its tables, Name_deltas,
	// Name_buckets and Name_folds: lower case letters, digits and underscores.
	Name string
	// Buckets is into how many parts the keys are divided: four, unless it is set. It must stay as
	// it was when there are deltas in the queue.
	Buckets int
	// Workers is how many buckets are folded at once in this process: one, unless it is set. While
	// a fold runs, deltas gather for the next one, so more workers make more and smaller folds.
	// Writers do not wait for each other whatever it is.
	Workers int
	// Fold adds sums to the aggregates. All deltas of a key are in one bucket, and folds of a
	// bucket are serial: a fold sees all that earlier ones of its keys have written. Fold may add
	// to further queues. It runs again when its transaction loses a conflict.
	Fold func(ctx context.Context, tx *minidb.Tx, sums []Delta) error
}

// Delta is what is to be added to an aggregate.
type Delta struct {
	// Key decides about the bucket. Item names one of the sums that belong to the key.
	Key, Item string
	By        int64 // zero is a delta too: it is passed to Fold
}

// part is what is summed up alone.
type part struct{ key, item string }

type sums map[part]int64

func (s sums) add(key, item string, by int64) { s[part{key, item}] += by }

// deltas returns the sums in the order of keys and items.
func (s sums) deltas() []Delta {
	all := make([]Delta, 0, len(s))
	for p, by := range s {
		all = append(all, Delta{Key: p.key, Item: p.item, By: by})
	}
	slices.SortFunc(all, func(a, b Delta) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Item, b.Item))
	})
	return all
}

const (
	combineBuckets = 4
	// combineEpoch is how long writers put deltas next to each other. A fold reads the deltas of
	// one bucket and one epoch, and passes those that were deleted before it: their number is what
	// an epoch bounds.
	combineEpoch = time.Second
)

// Open makes the tables unless they are there, and registers the observer, which folds until ctx
// ends or the database is closed.
func (c *Combine) Open(ctx context.Context, db *minidb.DB) error {
	if c.Name == "" || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return fmt.Errorf("recipes: %q cannot be the name of a Combine", c.Name)
	}
	if c.Fold == nil || c.Buckets < 0 || c.Workers < 0 {
		return errors.New("recipes: a Combine needs a Fold, and no negative number of buckets or " +
			"workers")
	}
	if c.Buckets == 0 {
		c.Buckets = combineBuckets
	}
	_, err := db.Exec(ctx, `CREATE TABLE IF NOT EXISTS `+c.Name+`_deltas (bucket int,
			epoch bigint, id bigint, keys text[] NOT NULL, items text[] NOT NULL,
			by bigint[] NOT NULL, PRIMARY KEY (bucket, epoch, id));
		CREATE TABLE IF NOT EXISTS `+c.Name+`_buckets (bucket int, epoch bigint,
			PRIMARY KEY (bucket, epoch));
		CREATE TABLE IF NOT EXISTS `+c.Name+`_folds (bucket int PRIMARY KEY,
			folds bigint NOT NULL)`)
	if err != nil {
		return err
	}
	return db.Observe(ctx, minidb.Observer{Name: c.Name, Table: c.Name + "_buckets",
		Workers: c.Workers}, c.run)
}

// Add queues deltas in a transaction. They are folded soon after its commit, and never if it is
// rolled back.
func (c *Combine) Add(ctx context.Context, tx *minidb.Tx, deltas ...Delta) error {
	buckets := make([]sums, c.Buckets)
	for _, d := range deltas {
		h := fnv.New32a()
		h.Write([]byte(d.Key))
		b := h.Sum32() % uint32(c.Buckets)
		if buckets[b] == nil {
			buckets[b] = sums{}
		}
		buckets[b].add(d.Key, d.Item, d.By)
	}
	epoch := time.Now().UnixNano() / int64(combineEpoch)
	for bucket, sums := range buckets {
		if sums == nil {
			continue
		}
		keys, items := make([]string, 0, len(sums)), make([]string, 0, len(sums))
		by := make([]int64, 0, len(sums))
		for p, n := range sums {
			keys, items, by = append(keys, p.key), append(items, p.item), append(by, n)
		}
		_, err := tx.Exec(ctx, "INSERT INTO "+c.Name+"_deltas VALUES ($1, $2, $3, $4, $5, $6)",
			bucket, epoch, rand.Int64(), keys, items, by)
		if err != nil {
			return err
		}
		if err := tx.Notify(ctx, c.Name, bucket, epoch); err != nil {
			return err
		}
	}
	return nil
}

// run folds what is in a bucket and an epoch.
func (c *Combine) run(ctx context.Context, tx *minidb.Tx, change minidb.Change) error {
	sums, err := c.take(ctx, tx, change.Key[0], change.Key[1])
	if err != nil || len(sums) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO "+c.Name+"_folds AS f VALUES ($1, 1) "+
		"ON CONFLICT (bucket) DO UPDATE SET folds = f.folds + 1", change.Key[0])
	if err != nil {
		return err
	}
	return c.Fold(ctx, tx, sums.deltas())
}

// take removes deltas from the queue and adds them up.
func (c *Combine) take(ctx context.Context, tx *minidb.Tx, bucket, epoch any) (sums, error) {
	rows, err := tx.Query(ctx, "DELETE FROM "+c.Name+
		"_deltas WHERE bucket = $1 AND epoch = $2 RETURNING keys, items, by", bucket, epoch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := sums{}
	for rows.Next() {
		var keys, items []string
		var by []int64
		if err := rows.Scan(&keys, &items, &by); err != nil {
			return nil, err
		}
		for i, key := range keys {
			all.add(key, items[i], by[i])
		}
	}
	return all, rows.Err()
}
