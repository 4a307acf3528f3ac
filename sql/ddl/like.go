package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/rowlock"
)

// included reports whether LIKE copies a thing. Options count in the order EXCLUDING after
// INCLUDING, and ALL means each.
func included(l *ast.TableLike, what string) bool {
	in := slices.Contains(l.Including, what) || slices.Contains(l.Including, "all")
	return in && !slices.Contains(l.Excluding, what) && !slices.Contains(l.Excluding, "all")
}

// like copies the columns of another relation, and what INCLUDING names beside them.
func (b *builder) like(ctx context.Context, l *ast.TableLike) error {
	src, ix, err := b.env.lookup(ctx, l.Source)
	if err != nil {
		return err
	}
	if src == nil {
		if d, err := b.env.composite(ctx, l.Source); err != nil || d != nil {
			return b.likeComposite(ctx, l, d, err)
		}
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			display(l.Source)).At(int(l.Source.Pos))
	}
	if ix != nil || src.Kind == table.KindSequence {
		kind := "indexes"
		if ix == nil {
			kind = "sequences"
		}
		return sqlerr.New(sqlerr.WrongObjectType, "relation \"%s\" is invalid in LIKE clause",
			l.Source.Name).At(int(l.Source.Pos)).
			WithDetail("This operation is not supported for %s.", kind)
	}
	if err := b.env.mustSelect(ctx, src); err != nil {
		return err
	}
	if err := b.env.lock(ctx, src, rowlock.AccessShare); err != nil {
		return err
	}
	for i := range src.Columns {
		if c := &src.Columns[i]; !c.Hidden {
			if err := b.likeColumn(l, c); err != nil {
				return err
			}
		}
	}
	if included(l, "constraints") {
		for _, c := range src.Checks {
			e, err := b.env.parse(c.Text)
			if err != nil {
				return err
			}
			b.constraints = append(b.constraints,
				ast.TableConstraint{Kind: "check", Name: c.Name, Expr: e,
					NoInherit: c.NoInherit})
		}
	}
	if included(l, "indexes") {
		b.likeIndexes(src)
	}
	if included(l, "comments") && b.d.Comment == "" {
		b.d.Comment = src.Comment
	}
	return nil
}

// likeComposite copies the attributes of a composite type.
func (b *builder) likeComposite(ctx context.Context, l *ast.TableLike, d *catalog.TypeDesc,
	err error) error {
	if err != nil {
		return err
	}
	t, err := b.env.View.Built(ctx, d)
	if err != nil {
		return err
	}
	if err := b.env.mayUseType(ctx, t); err != nil {
		return err
	}
	for i, a := range t.Def.Attributes {
		if err := b.likeColumn(l, &table.Column{Name: a.Name, Type: a.Type,
			Collation: a.Collation, Comment: d.Attributes[i].Comment}); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) likeColumn(l *ast.TableLike, c *table.Column) error {
	n := &newColumn{def: &ast.ColumnDef{Name: ast.Ident{Name: c.Name}},
		col: table.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull, Collation: c.Collation}}
	if included(l, "comments") {
		n.col.Comment = c.Comment
	}
	if included(l, "storage") {
		n.col.Storage = c.Storage
	}
	if included(l, "compression") {
		n.col.Compression = c.Compression
	}
	if included(l, "defaults") && c.DefaultText != "" {
		e, err := b.env.parse(c.DefaultText)
		if err != nil {
			return err
		}
		n.deflt = &ast.ColumnConstraint{Kind: "default", Expr: e}
	}
	if included(l, "identity") && c.Identity != "" {
		n.identity = &ast.ColumnConstraint{Kind: "identity", Always: c.Identity == "always"}
		n.col.Identity = c.Identity
	}
	if included(l, "generated") && c.Generated != "" {
		e, err := b.env.parse(c.Generated)
		if err != nil {
			return err
		}
		n.generated = &ast.ColumnConstraint{Kind: "generated", Expr: e}
	}
	b.columns = append(b.columns, n)
	return nil
}

// likeIndexes copies keys as constraints and other indexes as they are, all under new names.
func (b *builder) likeIndexes(src *table.Desc) {
	name := func(id table.ColumnID) ast.Ident {
		return ast.Ident{Name: src.Columns[src.ColumnByID(
			id)].Name}
	}
	for i := range src.Indexes {
		ix := &src.Indexes[i]
		if !ix.Constraint || ix.Exclusion() {
			b.copied = append(b.copied, copiedIndex{src: src, ix: ix})
			continue
		}
		c := ast.TableConstraint{Kind: "unique", NullsNotDistinct: ix.NullsNotDistinct,
			Deferrable: ix.Deferrable, InitiallyDeferred: ix.InitiallyDeferred,
			Options: optionsOf(ix.Options)}
		if ix.Primary {
			c.Kind = "primary key"
		}
		for _, k := range ix.Columns {
			c.Columns = append(c.Columns, name(k.ColumnID))
		}
		for _, id := range ix.Include {
			c.Include = append(c.Include, name(id))
		}
		if ix.Primary {
			b.constraints = append(b.constraints, c)
		} else {
			b.copiedKeys = append(b.copiedKeys, c)
		}
	}
}

// copiedIndex is an index of another table that this one gets too.
type copiedIndex struct {
	src *table.Desc
	ix  *table.Index
}

// copyExpr returns the ID of an expression that an index of another table has, among those of this
// one. Its columns have the same names here.
func (b *builder) copyExpr(e table.Expression) table.ColumnID {
	for i := range b.d.Exprs {
		if b.d.Exprs[i].Text == e.Text && b.d.Exprs[i].Name == e.Name {
			return b.d.Exprs[i].ID
		}
	}
	e.ID = b.d.NextColumnID
	b.d.NextColumnID++
	b.d.Exprs = append(b.d.Exprs, e)
	return e.ID
}

func (b *builder) copyIndexes(ctx context.Context) error {
	for _, c := range b.copied {
		ix := table.Index{ID: b.d.NextIndexID, Unique: c.ix.Unique,
			NullsNotDistinct: c.ix.NullsNotDistinct, Method: c.ix.Method,
			WhereText: c.ix.WhereText, Options: slices.Clone(c.ix.Options),
			Constraint: c.ix.Constraint, Deferrable: c.ix.Deferrable,
			InitiallyDeferred: c.ix.InitiallyDeferred}
		label := "idx"
		if c.ix.Exclusion() {
			label = "excl"
		}
		b.d.NextIndexID++
		var names []string
		here := func(id table.ColumnID) table.ColumnID {
			if i := slices.IndexFunc(c.src.Exprs,
				func(e table.Expression) bool { return e.ID == id }); i >= 0 {
				names = append(names, c.src.Exprs[i].Name)
				return b.copyExpr(c.src.Exprs[i])
			}
			n := c.src.Columns[c.src.ColumnByID(id)].Name
			names = append(names, n)
			return b.d.Columns[b.d.Column(n)].ID
		}
		for _, k := range c.ix.Columns {
			k.ColumnID = here(k.ColumnID)
			ix.Columns = append(ix.Columns, k)
		}
		for _, id := range c.ix.Include {
			ix.Include = append(ix.Include, here(id))
		}
		var err error
		if ix.OID, err = b.env.View.NewIDIn(ctx, b.d.SchemaID); err != nil {
			return err
		}
		pending := func(s string) bool { return s == b.d.Name || partNamed(b.d, s) }
		if ix.Name, err = freeName(b.d.Name, indexColumnNames(names), label,
			b.env.relationTaken(ctx, b.sc.Name, pending)); err != nil {
			return err
		}
		b.d.Indexes = append(b.d.Indexes, ix)
	}
	return nil
}
