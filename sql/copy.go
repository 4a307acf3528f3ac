package sql

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/copyfmt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// openCopy is COPY, between a table or query and the client or a file of the server.
func (s utility) openCopy(ctx context.Context, ps *Prepared, st *ast.Copy, params []types.Datum,
	results ResultWriter) (source, error) {
	if st.Program {
		return nil, sqlerr.Unsupported(int(st.Pos), "COPY with PROGRAM").
			WithHint("Give the program a file, or use psql's \\copy, which runs it at the client.")
	}
	o, err := copyfmt.ParseOptions(st.Options, st.From)
	if err != nil {
		return nil, err
	}
	if st.From {
		if err := s.writable("COPY FROM"); err != nil {
			return nil, err
		}
	}
	out, isClient := results.(CopyWriter)
	switch {
	case st.File != "":
		if err := s.mayFile(ctx, st.From); err != nil {
			return nil, err
		}
		file := &copyFile{ResultWriter: results, path: st.File}
		defer file.close()
		out = file
	case !isClient:
		return nil, sqlerr.Unsupported(int(st.Pos), "COPY outside of PostgreSQL's protocol")
	}
	var n int64
	if st.From {
		n, err = s.copyFrom(ctx, st, o, out)
	} else {
		n, err = s.copyTo(ctx, ps, st, o, params, out)
	}
	return tagSource("COPY " + strconv.FormatInt(n, 10)), err
}

// notCopied is the error for COPY of a relation that is no table.
func notCopied(d *table.Desc, to bool) error {
	kind := map[table.Kind]string{table.KindView: "view", table.KindSequence: "sequence",
		table.KindMaterializedView: "materialized view"}[d.Kind]
	if to {
		err := sqlerr.New(sqlerr.WrongObjectType, "cannot copy to %s \"%s\"", kind, d.Name)
		if d.Kind == table.KindView {
			err = err.WithHint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
		}
		return err
	}
	err := sqlerr.New(sqlerr.WrongObjectType, "cannot copy from %s \"%s\"", kind, d.Name)
	if d.View != nil {
		return err.WithHint("Try the COPY (SELECT ...) TO variant.")
	}
	return err
}

// missingSchema is 3F000 for the written name of a schema that does not exist.
func (s utility) missingSchema(ctx context.Context, name string) error {
	if name == "" || strings.HasPrefix(name, "pg_") || name == "information_schema" {
		return nil
	}
	_, ok, err := s.tx.view.Schema(ctx, s.databaseID, name)
	if err == nil && !ok {
		err = sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
	}
	return err
}

// copyTable finds the table of a COPY and the columns that take part.
func (s utility) copyTable(ctx context.Context, st *ast.Copy) (*table.Desc, []string, error) {
	d, err := resolver{&s.planRunner}.named(ctx, *st.Table)
	if err != nil {
		return nil, nil, err
	}
	if d == nil {
		if err := s.missingSchema(ctx, st.Table.Schema); err != nil {
			return nil, nil, err
		}
		return nil, nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist",
			plainName(*st.Table))
	}
	if d.Kind != table.KindTable && d.Kind != table.KindVirtual {
		return nil, nil, notCopied(d, st.From)
	}
	columns, err := copyColumns(d, st.Columns)
	if err != nil {
		return nil, nil, err
	}
	need := opt.Need{Want: acl.Select}
	note := (*opt.Need).Select
	if st.From {
		need.Want, note = acl.Insert, (*opt.Need).Insert
	}
	for _, name := range columns {
		note(&need, d.Columns[d.Column(name)].ID)
	}
	return d, columns, s.mayOn(ctx, d, need)
}

// mayFile returns 42501 if the current role may not read or write files of the server.
func (s utility) mayFile(ctx context.Context, reads bool) error {
	role, what, name := acl.WriteServerFiles, "to", "pg_write_server_files"
	if reads {
		role, what, name = acl.ReadServerFiles, "from", "pg_read_server_files"
	}
	a, err := s.authority(ctx)
	if err != nil || a.Has(role) {
		return err
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege,
		"must be superuser or have privileges of the %s role to COPY %s a file", name, what).
		WithHint("Anyone can COPY to stdout or from stdin. " +
			"psql's \\copy command also works for anyone.")
}

// copyColumns returns the columns named, or all that are stored if none is.
func copyColumns(d *table.Desc, names []ast.Ident) (columns []string, err error) {
	if len(names) == 0 {
		for i := range d.Columns {
			if c := &d.Columns[i]; !c.Hidden && c.Generated == "" {
				columns = append(columns, c.Name)
			}
		}
		return columns, nil
	}
	for _, id := range names {
		i := d.Column(id.Name)
		if i >= 0 && d.Columns[i].Generated != "" {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference,
				"column \"%s\" is a generated column", id.Name).
				WithDetail("Generated columns cannot be used in COPY.")
		}
		if i < 0 || d.Columns[i].Hidden {
			return nil, sqlerr.New(sqlerr.UndefinedColumn,
				"column \"%s\" of relation \"%s\" does not exist", id.Name, d.Name)
		}
		if slices.Contains(columns, id.Name) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn,
				"column \"%s\" specified more than once", id.Name)
		}
		columns = append(columns, id.Name)
	}
	return columns, nil
}

// rowsPerInsert is how many rows COPY FROM inserts together: as many as in PostgreSQL, for where a
// later line is wrong, it decides which duplicate keys are found before. A batch has room for them,
// so that all their values are computed before the first is written.
const rowsPerInsert = 1000

// bytesPerInsert is the size of gathered rows from which on they are inserted, though they are
// fewer.
const bytesPerInsert = 1 << 20

// copyIn is a COPY FROM under way: an INSERT that is run with many rows of parameters.
type copyIn struct {
	s       *planRunner
	table   ast.Name
	columns []string
	binary  bool
	inserts *physical.Plan // one row
	types   []*types.Type
	params  []types.Datum
	rows    int         // in params
	bytes   int64       // of params, counted by the session's account
	lines   copiedLines // of these rows
	load    *table.Load // nil: they are written one by one
	loaded  loadedLines
	format  *types.Format
	texts   []byte // of a row's fields
}

func (s utility) copyFrom(ctx context.Context, st *ast.Copy, o copyfmt.Options,
	out CopyWriter) (int64, error) {
	if st.Where != nil {
		return 0, sqlerr.Unsupported(int(st.Pos), "COPY FROM with WHERE")
	}
	d, columns, err := s.copyTable(ctx, st)
	if err == nil && !d.Temporary() {
		err = s.writable("COPY FROM")
	}
	if err != nil {
		return 0, err
	}
	if got, err := s.lockTable(ctx, d.ID, rowlock.RowExclusive, false); err != nil {
		return 0, err
	} else if got == rowlock.Waited {
		if again, err := s.recheckSchema(ctx); err != nil {
			return 0, err
		} else if again {
			return s.copyFrom(ctx, st, o, out)
		}
	}
	if d.Kind == table.KindVirtual {
		return 0, sqlerr.New(sqlerr.InsufficientPrivilege,
			"permission denied: \"%s\" is a system catalog", d.Name)
	}
	if r, err := s.rowSecurity(0)(ctx, d, 0); err != nil {
		return 0, err
	} else if r != nil && r.Bound {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported,
			"COPY FROM not supported with row-level security").
			WithHint("Use INSERT statements instead.")
	}
	c := &copyIn{s: &s.planRunner, table: ast.Name{Schema: d.Schema, Name: d.Name},
		columns: columns, binary: o.Format == copyfmt.Binary, format: s.Format()}
	if c.inserts, err = c.plan(ctx); err != nil {
		return 0, err
	}
	c.types = c.inserts.ParamTypes
	s.sideEffects = true // the client sends its data once
	src, err := out.CopyIn(len(columns), c.binary)
	if err != nil {
		return 0, err
	}
	watched, done := s.watchCopy(ctx, d.ID, src)
	defer done()
	defer c.release()
	r := copyfmt.NewReader(watched, o, columns)
	r.CountIn(s.memory)
	defer r.Close()
	release := s.references.Hold()
	if c.load, err = table.NewLoad(ctx, s.tx.tx, d); err != nil {
		return 0, err
	}
	defer c.endLoad()
	n, err := c.all(ctx, r)
	if err == nil {
		err = c.finish(ctx)
	}
	if err != nil {
		return n, err
	}
	release()
	return n, s.conceal(ctx, nil, s.references.Check(ctx))
}

// all inserts the rows of r and returns how many there were. Its errors name the line, and the
// column where there is one.
func (c *copyIn) all(ctx context.Context, r *copyfmt.Reader) (n int64, err error) {
	for {
		fields, err := r.Next()
		if errors.Is(err, io.EOF) {
			return n, c.flush(ctx)
		}
		// A value is checked before the fields that the row lacks after it.
		if v := c.values(fields); v != nil || err != nil {
			return n, c.lineError(ctx, r, v, err)
		}
		if err := c.gather(len(fields), r); err != nil {
			return n, c.lineError(ctx, r, nil, err)
		}
		if c.rows == rowsPerInsert || len(c.params) >= 1<<14 || c.bytes >= bytesPerInsert ||
			len(c.columns) == 0 {
			if err := c.flush(ctx); err != nil {
				return n, err
			}
		}
		n++
	}
}

// plan plans INSERT INTO t (columns) VALUES of a row of parameters.
func (c *copyIn) plan(ctx context.Context) (*physical.Plan, error) {
	if len(c.columns) == 0 {
		return planner.Plan(ctx, c.s.plannerEnv(ctx), &ast.Insert{Table: c.table}, nil)
	}
	// COPY may always give an identity column its values, also one that is GENERATED ALWAYS.
	ins := &ast.Insert{Table: c.table, Overriding: "system"}
	for _, name := range c.columns {
		ins.Columns = append(ins.Columns, ast.Target{Ident: ast.Ident{Name: name}})
	}
	row := make([]ast.Expr, len(c.columns))
	for i := range row {
		row[i] = &ast.Param{N: i + 1}
	}
	ins.Query = &ast.Select{Body: &ast.Values{Rows: [][]ast.Expr{row}}}
	return planner.Plan(ctx, c.s.plannerEnv(ctx), ins, nil)
}

// values adds the values of a row to the parameters. The texts of a row are parts of one string.
func (c *copyIn) values(fields [][]byte) *valueError {
	c.texts = c.texts[:0]
	if !c.binary {
		for _, f := range fields {
			c.texts = append(c.texts, f...)
		}
	}
	texts := string(c.texts)
	for i, f := range fields {
		var d types.Datum
		var err error
		switch {
		case f == nil:
			d, err = c.types[i].Null(c.format)
		case c.binary:
			d, err = types.ParseBinary(c.types[i], f, c.format)
		default:
			d, err = types.ParseText(c.types[i], texts[:len(f)], c.format)
			texts = texts[len(f):]
		}
		if err != nil {
			return &valueError{err: err, column: c.columns[i], value: f}
		}
		c.params = append(c.params, d)
	}
	return nil
}

// gather counts the row whose values are the last ones of the parameters.
func (c *copyIn) gather(width int, r *copyfmt.Reader) error {
	number, text := r.Line()
	c.lines.add(number, text)
	if c.load != nil {
		if err := c.s.memory.Grow(c.loaded.add(number)); err != nil {
			return err
		}
	}
	c.rows++
	n := types.RowSize(c.params[len(c.params)-width:])
	c.bytes += n
	return c.s.memory.Grow(n)
}

// flush inserts the rows that have gathered.
func (c *copyIn) flush(ctx context.Context) (err error) {
	defer c.release()
	if c.rows == 0 {
		return nil
	}
	before := c.s.progress.rows.Load()
	if err = c.insert(ctx, c.params, c.rows); err == nil {
		return nil
	}
	row := int(c.s.progress.rows.Load() - before)
	if row == 0 && c.rows > 1 && isDataError(err) {
		// Values are computed for all rows before the first is written, so nothing is written yet.
		// One by one, the row that failed is found.
		return c.oneByOne(ctx, err)
	}
	return c.rowError(ctx, row, err)
}

// oneByOne inserts the rows that have gathered, each by itself. cause is the error of inserting
// them together, of which nothing was written.
func (c *copyIn) oneByOne(ctx context.Context, cause error) error {
	width := len(c.columns)
	for i := range c.rows {
		err := c.insert(ctx, c.params[i*width:(i+1)*width], 1)
		if err == nil {
			continue
		}
		if i == 0 {
			err = cause
		}
		return c.rowError(ctx, i, err)
	}
	return cause
}

// release forgets the rows that have gathered.
func (c *copyIn) release() {
	c.params, c.rows, c.lines = c.params[:0], 0, c.lines.reset()
	c.s.memory.Shrink(c.bytes)
	c.bytes = 0
}

// insert inserts rows of parameters.
func (c *copyIn) insert(ctx context.Context, params []types.Datum, rows int) error {
	src, err := c.s.runPlan(ctx, c.inserts, &ast.Insert{}, params,
		runOptions{load: c.load, paramRows: rows})
	if err != nil {
		return err
	}
	defer src.close()
	_, err = src.next(ctx)
	return err
}

func (s utility) copyTo(ctx context.Context, ps *Prepared, st *ast.Copy, o copyfmt.Options,
	params []types.Datum, out CopyWriter) (int64, error) {
	query, relation := st.Query, table.ID(0)
	if query == nil {
		d, columns, err := s.copyTable(ctx, st)
		if err != nil {
			return 0, err
		}
		relation = d.ID
		core := &ast.SelectCore{From: []ast.TableExpr{&ast.TableRef{Name: ast.Name{Schema: d.Schema,
			Name: d.Name}}}}
		for _, name := range columns {
			core.Items = append(core.Items, ast.SelectItem{Expr: &ast.ColumnRef{Name: name}})
		}
		query = &ast.Select{Body: core}
		ps = &Prepared{Text: ps.Text, Stmt: ps.Stmt, offset: 1}
	}
	src, err := s.openPlan(ctx, ps, query, params, runOptions{})
	if err != nil {
		return 0, err
	}
	defer src.close()
	cols := src.columns()
	names := make([]string, len(cols))
	for i := range cols {
		names[i] = cols[i].Name
	}
	if err := out.CopyOut(len(cols), o.Format == copyfmt.Binary); err != nil {
		return 0, err
	}
	p := &copying{relation: relation}
	s.progress.copying.Store(p)
	defer s.progress.copying.Store(nil)
	return s.sendCopy(ctx, src, copyfmt.NewWriter(o, names), o.Format == copyfmt.Binary,
		&countedOut{CopyWriter: out, to: p})
}

// sendCopy writes the rows of a source in COPY's format.
func (s utility) sendCopy(ctx context.Context, src source, w *copyfmt.Writer, binary bool,
	out CopyWriter) (n int64, err error) {
	text := s.Format()
	if binary {
		text = nil
	}
	row := copiedRow{text: text}
	var line []byte
	if line = w.Begin(nil); len(line) > 0 && !binary {
		if err := out.CopyData(line); err != nil {
			return 0, err
		}
		line = line[:0]
	}
	for {
		b, err := src.next(ctx)
		if err != nil {
			return n, err
		}
		if b == nil {
			break
		}
		for i := range b.Rows() {
			line = w.Row(line, row.of(b, b.Row(i)))
			if err := out.CopyData(line); err != nil {
				return n, err
			}
			line = line[:0]
			n++
		}
	}
	if line = w.End(line); len(line) > 0 {
		if err := out.CopyData(line); err != nil {
			return n, err
		}
	}
	return n, out.CopyDone()
}

// copiedRow is the fields of one row after the other, in memory that all rows share.
type copiedRow struct {
	text   *types.Format // nil: binary
	values []byte        // of all fields
	ends   []int         // of the fields in values; -1: NULL
	fields [][]byte
}

// of returns the fields of row r of b, nil for NULL. They are valid until the next call.
func (c *copiedRow) of(b *types.Batch, r int) [][]byte {
	c.values, c.ends, c.fields = c.values[:0], c.ends[:0], c.fields[:0]
	for _, col := range b.Cols {
		switch {
		case col.HasNull && col.Nulls[r]:
			c.ends = append(c.ends, -1)
			continue
		case c.text == nil:
			c.values = types.AppendBinary(c.values, col.Type, col.Get(r))
		default:
			c.values = types.AppendText(c.values, col.Type, col.Get(r), c.text)
		}
		c.ends = append(c.ends, len(c.values))
	}
	from := 0
	for _, end := range c.ends {
		var field []byte
		if end >= 0 {
			field = c.values[from:end:end]
			if field == nil {
				field = []byte{}
			}
			from = end
		}
		c.fields = append(c.fields, field)
	}
	return c.fields
}
