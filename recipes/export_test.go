package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/recipes"
)

// receiver is a system outside that keeps the newest state of each key.
type receiver struct {
	mu      sync.Mutex
	states  map[string]recipes.Item[int]
	batches []int
	refuse  func(items []recipes.Item[int]) error
}

func (r *receiver) send(_ context.Context, items []recipes.Item[int]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, len(items))
	if r.refuse != nil {
		if err := r.refuse(items); err != nil {
			return err
		}
	}
	for _, item := range items {
		key := fmt.Sprint(item.Key...)
		if r.states[key].Seq < item.Seq {
			r.states[key] = item
		}
	}
	return nil
}

func (r *receiver) values() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	values := map[string]int{}
	for key, item := range r.states {
		if !item.Gone {
			values[key] = item.Value
		}
	}
	return values
}

func loadN(_ context.Context, _ *minidb.Tx, c minidb.Change) (n int, err error) {
	return n, c.Row.Get("n", &n)
}

func newExport(r *receiver, workers, attempts int) *recipes.Export[int] {
	r.states = map[string]recipes.Item[int]{}
	return &recipes.Export[int]{Load: loadN, Send: r.send, Observer: minidb.Observer{
		Name: "export", Table: "stock", Workers: workers, Attempts: attempts}}
}

const stock = "CREATE TABLE stock (id int PRIMARY KEY, n int)"

func TestAnExportEndsWithTheNewestStates(t *testing.T) {
	ctx := context.Background()
	db := open(t, stock)
	r := &receiver{}
	lost := 0
	r.refuse = func(items []recipes.Item[int]) error {
		if lost++; lost%5 == 0 { // the receiver has them, the answer is lost
			for _, item := range items {
				if key := fmt.Sprint(item.Key...); r.states[key].Seq < item.Seq {
					r.states[key] = item
				}
			}
			return errors.New("connection reset")
		}
		return nil
	}
	require.NoError(t, newExport(r, 8, 0).Open(ctx, db))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 20 {
				_, err := db.Exec(ctx, "INSERT INTO stock VALUES ($1, $2) ON CONFLICT (id) "+
					"DO UPDATE SET n = excluded.n", i%7, w*100+i)
				require.NoError(t, err)
				_, err = db.Exec(ctx, "DELETE FROM stock WHERE id = $1", (i+w)%11)
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, db.Settle(ctx, 0))
	want := map[string]int{}
	rows, err := db.Query(ctx, "SELECT id, n FROM stock")
	require.NoError(t, err)
	for rows.Next() {
		var id, n int
		require.NoError(t, rows.Scan(&id, &n))
		want[fmt.Sprint(id)] = n
	}
	require.NoError(t, rows.Err())
	require.Equal(t, want, r.values())
}

func TestAKeyThatCannotBeSentBlocksNoOther(t *testing.T) {
	ctx := context.Background()
	db := open(t, stock)
	poison := errors.New("no such value")
	r := &receiver{refuse: func(items []recipes.Item[int]) error {
		for _, item := range items {
			if item.Value == 13 {
				return poison
			}
		}
		return nil
	}}
	require.NoError(t, newExport(r, 8, 2).Open(ctx, db))
	_, err := db.Exec(ctx, "INSERT INTO stock SELECT i, i FROM generate_series(1, 20) AS i")
	require.NoError(t, err)
	require.ErrorContains(t, db.Settle(ctx, 0), `observer "export" has given up 1 rows`)
	require.Len(t, r.values(), 19)
	require.EqualValues(t, 1, scalar(t, db,
		"SELECT count(*) FROM minidb_dead_letters WHERE key = '(13)' AND error = 'no such value'"))
	_, err = db.Exec(ctx, "UPDATE stock SET n = 14 WHERE id = 13")
	require.NoError(t, err)
	require.NoError(t, db.Settle(ctx, 0))
	require.Equal(t, 14, r.values()["13"])
}

// TestAStateThatWasSentInVainIsTakenBack: the receiver has a state whose answer was lost, and by
// the next attempt the row is as it was when it was last acknowledged.
func TestAStateThatWasSentInVainIsTakenBack(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct{ before, change, back string }{
		{"", "INSERT INTO stock VALUES (1, 5)", "DELETE FROM stock"},
		{"INSERT INTO stock VALUES (1, 4)", "UPDATE stock SET n = 5", "UPDATE stock SET n = 4"},
		{"INSERT INTO stock VALUES (1, 4)", "DELETE FROM stock", "INSERT INTO stock VALUES (1, 4)"},
	} {
		db := open(t, stock)
		r := &receiver{}
		e := newExport(r, 1, 0)
		lost := 2
		e.Send = func(ctx context.Context, items []recipes.Item[int]) error {
			switch lost {
			case 1: // alone again: fails without being sent
				lost++
				return errors.New("connection refused")
			case 0:
				lost++
				_, err := db.Exec(ctx, x.back)
				require.NoError(t, err)
				return errors.Join(r.send(ctx, items), errors.New("connection reset"))
			}
			return r.send(ctx, items)
		}
		require.NoError(t, e.Open(ctx, db))
		if x.before != "" {
			_, err := db.Exec(ctx, x.before)
			require.NoError(t, err)
			require.NoError(t, db.Settle(ctx, 0))
		}
		want := r.values()
		lost = 0
		_, err := db.Exec(ctx, x.change)
		require.NoError(t, err)
		require.NoError(t, db.Settle(ctx, 0))
		require.Equal(t, want, r.values(), x.change)
	}
}

// TestWhatWaitsIsSentTogether: while one batch is on its way, the next one gathers.
func TestWhatWaitsIsSentTogether(t *testing.T) {
	ctx := context.Background()
	db := open(t, stock)
	first := make(chan struct{})
	loaded := make(chan struct{}, 100)
	r := &receiver{}
	e := newExport(r, 8, 0)
	e.Batch = 5
	e.Load = func(ctx context.Context, tx *minidb.Tx, c minidb.Change) (int, error) {
		loaded <- struct{}{}
		return loadN(ctx, tx, c)
	}
	sending := 0
	e.Send = func(ctx context.Context, items []recipes.Item[int]) error {
		if sending++; sending == 1 {
			<-first
		}
		return r.send(ctx, items)
	}
	require.NoError(t, e.Open(ctx, db))
	_, err := db.Exec(ctx, "INSERT INTO stock SELECT i, i FROM generate_series(1, 8) AS i")
	require.NoError(t, err)
	for range 8 {
		<-loaded
	}
	close(first)
	require.NoError(t, db.Settle(ctx, 0))
	require.Len(t, r.values(), 8)
	for _, n := range r.batches {
		require.LessOrEqual(t, n, 5)
	}
}

func TestAnExportThatCannotBe(t *testing.T) {
	ctx := context.Background()
	db := open(t, stock)
	require.Error(t, (&recipes.Export[int]{}).Open(ctx, db))
	e := newExport(&receiver{}, 1, 0)
	e.Batch = -1
	require.Error(t, e.Open(ctx, db))
	e.Batch, e.Observer.Table = 0, "none"
	require.ErrorContains(t, e.Open(ctx, db), `relation "none" does not exist`)
}
