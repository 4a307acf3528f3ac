package table

import (
	"slices"

	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// Observer is a function outside of the store that runs after rows of a table have changed
// (Percolator, §2.4). Every transaction that changes an observed column of a row notes that for it
// ([Writer]); package txn/observer's workers run it.
type Observer struct {
	// ID is drawn from the same numbers as a relation's and never used again. Notifications and the
	// observer's own keys carry it; it stays when another version takes the place of this one.
	ID      ID
	Name    string // unique in the database
	Version int64  // not negative
	// Columns are the observed ones, in ascending order; nil means all, those added later too. A
	// new row, a row that is gone and a new primary key are changes whatever is observed.
	Columns []ColumnID `json:",omitempty"`
	// Views: the observer stands for all incremental views that use the table. It has no name, and
	// keeps nothing: each view has a state ([ViewState]).
	Views bool `json:",omitempty"`
	// Backfill: the observer also gets the rows that were there before this version of it.
	Backfill bool `json:",omitempty"`
}

// Title is what the observer is called where it is listed.
func (o *Observer) Title() string {
	if o.Views {
		return "incremental views"
	}
	return o.Name
}

// Observer returns the observer of the table with the ID, or nil.
func (d *Desc) Observer(id ID) *Observer {
	return d.findObserver(func(o *Observer) bool { return o.ID == id })
}

// ObserverByName returns the observer of the table of that name, or nil.
func (d *Desc) ObserverByName(name string) *Observer {
	return d.findObserver(func(o *Observer) bool { return !o.Views && o.Name == name })
}

// ViewObserver returns the observer of the table that stands for incremental views, or nil.
func (d *Desc) ViewObserver() *Observer {
	return d.findObserver(func(o *Observer) bool { return o.Views })
}

func (d *Desc) findObserver(is func(*Observer) bool) *Observer {
	for i := range d.Observers {
		if is(&d.Observers[i]) {
			return &d.Observers[i]
		}
	}
	return nil
}

// Observes reports whether the observer observes a column.
func (o *Observer) Observes(id ColumnID) bool {
	return o.Columns == nil || slices.Contains(o.Columns, id)
}

// Changed reports whether two versions of a row of d, one datum per column of the descriptor,
// differ in what the observer observes. Values differ when they are not equal or do not print
// alike: 1.0 and 1.00, 0 and -0, 1 day and 24 hours differ; two NaNs do not, and two NULLs do not.
// A new primary key is the caller's to notice.
func (o *Observer) Changed(d *Desc, old, new []types.Datum) bool {
	for i := range d.Columns {
		c := &d.Columns[i]
		if !c.Hidden && o.Observes(c.ID) && Differ(c.Type, old[i], new[i]) {
			return true
		}
	}
	return false
}

// ChangedSince is Changed of a row from before a rewrite of the table, as the descriptor was then.
// A column that is new, or has another type, is changed.
func (o *Observer) ChangedSince(then *Desc, old []types.Datum, d *Desc, new []types.Datum) bool {
	for i := range d.Columns {
		c := &d.Columns[i]
		if c.Hidden || !o.Observes(c.ID) {
			continue
		}
		at := then.ColumnByID(c.ID)
		if at < 0 || then.Columns[at].Type.OID != c.Type.OID || Differ(c.Type, old[at], new[i]) {
			return true
		}
	}
	return false
}

// Differ reports whether two values of a type are distinguishable: numerics of other scales are,
// and citexts of other case, though they are equal.
func Differ(t *types.Type, a, b types.Datum) bool {
	switch {
	case !types.Equal(t, a, b):
		return true
	case a.Null || codec.KeyExact(t): // equal values of the type are the same
		return false
	}
	f := types.DefaultFormat
	return types.Text(t, a, &f) != types.Text(t, b, &f)
}

// RowDecoder reads rows as observers get them: the visible columns in the order of the descriptor.
// It belongs to one goroutine.
type RowDecoder struct {
	dec *decoder
	out []int
}

// NewRowDecoder prepares reading rows of d.
func NewRowDecoder(d *Desc) (*RowDecoder, error) {
	l, err := layoutOf(d, nil)
	if err != nil {
		return nil, err
	}
	r := &RowDecoder{}
	for i := range d.Columns {
		if !d.Columns[i].Hidden {
			r.out = append(r.out, i)
		}
	}
	r.dec = newDecoder(l, r.out)
	return r, nil
}

// Columns are the ordinals in the descriptor of the columns that Decode returns.
func (r *RowDecoder) Columns() []int { return r.out }

// Decode reads a row from its whole key, as in [Desc.IndexSpan] of [RowIndexID], and its value or
// the old value of a notification. The datums do not alias the two. Bytes that are no row of the
// table are kv.ErrCorruption.
func (r *RowDecoder) Decode(key, value []byte) ([]types.Datum, error) {
	rest, err := r.dec.l.restOf(key)
	if err != nil {
		return nil, err
	}
	row := make([]types.Datum, len(r.out))
	return row, r.dec.row(rest, value, row)
}
