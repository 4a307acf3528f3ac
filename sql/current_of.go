package sql

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// noteCurrent notes that row i of the batch was fetched last.
func (p *Portal) noteCurrent(i int) {
	hidden := len(p.made) - len(p.columns)
	if hidden == 0 || i < p.pos {
		return
	}
	p.current = make([]types.Datum, hidden)
	for k := range p.current {
		p.current[k] = p.batch.Cols[len(p.columns)+k].Get(p.batch.Row(i))
	}
}

// shown returns the batch with the columns that a client sees.
func (p *Portal) shown() *types.Batch {
	if len(p.made) == len(p.columns) {
		return p.batch
	}
	return &types.Batch{Cols: p.batch.Cols[:len(p.columns)], Len: p.batch.Len, Sel: p.batch.Sel}
}

// keys returns the keys of the row at which the cursor is; nil: it is at none.
func (p *Portal) keys() ([]types.Datum, error) {
	if k, ok := p.src.(*materialised); ok && (p.scroll || p.remembers) {
		if k.at < 1 || k.at > k.len() {
			return nil, nil
		}
		row, err := k.rows.Row(k.at-1, nil)
		if err != nil {
			return nil, err
		}
		return row[len(p.columns):], nil
	}
	return p.current, nil
}

// CurrentOf implements expr.Cursors.
func (f *accessor) CurrentOf(cursor string, key expr.CursorKey) (types.Datum, error) {
	p := f.s.portals[cursor]
	switch {
	case p == nil || cursor == "":
		return types.Null, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist",
			cursor)
	case p.plan == nil:
		return types.Null, sqlerr.New(sqlerr.InvalidCursorState,
			"cursor \"%s\" is not a SELECT query", cursor)
	case p.committed:
		return types.Null, sqlerr.New(sqlerr.InvalidCursorState,
			"cursor \"%s\" is held from a previous transaction", cursor)
	}
	at, err := positionIn(p, key)
	if err != nil {
		return types.Null, err
	}
	keys, err := p.keys()
	if err != nil {
		return types.Null, err
	}
	if keys == nil {
		return types.Null, sqlerr.New(sqlerr.InvalidCursorState,
			"cursor \"%s\" is not positioned on a row", cursor)
	}
	return keys[at.First-len(p.columns)+key.Part], nil
}

// positionIn finds the one table of a cursor's query that WHERE CURRENT OF means.
func positionIn(p *Portal, key expr.CursorKey) (found opt.Position, err error) {
	n, locked := 0, false
	for _, at := range p.plan.Positions {
		locked = locked || at.Locked
		if at.Table == table.ID(key.Relation) {
			found = at
			n++
		}
	}
	text := ""
	switch {
	case n == 1:
		return found, nil
	case !locked:
		text = "cursor \"%s\" is not a simply updatable scan of table \"%s\""
	case n == 0:
		text = "cursor \"%s\" does not have a FOR UPDATE/SHARE reference to table \"%s\""
	default:
		text = "cursor \"%s\" has multiple FOR UPDATE/SHARE references to table \"%s\""
	}
	return found, sqlerr.New(sqlerr.InvalidCursorState, text, p.Name, key.Name)
}
