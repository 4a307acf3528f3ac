package minidb

import (
	"context"
	stdsql "database/sql"
	"errors"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/types"
)

// Exec runs a statement with arguments for $1…, or without arguments any number of statements, as
// one transaction.
func (db *DB) Exec(ctx context.Context, text string, args ...any) (Result, error) {
	h, err := db.acquire(ctx)
	if err != nil {
		return Result{}, err
	}
	defer db.release(h)
	return h.exec(ctx, text, args)
}

func (h *handle) exec(ctx context.Context, text string, args []any) (Result, error) {
	if len(args) == 0 {
		return h.script(ctx, text)
	}
	c, _, err := h.run(ctx, text, args, false)
	if err != nil {
		return Result{}, err
	}
	return Result{tag: c.tag}, nil
}

// Query runs a statement and returns its rows, which the caller closes. ctx is also for reading
// them.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	h, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	r, err := h.query(ctx, text, args)
	if err != nil {
		db.release(h)
		return nil, err
	}
	if r.portal == nil {
		db.release(h)
		return r, nil
	}
	r.release = func() { db.release(h) }
	return r, nil
}

func (h *handle) query(ctx context.Context, text string, args []any) (*Rows, error) {
	c, p, err := h.run(ctx, text, args, true)
	if err != nil {
		return nil, err
	}
	return &Rows{ctx: ctx, h: h, portal: p, c: c, format: &c.format, at: -1}, nil
}

// QueryRow runs a statement of which the caller wants the first row. Errors wait for Scan.
func (db *DB) QueryRow(ctx context.Context, text string, args ...any) *Row {
	r, err := db.Query(ctx, text, args...)
	return &Row{rows: r, err: err}
}

// Row is the first row of a query.
type Row struct {
	rows *Rows
	err  error
}

// Scan copies the row into dest; database/sql's ErrNoRows says that there is none.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return stdsql.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}

// Rows are the rows of a query. Next moves to the first one and on.
type Rows struct {
	ctx     context.Context // of Query: rows are read within it
	h       *handle
	portal  *sql.Portal // nil: all rows are in c
	c       *collector
	format  *types.Format
	at      int
	err     error
	closed  bool
	release func()
}

// Next moves to the next row, and returns false at the end or after an error.
func (r *Rows) Next() bool {
	if r.closed || r.err != nil {
		return false
	}
	select {
	case <-r.h.db.gone:
		r.err = ErrClosed
		r.Close()
		return false
	default:
	}
	r.at++
	if r.at < len(r.c.rows) {
		return true
	}
	for r.portal != nil {
		p := r.portal
		r.c.rows, r.at = r.c.rows[:0], 0
		done, err := r.h.more(r.ctx, p, r.c)
		if done {
			r.portal = nil
		}
		if err != nil {
			r.err = err
			r.Close()
			return false
		}
		if len(r.c.rows) > 0 {
			return true
		}
	}
	r.Close()
	return false
}

// Scan copies the present row into dest, one pointer per column. See the package's list of what
// goes into what; nil leaves a column out.
func (r *Rows) Scan(dest ...any) error {
	if r.at < 0 || r.at >= len(r.c.rows) {
		return errors.New("minidb: Scan without a row: call Next first")
	}
	return scanRow(r.c.cols, r.c.rows[r.at], dest, r.format)
}

// Columns are the names of the columns.
func (r *Rows) Columns() []string {
	names := make([]string, len(r.c.cols))
	for i := range r.c.cols {
		names[i] = r.c.cols[i].Name
	}
	return names
}

// ColumnType describes a column.
type ColumnType struct {
	Name     string
	Type     string // as SQL writes it: "numeric(10,2)"
	OID      uint32
	Modifier int32
}

// ColumnTypes describes the columns.
func (r *Rows) ColumnTypes() []ColumnType {
	out := make([]ColumnType, len(r.c.cols))
	for i, c := range r.c.cols {
		t := c.Type.Base() // of a domain it is what the domain is over, as on the wire
		out[i] = ColumnType{Name: c.Name, Type: t.String(), OID: uint32(t.OID), Modifier: t.Mod}
	}
	return out
}

// Values are the values of the present row as Scan gives them to a *any.
func (r *Rows) Values() ([]any, error) {
	out := make([]any, len(r.c.cols))
	dest := make([]any, len(out))
	for i := range out {
		dest[i] = &out[i]
	}
	return out, r.Scan(dest...)
}

// Text is column i of the present row as psql would show it; ok is false for NULL.
func (r *Rows) Text(i int) (text string, ok bool) {
	d := r.c.rows[r.at][i]
	if d.Null {
		return "", false
	}
	return types.Text(r.c.cols[i].Type, d, r.format), true
}

// Err is the error that ended Next, if one did.
func (r *Rows) Err() error { return r.err }

// Close ends the query. It may be called more than once.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.portal != nil {
		r.h.drop(r.portal)
		r.portal = nil
	}
	if r.release != nil {
		r.release()
	}
	return nil
}

// TxOption is a mode of a transaction.
type TxOption func(*ast.TxnModes)

// ReadOnly makes a transaction refuse to write.
func ReadOnly() TxOption {
	return func(m *ast.TxnModes) {
		yes := true
		m.ReadOnly = &yes
	}
}

// Isolation asks for an isolation level by its SQL name: "read committed" (and "read uncommitted",
// which is the same), "repeatable read", which is snapshot isolation, or "serializable". Without it
// a transaction has the session's default_transaction_isolation, read committed unless something
// else was chosen. Begin refuses other names with SQLSTATE 22023.
func Isolation(level string) TxOption { return func(m *ast.TxnModes) { m.Isolation = level } }

// Tx is a transaction. It ends with Commit or Rollback.
type Tx struct {
	h       *handle
	done    bool
	managed bool // by Update or View, which end it
}

// Begin starts a transaction. Its snapshot is taken by its first statement.
func (db *DB) Begin(ctx context.Context, opts ...TxOption) (*Tx, error) {
	h, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := h.begin(ctx, opts)
	if err != nil {
		db.release(h)
	}
	return tx, err
}

func (h *handle) begin(ctx context.Context, opts []TxOption) (*Tx, error) {
	var m ast.TxnModes
	for _, o := range opts {
		o(&m)
	}
	text := "BEGIN"
	if m.Isolation != "" {
		level, err := levelNamed("transaction_isolation", m.Isolation)
		if err != nil {
			return nil, err
		}
		text += " ISOLATION LEVEL " + level
	}
	if m.ReadOnly != nil && *m.ReadOnly {
		text += " READ ONLY"
	}
	if _, err := h.script(ctx, text); err != nil {
		return nil, err
	}
	return &Tx{h: h}, nil
}

// levelNamed returns the name of an isolation level as SQL writes it, for the setting that it is
// meant for.
func levelNamed(setting, level string) (string, error) {
	return settings.Lookup(setting).Canonical(level)
}

// ErrTxDone is returned by calls on a Tx that has ended.
var ErrTxDone = stdsql.ErrTxDone

// Exec is DB.Exec inside the transaction. After an error only Rollback is left, as in PostgreSQL.
func (t *Tx) Exec(ctx context.Context, text string, args ...any) (Result, error) {
	if t.done {
		return Result{}, ErrTxDone
	}
	return t.h.exec(ctx, text, args)
}

// Query is DB.Query inside the transaction.
func (t *Tx) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	if t.done {
		return nil, ErrTxDone
	}
	return t.h.query(ctx, text, args)
}

// QueryRow is DB.QueryRow inside the transaction.
func (t *Tx) QueryRow(ctx context.Context, text string, args ...any) *Row {
	r, err := t.Query(ctx, text, args...)
	return &Row{rows: r, err: err}
}

// ErrRolledBack is what Commit returns when the transaction had failed before.
var ErrRolledBack = errors.New("minidb: the transaction had failed and was rolled back")

// Commit makes the transaction durable. An error with SQLSTATE 40001 means that nothing of it was
// written and that it may be run again; 40003 means that the result is unknown.
func (t *Tx) Commit(ctx context.Context) error {
	if t.managed {
		return ErrManaged
	}
	return t.commit(ctx)
}

func (t *Tx) commit(ctx context.Context) error {
	if t.done {
		return ErrTxDone
	}
	t.done = true
	res, err := t.h.script(ctx, "COMMIT")
	t.h.db.release(t.h)
	if err == nil && res.tag != "COMMIT" {
		return ErrRolledBack
	}
	return err
}

// Rollback drops what the transaction wrote. After Commit it does nothing and returns ErrTxDone.
func (t *Tx) Rollback(ctx context.Context) error {
	if t.managed {
		return ErrManaged
	}
	return t.rollback(ctx)
}

func (t *Tx) rollback(ctx context.Context) error {
	if t.done {
		return ErrTxDone
	}
	t.done = true
	_, err := t.h.script(context.WithoutCancel(ctx), "ROLLBACK")
	t.h.db.release(t.h)
	return err
}
