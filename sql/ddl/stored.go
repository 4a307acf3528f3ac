package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// The catalog keeps expressions and views as text whose meaning depends neither on the session, nor
// on its search path, nor on the time: relations carry their schemas, stars are written out, 'now'
// has become a time. A rename prints the texts that contain the name anew, from their trees.

// storedExpr is the text that the catalog keeps of an expression over a row of d, or of a DEFAULT
// without d. want is the type of the column; nil for a condition.
func (env *Env) storedExpr(ctx context.Context, d *table.Desc, e ast.Expr,
	want *types.Type) (string, error) {
	out, err := deparse.Expr(ctx, env.Planner, d, e, want, deparse.Options{Source: true})
	return strings.TrimSpace(out), err
}

// renaming are the options that print names as they are after was has become is.
func renaming(was, is *table.Desc) deparse.Options {
	return deparse.Options{Source: true, Rename: func(d *table.Desc) *table.Desc {
		if d.ID == was.ID {
			return is
		}
		return d
	}}
}

// reprintRow prints the expressions over a row of is anew, which was was when they were written.
func (env *Env) reprintRow(ctx context.Context, was, is *table.Desc) error {
	opts := renaming(was, is)
	reprint := func(text *string, want *types.Type) error {
		if *text == "" {
			return nil
		}
		out, err := deparse.Stored(ctx, env.Planner, was, *text, want, opts)
		*text = strings.TrimSpace(out)
		return err
	}
	for i := range is.Columns {
		if err := reprint(&is.Columns[i].Generated, is.Columns[i].Type); err != nil {
			return err
		}
	}
	for i := range is.Checks {
		if err := reprint(&is.Checks[i].Text, nil); err != nil {
			return err
		}
	}
	return nil
}

// mended is a relation whose stored texts have been printed anew.
type mended struct{ old, next *table.Desc }

// reprintViews prints the views anew that read a relation, before was becomes is.
func (env *Env) reprintViews(ctx context.Context, was, is *table.Desc) ([]mended, error) {
	views, err := env.View.Dependents(ctx, was.ID)
	if err != nil {
		return nil, err
	}
	out := make([]mended, len(views))
	for i, v := range views {
		out[i] = mended{v, v.Clone()}
		if out[i].next.View.Text, err = deparse.View(ctx, env.Planner, v,
			renaming(was, is)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reprintDefaults prints the defaults anew that name a relation, as nextval('s') does, before was
// becomes is. The columns of was itself are is's.
func (env *Env) reprintDefaults(ctx context.Context, was, is *table.Desc) ([]mended, error) {
	all, err := env.View.Relations(ctx, env.Database)
	if err != nil {
		return nil, err
	}
	var out []mended
	for _, t := range all {
		next := t
		for i := range t.Columns {
			names, err := env.namesRelation(ctx, t.Columns[i].DefaultText, was.ID)
			if err != nil {
				return nil, err
			}
			if !names {
				continue
			}
			text, err := deparse.Stored(ctx, env.Planner, nil, t.Columns[i].DefaultText,
				t.Columns[i].Type, renaming(was, is))
			if err != nil {
				return nil, err
			}
			switch {
			case t.ID == was.ID:
				next = is
			case next == t:
				next = t.Clone()
			}
			next.Columns[i].DefaultText = strings.TrimSpace(text)
		}
		if next != t && next != is {
			out = append(out, mended{t, next})
		}
	}
	return out, nil
}

// namesRelation reports whether a DEFAULT has the relation as a constant, which follows its name.
func (env *Env) namesRelation(ctx context.Context, text string, id table.ID) (bool, error) {
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "regclass") && !strings.Contains(lower, "val(") {
		return false, nil
	}
	e, err := env.parse(text)
	if err != nil {
		return false, err
	}
	named, err := deparse.Relations(ctx, env.Planner, e)
	return slices.Contains(named, id), err
}

// storedDefault is storedExpr of a DEFAULT, with the relations held that it names.
func (env *Env) storedDefault(ctx context.Context, e ast.Expr, t *types.Type) (string, error) {
	stored, err := env.storedExpr(ctx, nil, e, t)
	if err != nil {
		return "", err
	}
	named, err := deparse.Relations(ctx, env.Planner, e)
	if err != nil {
		return "", err
	}
	return stored, env.hold(ctx, named)
}

// hold keeps relations from being dropped or renamed by others, on which something rests that is
// about to be stored.
func (env *Env) hold(ctx context.Context, ids []table.ID) error {
	for _, id := range ids {
		if env.Lock != nil {
			if err := env.Lock(ctx, id, rowlock.AccessShare); err != nil {
				return err
			}
		}
	}
	env.View.Require(ids...)
	return nil
}

// putMended stores relations whose texts have been printed anew.
func (env *Env) putMended(ctx context.Context, list []mended) error {
	for _, m := range list {
		if err := env.View.UpdateRelation(ctx, m.old, m.next); err != nil {
			return err
		}
	}
	return nil
}

// viewHolds reports whether a view's query can still be bound, with the columns that the view has.
func (env *Env) viewHolds(ctx context.Context, v *table.Desc) (bool, error) {
	q, err := env.Planner.ParseQuery(v.View.Text)
	if err != nil {
		return false, err
	}
	path := v.View.SearchPath
	if path == nil {
		path = []string{}
	}
	notes, err := bind.Query(ctx, env.Planner, q, path)
	if err != nil {
		return false, onlySQL(err)
	}
	cols := notes.Results[q]
	if len(cols) != v.VisibleColumns() {
		return false, nil
	}
	for i := range cols {
		if cols[i].Type.OID != v.Columns[i].Type.OID || cols[i].Type.Mod != v.Columns[i].Type.Mod {
			return false, nil
		}
	}
	return true, nil
}
