package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// maxColumns is PostgreSQL's bound on the columns of a table.
const maxColumns = 1600

func refuseTableKinds(s *ast.CreateTable) error {
	switch {
	case len(s.Inherits) > 0:
		return sqlerr.Unsupported(int(s.Inherits[0].Pos), "INHERITS")
	case s.PartitionBy != "":
		return sqlerr.Unsupported(int(s.Pos), "PARTITION BY")
	}
	return nil
}

func (env *Env) createTable(ctx context.Context, s *ast.CreateTable) (tag string, err error) {
	const tagTable = "CREATE TABLE"
	if err := refuseTableKinds(s); err != nil {
		return "", err
	}
	if s.Global && env.Notice != nil {
		env.Notice("WARNING", "01000", "GLOBAL is deprecated in temporary table creation", "")
	}
	sc, err := env.schemaFor(ctx, s.Name, s.Temp)
	var e *sqlerr.Error
	if s.As == nil && errors.As(err, &e) && e.Code == sqlerr.InsufficientPrivilege {
		err = e.At(int(s.Name.Pos))
	}
	if err != nil {
		return "", err
	}
	if err := env.checkQuery(ctx, s, sc); err != nil {
		return "", err
	}
	if s.IfNotExists || s.As != nil {
		there, err := env.present(ctx, sc, s.Name.Name, s.IfNotExists)
		switch {
		case err != nil:
			return "", err
		case there && s.As != nil:
			return "CREATE TABLE AS", nil
		case there:
			return tagTable, nil
		}
	}
	d := &table.Desc{DatabaseID: env.Database, SchemaID: sc.ID, Schema: sc.Name,
		Name: s.Name.Name,
		Kind: table.KindTable, NextColumnID: 1, NextIndexID: table.RowIndexID + 1}
	if err := env.View.NameRelation(ctx, d); err != nil {
		return "", err
	}
	if d.Owner, err = env.owner(ctx); err != nil {
		return "", err
	}
	d.Unlogged = s.Unlogged
	if d.Options, err = tableParameters(s.Options); err != nil {
		return "", err
	}
	if err := setOnCommit(d, s.OnCommit); err != nil {
		return "", err
	}
	if s.As != nil {
		return env.createTableAs(ctx, s, sc, d)
	}
	b := &builder{env: env, sc: sc, d: d}
	if err := b.build(ctx, s); err != nil {
		return "", err
	}
	if err := env.create(ctx, d); err != nil {
		return "", err
	}
	for _, id := range b.parents {
		if err := env.link(ctx, id, d.ID); err != nil {
			return "", err
		}
	}
	return tagTable, nil
}

// present reports whether a relation of the name is there already: an error without IF NOT EXISTS,
// a notice with it.
func (env *Env) present(ctx context.Context, sc catalog.Schema, name string,
	ifNotExists bool) (bool, error) {
	taken, err := env.View.Taken(ctx, env.Database, sc.Name, name)
	switch {
	case err != nil || !taken:
		return false, err
	case !ifNotExists:
		return false, sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	env.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping", name)
	return true, nil
}

// Present reports whether CREATE … IF NOT EXISTS would make nothing, since there is a relation of
// the name, and says so in a notice. Without IF NOT EXISTS such a relation is an error.
func Present(ctx context.Context, env *Env, name ast.Name, temp, ifNotExists bool) (bool,
	error) {
	sc, err := env.schemaFor(ctx, name, temp)
	if err != nil {
		return false, err
	}
	return env.present(ctx, sc, name.Name, ifNotExists)
}

// builder makes a new table's descriptor.
type builder struct {
	env         *Env
	sc          catalog.Schema
	d           *table.Desc
	columns     []*newColumn
	constraints []ast.TableConstraint
	copied      []copiedIndex // from LIKE … INCLUDING INDEXES
	copiedKeys  []ast.TableConstraint
	parents     []table.ID // to which foreign keys refer
}

func (b *builder) build(ctx context.Context, s *ast.CreateTable) error {
	if s.Of != nil {
		if err := b.typed(ctx, s); err != nil {
			return err
		}
		return b.finish(ctx, s)
	}
	likes := s.Likes
	for i := range s.Columns {
		// LIKE puts its columns where it was written.
		for len(likes) > 0 && likes[0].Source.Pos < s.Columns[i].Name.Pos {
			if err := b.like(ctx, &likes[0]); err != nil {
				return err
			}
			likes = likes[1:]
		}
		n, err := b.env.columnDef(ctx, s.Name.Name, &s.Columns[i])
		if err != nil {
			return err
		}
		b.columns = append(b.columns, n)
	}
	for i := range likes {
		if err := b.like(ctx, &likes[i]); err != nil {
			return err
		}
	}
	return b.finish(ctx, s)
}

// finish makes all but the list of the columns.
func (b *builder) finish(ctx context.Context, s *ast.CreateTable) error {
	for _, n := range b.columns {
		b.constraints = append(b.constraints, n.constraints...)
	}
	b.constraints = append(b.constraints, s.Constraints...)
	for i := range b.constraints {
		b.constraints[i].NotValid = false // a new table has no rows that could break them
	}
	if err := b.addColumns(ctx); err != nil {
		return err
	}
	// What is wrong with the columns is an error that comes before the one of a name that is taken.
	if _, err := b.env.present(ctx, b.sc, b.d.Name, false); err != nil {
		return err
	}
	if err := b.keys(ctx); err != nil {
		return err
	}
	for _, n := range b.columns {
		if err := b.env.setDefault(ctx, n); err != nil {
			return err
		}
		if err := b.env.ownSequence(ctx, b.sc, b.d, n); err != nil {
			return err
		}
		b.d.Columns[b.d.ColumnByID(n.col.ID)] = n.col
	}
	return b.expressions(ctx)
}

// addColumns gives the columns their IDs and puts them into the descriptor.
func (b *builder) addColumns(ctx context.Context) error {
	if len(b.columns) > maxColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	for _, n := range b.columns {
		if b.d.Column(n.col.Name) >= 0 {
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once",
				n.col.Name)
		}
		n.col.ID = b.d.NextColumnID
		b.d.NextColumnID++
		b.d.Columns = append(b.d.Columns, n.col)
	}
	return nil
}

// keys makes the primary key or the hidden row ID, and the unique constraints.
func (b *builder) keys(ctx context.Context) error {
	var primary *ast.TableConstraint
	for i := range b.constraints {
		c := &b.constraints[i]
		if c.Kind != "primary key" {
			continue
		}
		if primary != nil {
			return multipleKeys(b.d.Name).At(int(c.Pos))
		}
		primary = c
	}
	if primary != nil {
		ix, err := b.env.constraintIndex(ctx, b.d, primary)
		if err != nil {
			return err
		}
		if ix.Deferrable {
			setDeferrablePrimary(b.d, ix)
		} else {
			setPrimary(b.d, ix)
		}
		for _, n := range b.columns { // these made them NOT NULL
			n.col.NotNull = b.d.Columns[b.d.ColumnByID(n.col.ID)].NotNull
		}
	} else {
		addRowID(b.d)
	}
	for i := range b.constraints {
		c := &b.constraints[i]
		index := b.env.constraintIndex
		switch c.Kind {
		case "unique":
		case "exclude":
			index = b.env.exclusionIndex
		default:
			continue
		}
		ix, err := index(ctx, b.d, c)
		if err != nil {
			return err
		}
		old := sameColumns(b.d, ix)
		if old == nil {
			b.addKey(ix)
		} else if c.Name != "" && !b.named(old) { // beside an equal key it adds its name at most
			old.Name = c.Name
		}
	}
	for i := range b.copiedKeys { // each is copied, also beside an equal key
		ix, err := b.env.constraintIndex(ctx, b.d, &b.copiedKeys[i])
		if err != nil {
			return err
		}
		b.addKey(ix)
	}
	return b.copyIndexes(ctx)
}

// named reports whether the statement gives a key its name.
func (b *builder) named(ix *table.Index) bool {
	return slices.ContainsFunc(b.constraints,
		func(c ast.TableConstraint) bool { return c.Name == ix.Name })
}

func (b *builder) addKey(ix *table.Index) {
	ix.ID = b.d.NextIndexID
	b.d.NextIndexID++
	b.d.Indexes = append(b.d.Indexes, *ix)
}

func multipleKeys(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidTableDefinition,
		"multiple primary keys for table \"%s\" are not allowed", name)
}

// addRowID makes a hidden column the row key.
func addRowID(d *table.Desc) {
	id := d.NextColumnID
	d.NextColumnID++
	d.Columns = append(d.Columns,
		table.Column{ID: id, Name: rowIDColumn, Type: types.TInt8, NotNull: true, Hidden: true})
	d.RowKey = []table.IndexColumn{{ColumnID: id}}
}

// setPrimary makes ix the primary key and the row key of a table that has no rows under another.
func setPrimary(d *table.Desc, ix *table.Index) {
	ix.ID = table.RowIndexID
	setKeyNotNull(d, ix)
	d.RowKey = ix.Columns
	d.Indexes = append([]table.Index{*ix}, d.Indexes...)
}

// setDeferrablePrimary makes ix the primary key of a new table. Several rows may have one key of a
// deferrable index until it is checked, so it cannot be the row key.
func setDeferrablePrimary(d *table.Desc, ix *table.Index) {
	setKeyNotNull(d, ix)
	addRowID(d)
	ix.ID = d.NextIndexID
	d.NextIndexID++
	d.Indexes = append([]table.Index{*ix}, d.Indexes...)
}

// setKeyNotNull makes the columns of a primary key NOT NULL.
func setKeyNotNull(d *table.Desc, ix *table.Index) {
	for _, k := range ix.Columns {
		d.Columns[d.ColumnByID(k.ColumnID)].NotNull = true
	}
}

// sameColumns finds a unique or EXCLUDE constraint over the same columns in the same order.
func sameColumns(d *table.Desc, ix *table.Index) *table.Index {
	for i := range d.Indexes {
		o := &d.Indexes[i]
		if o.Unique != ix.Unique || !o.Constraint || o.Method != ix.Method ||
			o.WhereText != ix.WhereText || len(o.Columns) != len(ix.Columns) ||
			len(o.Include)+len(ix.Include) > 0 ||
			o.NullsNotDistinct != ix.NullsNotDistinct && !o.Primary ||
			o.Deferrable != ix.Deferrable || o.InitiallyDeferred != ix.InitiallyDeferred {
			continue
		}
		same := true
		for j := range o.Columns {
			same = same && o.Columns[j] == ix.Columns[j]
		}
		if same {
			return o
		}
	}
	return nil
}

// unbound marks a column as generated until its expression is bound, which needs all columns.
const unbound = "?"

// expressions binds what needs all columns: generated columns and CHECK constraints.
func (b *builder) expressions(ctx context.Context) error {
	for _, n := range b.columns {
		if n.generated == nil {
			continue
		}
		o := b.d.ColumnByID(n.col.ID)
		b.d.Columns[o].Generated = unbound
	}
	for _, n := range b.columns {
		if n.generated == nil {
			continue
		}
		o := b.d.ColumnByID(n.col.ID)
		if _, err := b.env.bindGenerated(ctx, b.d, o, n.generated.Expr); err != nil {
			return err
		}
		text, err := b.env.storedExpr(ctx, b.d, n.generated.Expr, n.col.Type)
		if err != nil {
			return err
		}
		b.d.Columns[o].Generated = text
	}
	for i := range b.constraints {
		c := &b.constraints[i]
		switch c.Kind {
		case "primary key", "unique", "exclude":
		case "check":
			if _, err := b.env.addCheck(ctx, b.d, c); err != nil {
				return err
			}
		case "foreign key":
			parent, err := b.env.addForeignKey(ctx, b.d, c)
			if err != nil {
				return err
			}
			if parent != b.d {
				b.parents = append(b.parents, parent.ID)
			}
		default:
			return sqlerr.Unsupported(int(c.Pos), strings.ToUpper(c.Kind)+" constraint")
		}
	}
	return nil
}

// createTableAs makes a table with the columns of a query, and fills it.
func (env *Env) createTableAs(ctx context.Context, s *ast.CreateTable, sc catalog.Schema,
	d *table.Desc) (string, error) {
	cols, _, err := env.queryColumns(ctx, s.As)
	if err != nil {
		return "", err
	}
	if len(s.AsColumns) > len(cols) {
		return "", sqlerr.New(sqlerr.SyntaxError, "too many column names were specified")
	}
	for i, id := range s.AsColumns {
		cols[i].Name = id.Name
	}
	if err := env.collate(ctx, s.As, cols); err != nil {
		return "", err
	}
	for _, c := range cols {
		if err := refuseSystemName(c.Name); err != nil {
			return "", err
		}
		if d.Column(c.Name) >= 0 {
			return "", sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once",
				c.Name)
		}
		c.ID = d.NextColumnID
		d.NextColumnID++
		d.Columns = append(d.Columns, c)
	}
	addRowID(d)
	if err := env.create(ctx, d); err != nil {
		return "", err
	}
	if s.WithNoData {
		return "CREATE TABLE AS", nil
	}
	n, err := env.RunQuery(ctx, s.As, d)
	return fmt.Sprintf("SELECT %d", n), err
}

// collate gives the columns of a new table the collations of those of its query.
func (env *Env) collate(ctx context.Context, q *ast.Select, cols []table.Column) error {
	collatable := func(c table.Column) bool {
		return c.Type.Collatable() || c.Type.Elem != nil && c.Type.Elem.Collatable()
	}
	if !slices.ContainsFunc(cols, collatable) {
		return nil
	}
	notes, err := bind.Query(ctx, env.Planner, q, nil)
	if err != nil {
		return err
	}
	for i, res := range notes.Results[q] {
		if res.Undetermined {
			const format = "no collation was derived for column \"%s\" with collatable type %s"
			return undetermined(format, cols[i].Name, cols[i].Type.SQLName())
		}
		cols[i].Collation = res.Collation
	}
	return nil
}

// checkQuery returns what is wrong with the query of a CREATE TABLE AS whose table is there
// already: such errors come before the one that says so.
func (env *Env) checkQuery(ctx context.Context, s *ast.CreateTable, sc catalog.Schema) error {
	if s.As == nil {
		return nil
	}
	taken, err := env.View.Taken(ctx, env.Database, sc.Name, s.Name.Name)
	if err != nil || !taken {
		return err
	}
	_, _, err = env.queryColumns(ctx, s.As)
	return err
}

// queryColumns plans a query and returns its columns, and the relations that it reads.
func (env *Env) queryColumns(ctx context.Context, q *ast.Select) (cols []table.Column,
	reads []table.ID, err error) {
	plan, err := planner.Plan(ctx, env.Planner, q, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(plan.ParamTypes) > 0 {
		return nil, nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	for _, c := range plan.Root.Columns() {
		t := c.Type
		if t.OID == types.OIDUnknown {
			t = types.TText
		}
		if err := storable(c.Name, t); err != nil {
			return nil, nil, err
		}
		cols = append(cols, table.Column{Name: c.Name, Type: t})
	}
	for _, t := range plan.Tables {
		reads = append(reads, t.ID)
	}
	return cols, reads, nil
}
