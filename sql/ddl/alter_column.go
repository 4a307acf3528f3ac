package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

func (a *alteration) addColumn(ctx context.Context, act *ast.AlterAction) error {
	if err := a.notTyped("add column to"); err != nil {
		return err
	}
	if a.d.Column(act.Def.Name.Name) >= 0 {
		if act.IfNotExists {
			a.env.notice(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already "+
				"exists, skipping", act.Def.Name.Name, a.d.Name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists",
			act.Def.Name.Name, a.d.Name)
	}
	if a.d.VisibleColumns() >= maxColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	n, err := a.env.columnDef(ctx, a.d.Name, act.Def)
	if err != nil {
		return err
	}
	if err := a.refuseItself(ctx, n.col.Type); err != nil {
		return err
	}
	if err := a.env.setDefault(ctx, n); err != nil {
		return unplaced(err)
	}
	if err := a.env.domainValue(ctx, n); err != nil {
		return err
	}
	next := a.d.Clone()
	n.col.ID = next.NextColumnID
	next.NextColumnID++
	sc := catalog.Schema{ID: next.SchemaID, Database: next.DatabaseID, Name: next.Schema}
	if err := a.env.ownSequence(ctx, sc, next, n); err != nil {
		return err
	}
	if n.generated != nil {
		n.col.Generated = unbound
	}
	at := len(next.Columns) // before the hidden row ID, which stays last
	for at > 0 && next.Columns[at-1].Hidden {
		at--
	}
	next.Columns = append(next.Columns[:at:at],
		append([]table.Column{n.col}, next.Columns[at:]...)...)
	if err := a.fillColumn(ctx, next, at, n); err != nil {
		return err
	}
	for i := range n.constraints {
		if err := a.addTableConstraint(ctx, &n.constraints[i]); err != nil {
			return err
		}
	}
	return nil
}

// fillColumn stores the descriptor with the new column at ordinal o, and gives rows that are there
// its value: once for all where it is the same for each, otherwise by rewriting them.
func (a *alteration) fillColumn(ctx context.Context, next *table.Desc, o int, n *newColumn) error {
	each, err := a.newValues(ctx, next, o, n)
	if err != nil {
		return err
	}
	if each != nil || next.Columns[o].Missing != nil {
		if err := a.unstoredRows(ctx); err != nil {
			return err
		}
	}
	if each == nil {
		if next.Columns[o].NotNull && next.Columns[o].Missing == nil {
			if err := a.refuseNull(ctx, next.Columns[o].Name); err != nil {
				return err
			}
		}
		return a.reshape(ctx, next, func() error { return a.update(ctx, next) })
	}
	return a.rewrite(ctx, next, func(old []types.Datum) ([]types.Datum, error) {
		row := make([]types.Datum, 0, len(old)+1)
		row = append(append(append(row, old[:o]...), types.Null), old[o:]...)
		row[o], err = each(row)
		if err == nil && row[o].Null && next.Columns[o].NotNull {
			err = a.containsNull(next.Columns[o].Name)
		}
		return row, err
	})
}

// newValues returns how to compute the new column's value row by row; nil when all rows have
// Missing, which it sets.
func (a *alteration) newValues(ctx context.Context, next *table.Desc, o int,
	n *newColumn) (func([]types.Datum) (types.Datum, error), error) {
	c := &next.Columns[o]
	switch {
	case n.generated != nil:
		x, err := a.env.bindGenerated(ctx, next, o, n.generated.Expr)
		if err != nil {
			return nil, unplaced(err)
		}
		if c.Generated, err = a.env.storedExpr(ctx, next, n.generated.Expr, c.Type); err != nil {
			return nil, err
		}
		return a.env.program(x)
	case c.SequenceID != 0:
		seq, err := a.env.View.RelationByID(ctx, c.SequenceID)
		if err != nil {
			return nil, err
		}
		return func([]types.Datum) (types.Datum, error) {
			v, err := a.env.Catalog.NextVal(ctx, seq)
			return types.NewInt(v), err
		}, nil
	case n.bound == nil:
		return nil, nil
	}
	p, err := a.env.program(n.bound)
	if err != nil || expr.VolatilityOf(n.bound) == expr.Volatile || c.Type.Restricts() {
		return p, err // a table without rows has no value that a domain could refuse
	}
	v, err := p(nil)
	if err == nil {
		c.Missing, err = codec.EncodeValue(c.Type, v)
	}
	return nil, err
}

func (a *alteration) containsNull(col string) error {
	e := sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of relation \"%s\" contains null "+
		"values", col, a.d.Name)
	e.Schema, e.Table, e.Column = a.d.Schema, a.d.Name, col
	return e
}

// refuseNull fails when there are rows, which would have NULL in a new column.
func (a *alteration) refuseNull(ctx context.Context, col string) error {
	a.env.Tx.Validate(a.d.IndexSpan(table.RowIndexID))
	return catalog.Rows(ctx, a.env.Tx, a.d,
		func([]types.Datum) error { return a.containsNull(col) })
}

func (a *alteration) dropColumn(ctx context.Context, act *ast.AlterAction) error {
	if err := a.notTyped("drop column from"); err != nil {
		return err
	}
	o, err := columnFor(a.d, act.Column, "drop")
	if err != nil {
		if act.IfExists {
			a.env.notice("00000", "column \"%s\" of relation \"%s\" does not exist, skipping",
				act.Column.Name, a.d.Name)
			return nil
		}
		return err
	}
	col := a.d.Columns[o]
	gone, err := a.generatedFrom(ctx, o)
	if err != nil {
		return err
	}
	views, err := a.viewsOf(ctx, col.Name)
	if err != nil {
		return err
	}
	policies, err := a.policiesOf(ctx, col.Name)
	if err != nil {
		return err
	}
	fields, err := a.fieldsOf(ctx, col.Name)
	if err != nil {
		return err
	}
	rests := columnUses{gone, views, policies, fields}
	if err := a.cascade(ctx, act, col.Name, rests); err != nil {
		return err
	}
	if err := a.dropPolicies(ctx, policies); err != nil {
		return err
	}
	for _, name := range gone {
		if err := a.removeColumn(ctx, name); err != nil {
			return err
		}
	}
	return a.removeColumn(ctx, col.Name)
}

// columnUses is what rests on a column: generated columns, views, policies, and what names it as a
// field of the table's row type.
type columnUses struct {
	generated []string
	views     []*table.Desc
	policies  []tablePolicy
	fields    []storedPart
}

// cascade drops what rests on the column, or refuses without CASCADE.
func (a *alteration) cascade(ctx context.Context, act *ast.AlterAction, col string,
	uses columnUses) error {
	on := "column " + sqlname.Quote(col) + " of " + a.env.describe(a.d)
	dr := newDropper(a.env)
	for _, g := range uses.generated {
		dr.depends("column "+sqlname.Quote(g)+" of "+a.env.describe(a.d), on)
	}
	id := a.d.Columns[a.d.Column(col)].ID
	err := a.env.eachReference(ctx, a.d, func(child *table.Desc, fk *table.ForeignKey) {
		// it goes with the column anyway
		own := child.ID == a.d.ID && slices.Contains(fk.Columns, id)
		if slices.Contains(fk.RefColumns, id) && !own {
			dr.foreignKey(child, fk, on)
		}
	})
	if err != nil {
		return err
	}
	for _, v := range uses.views {
		dr.depends(a.env.describe(v), on)
		dr.going[v.ID] = true
		dr.targets = append(dr.targets, v)
	}
	for _, p := range uses.policies {
		dr.policy(p, on)
	}
	fields := slices.DeleteFunc(uses.fields, func(p storedPart) bool { // goes with the column
		return p.relation != nil && p.relation.ID == a.d.ID && p.part.part == "default" &&
			p.part.column == id
	})
	if err := dr.partsWithout(ctx, fields, on); err != nil {
		return err
	}
	dr.observersOf(a.d, append([]string{col}, uses.generated...))
	if id := a.d.Columns[a.d.Column(col)].SequenceID; id != 0 {
		seq, err := a.env.View.RelationByID(ctx, id)
		if err != nil {
			return err
		}
		dr.going[a.d.ID] = true // its own default goes with the column
		if seq != nil {
			if err := dr.followConstants(ctx, seq); err != nil {
				return err
			}
		}
	}
	dr.what = []string{on}
	goes := func(fk table.ForeignKey) bool { return slices.Contains(fk.Columns, id) }
	if err := a.env.lockReferenced(ctx, slices.DeleteFunc(slices.Clone(a.d.ForeignKeys),
		func(fk table.ForeignKey) bool { return !goes(fk) })); err != nil {
		return err
	}
	if err := dr.run(ctx, act.Cascade); err != nil {
		return err
	}
	err = a.env.removeForeignKeys(ctx, a.d.ID, func(fk *table.ForeignKey) bool { return goes(*fk) })
	if err != nil {
		return err
	}
	return a.reload(ctx)
}

// generatedFrom lists the generated columns that read column o.
func (a *alteration) generatedFrom(ctx context.Context, o int) ([]string, error) {
	var out []string
	for i := range a.d.Columns {
		if a.d.Columns[i].Generated == "" || i == o {
			continue
		}
		reads, err := a.textReads(ctx, a.d.Columns[i].Generated, o)
		if err != nil {
			return nil, err
		}
		if reads {
			out = append(out, a.d.Columns[i].Name)
		}
	}
	return out, nil
}

// textReads reports whether an expression over the row reads column o.
func (a *alteration) textReads(ctx context.Context, text string, o int) (bool, error) {
	e, err := a.env.parse(text)
	if err != nil {
		return false, err
	}
	x, err := a.env.bindRow(ctx, a.d, e, nil)
	if err != nil {
		return false, err
	}
	if slices.Contains(columnsOf(x), o) {
		return true, nil
	}
	return false, nil
}

// viewsOf lists the views that cannot do without a column: those whose query fails without it.
func (a *alteration) viewsOf(ctx context.Context, col string) ([]*table.Desc, error) {
	views, err := a.env.View.Dependents(ctx, a.d.ID)
	if err != nil || len(views) == 0 {
		return nil, err
	}
	sp := a.env.Tx.Savepoint()
	defer a.env.Tx.RollbackTo(sp)
	without := a.d.Clone()
	without.Columns[without.Column(col)].Name = "minidb.dropped"
	if err := a.env.View.UpdateRelation(ctx, a.d, without); err != nil {
		return nil, err
	}
	var out []*table.Desc
	for _, v := range views {
		same, err := a.env.viewHolds(ctx, v)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, v)
		}
	}
	return out, nil
}

// removeColumn takes a column out of the descriptor, with the keys, indexes and CHECK constraints
// that name it.
func (a *alteration) removeColumn(ctx context.Context, name string) error {
	o := a.d.Column(name)
	if err := a.removeIndexesOf(ctx, o); err != nil {
		return err
	}
	o = a.d.Column(name) // a new row ID may have moved it
	next := a.d.Clone()
	next.Checks = next.Checks[:0]
	for _, c := range a.d.Checks {
		reads, err := a.textReads(ctx, c.Text, o)
		if err != nil {
			return err
		}
		if !reads {
			next.Checks = append(next.Checks, c)
		}
	}
	seq := next.Columns[o].SequenceID
	next.Columns = append(next.Columns[:o], next.Columns[o+1:]...)
	if err := a.withoutField(ctx, next); err != nil {
		return err
	}
	if seq == 0 {
		return nil
	}
	d, err := a.env.View.RelationByID(ctx, seq)
	if err != nil || d == nil {
		return err
	}
	return a.env.View.DropRelation(ctx, d)
}

// removeIndexesOf drops the indexes that have column o, in their key, beside it, or in an
// expression.
func (a *alteration) removeIndexesOf(ctx context.Context, o int) error {
	id := a.d.Columns[o].ID
	computed, err := a.computedFrom(ctx, o)
	if err != nil {
		return err
	}
	for i := len(a.d.Indexes) - 1; i >= 0; i-- {
		ix := &a.d.Indexes[i]
		has := slices.Contains(computed, ix.ID)
		for _, k := range ix.Columns {
			has = has || k.ColumnID == id
		}
		for _, c := range ix.Include {
			has = has || c == id
		}
		if !has {
			continue
		}
		if err := a.removeKey(ctx, ix.ID); err != nil {
			return err
		}
	}
	return nil
}

// removeKey drops an index. Without its primary key as row key the table gets a hidden row ID.
func (a *alteration) removeKey(ctx context.Context, id table.IndexID) error {
	if id == table.RowIndexID {
		next := a.d.Clone()
		for i := range next.Indexes {
			if next.Indexes[i].ID == id {
				next.Indexes = append(next.Indexes[:i], next.Indexes[i+1:]...)
				break
			}
		}
		addRowID(next)
		return a.rewrite(ctx, next, func(old []types.Datum) ([]types.Datum, error) {
			return append(append(make([]types.Datum, 0, len(old)+1), old...), types.Null), nil
		})
	}
	if err := a.env.removeIndex(ctx, a.d, id); err != nil {
		return err
	}
	d, err := a.env.View.RelationByID(ctx, a.d.ID)
	a.d = d
	return err
}

func (a *alteration) alterColumn(ctx context.Context, act *ast.AlterAction) error {
	o, err := column(a.d, act.Column)
	if err != nil {
		return err
	}
	switch act.Kind {
	case "set default":
		return a.setDefault(ctx, o, act)
	case "drop default":
		return a.dropDefault(ctx, o)
	case "set not null":
		return a.setNotNull(ctx, o)
	case "drop not null":
		return a.dropNotNull(ctx, o)
	case "drop expression":
		return a.dropExpression(ctx, o, act.IfExists)
	}
	return a.identity(ctx, o, act)
}

func (a *alteration) setDefault(ctx context.Context, o int, act *ast.AlterAction) error {
	c := &a.d.Columns[o]
	if c.Identity != "" {
		return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity "+
			"column", c.Name, a.d.Name)
	}
	if c.Generated != "" {
		return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is a generated "+
			"column", c.Name, a.d.Name)
	}
	next := a.d.Clone()
	next.Columns[o].DefaultText = ""
	if !isNull(act.Expr) || c.Type.IsDomain() {
		if _, err := a.env.bindDefault(ctx, c.Name, c.Type, act.Expr); err != nil {
			return unplaced(err)
		}
		text, err := a.env.storedDefault(ctx, act.Expr, c.Type)
		if err != nil {
			return err
		}
		next.Columns[o].DefaultText = text
	}
	return a.update(ctx, next)
}

func (a *alteration) dropDefault(ctx context.Context, o int) error {
	c := &a.d.Columns[o]
	if c.Identity != "" {
		return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity "+
			"column", c.Name, a.d.Name).
			WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.")
	}
	if c.Generated != "" {
		return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is a generated "+
			"column", c.Name, a.d.Name).
			WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.")
	}
	next := a.d.Clone()
	next.Columns[o].DefaultText = ""
	return a.update(ctx, next)
}

// dropExpression makes an ordinary column of a generated one, which keeps its values.
func (a *alteration) dropExpression(ctx context.Context, o int, ifExists bool) error {
	c := &a.d.Columns[o]
	if c.Generated == "" {
		const is = "column \"%s\" of relation \"%s\" is not a stored generated column"
		if !ifExists {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, is, c.Name, a.d.Name)
		}
		a.env.notice("00000", is+", skipping", c.Name, a.d.Name)
		return nil
	}
	next := a.d.Clone()
	next.Columns[o].Generated = ""
	return a.update(ctx, next)
}

func (a *alteration) setNotNull(ctx context.Context, o int) error {
	if a.d.Columns[o].NotNull {
		return nil
	}
	a.env.Tx.Validate(a.d.IndexSpan(table.RowIndexID))
	err := catalog.Rows(ctx, a.env.Tx, a.d, func(row []types.Datum) error {
		if row[o].Null {
			return a.containsNull(a.d.Columns[o].Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	next := a.d.Clone()
	next.Columns[o].NotNull = true
	return a.update(ctx, next)
}

func (a *alteration) dropNotNull(ctx context.Context, o int) error {
	c := &a.d.Columns[o]
	if c.Identity != "" {
		return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity "+
			"column", c.Name, a.d.Name)
	}
	if pk := a.d.PrimaryKey(); pk != nil {
		for _, k := range pk.Columns {
			if k.ColumnID == c.ID {
				return sqlerr.New(sqlerr.InvalidTableDefinition,
					"column \"%s\" is in a primary key", c.Name)
			}
		}
	}
	next := a.d.Clone()
	next.Columns[o].NotNull = false
	return a.update(ctx, next)
}
