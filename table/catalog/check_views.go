package catalog

import (
	"bytes"
	"context"
	"fmt"

	"github.com/minidb/minidb/table"
)

// incrementalViews verifies that every table which such a view uses notifies of the columns that it
// uses, and that every state is that of a view which was filled. Whether the rows are those of the
// query is for a layer above, which runs queries.
func (ch *checker) incrementalViews(ctx context.Context) error {
	used := map[table.ID]bool{} // tables
	for _, d := range ch.order {
		if !d.Incremental() {
			continue
		}
		if err := ch.hasState(ctx, d); err != nil {
			return err
		}
		for _, u := range d.View.Incremental.Uses {
			on := ch.descs[u.Relation]
			if on == nil {
				ch.report(Problem{Relation: ch.names[d.ID],
					What: fmt.Sprintf("it uses relation %d, which does not exist", u.Relation)})
				continue
			}
			if used[on.ID] = true; on.Incremental() {
				continue
			}
			o := on.ViewObserver()
			if o == nil || o.Columns != nil && (u.Columns == nil ||
				!containsAll(o.Columns, u.Columns)) {
				ch.report(Problem{Relation: ch.names[d.ID],
					What: fmt.Sprintf("table %s does not notify of what it uses", ch.names[on.ID])})
			}
		}
	}
	for _, d := range ch.order {
		if d.ViewObserver() != nil && !used[d.ID] {
			ch.report(Problem{Relation: ch.names[d.ID],
				What: "it notifies incremental views, and none uses it"})
		}
	}
	return scan(ctx, ch.tx, []byte{table.PrefixView}, func(key, value []byte) error {
		id, ok := table.ViewOfStateKey(key)
		if d := ch.descs[id]; !ok || d == nil || !d.Incremental() {
			ch.report(Problem{Key: bytes.Clone(key), What: "state of no incremental view"})
		} else if _, err := table.DecodeViewState(value); err != nil {
			ch.report(Problem{Relation: ch.names[id], Key: bytes.Clone(key), What: err.Error()})
		}
		return nil
	})
}

func (ch *checker) hasState(ctx context.Context, d *table.Desc) error {
	value, err := ch.tx.Get(ctx, table.ViewStateKey(d.ID))
	if err == nil && (value == nil) != d.View.Unpopulated {
		what := "it was filled and has no state"
		if value != nil {
			what = "it was not filled and has a state"
		}
		ch.report(Problem{Relation: ch.names[d.ID], What: what})
	}
	return err
}
