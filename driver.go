package minidb

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

func init() { stdsql.Register("minidb", sqlDriver{}) }

// OpenSQL returns a database/sql handle on an open DB. Closing it leaves the DB open.
func OpenSQL(db *DB) *stdsql.DB { return stdsql.OpenDB(&connector{db: db, borrowed: true}) }

// sqlDriver is the driver "minidb" of database/sql. Its data source name is a directory; all
// handles of a process on one directory share one DB, which closes with the last of them.
// ":memory:" is a database in memory of the handle's own.
type sqlDriver struct{}

// Open is there for programs that go around database/sql's connector.
func (d sqlDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	conn.(*sqlConn).owner = c.(*connector)
	return conn, nil
}

func (sqlDriver) OpenConnector(dsn string) (driver.Connector, error) {
	if dsn == "" {
		return nil, errors.New("minidb: the data source name is empty: it names the directory")
	}
	return &connector{dsn: dsn}, nil
}

// shared are the directories that connectors of this process have open.
var shared struct {
	sync.Mutex
	dbs map[string]*sharedDB
}

type sharedDB struct {
	db   *DB
	refs int
}

// connector opens its directory with the first connection.
type connector struct {
	dsn      string
	borrowed bool

	mu     sync.Mutex
	db     *DB
	dir    string // key in shared; "" for one of its own
	closed bool
}

func (c *connector) Driver() driver.Driver { return sqlDriver{} }

func (c *connector) open() (*DB, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if c.db != nil {
		return c.db, nil
	}
	if c.dsn == ":memory:" {
		var err error
		c.db, err = Open("", InMemory())
		return c.db, err
	}
	dir, err := filepath.Abs(c.dsn)
	if err != nil {
		return nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	s := shared.dbs[dir]
	if s == nil {
		db, err := Open(dir)
		if err != nil {
			return nil, err
		}
		s = &sharedDB{db: db}
		if shared.dbs == nil {
			shared.dbs = map[string]*sharedDB{}
		}
		shared.dbs[dir] = s
	}
	s.refs++
	c.db, c.dir = s.db, dir
	return c.db, nil
}

// Close gives up the directory.
func (c *connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.borrowed || c.db == nil {
		c.closed = true
		return nil
	}
	c.closed = true
	if c.dir == "" {
		return c.db.Close()
	}
	shared.Lock()
	defer shared.Unlock()
	s := shared.dbs[c.dir]
	if s.refs--; s.refs > 0 {
		return nil
	}
	delete(shared.dbs, c.dir)
	return s.db.Close()
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	db, err := c.open()
	if err != nil {
		return nil, err
	}
	h, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &sqlConn{h: h}, nil
}

// sqlConn is a connection of database/sql: a session.
type sqlConn struct {
	h     *handle
	owner *connector // of a connection made by sqlDriver.Open
}

func (c *sqlConn) Close() error {
	c.h.db.release(c.h)
	if c.owner != nil {
		return c.owner.Close()
	}
	return nil
}

func (c *sqlConn) Ping(ctx context.Context) error {
	_, err := c.h.script(ctx, "")
	return connErr(err)
}

// connErr turns errors after which a connection is unusable into driver.ErrBadConn.
func connErr(err error) error {
	if errors.Is(err, ErrClosed) {
		return driver.ErrBadConn
	}
	return err
}

// ResetSession makes the connection as new for its next user.
func (c *sqlConn) ResetSession(ctx context.Context) error {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	if c.h.closed {
		return driver.ErrBadConn
	}
	c.h.session.Reset(ctx)
	return nil
}

func (c *sqlConn) IsValid() bool {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	return !c.h.closed
}

// CheckNamedValue takes every value as it is: the parameter's type decides how it is read.
func (c *sqlConn) CheckNamedValue(v *driver.NamedValue) error {
	if v.Name != "" {
		return errors.New("minidb: parameters have numbers, not names: $1")
	}
	return nil
}

func values(args []driver.NamedValue) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a.Value
	}
	return out
}

func (c *sqlConn) ExecContext(ctx context.Context, text string,
	args []driver.NamedValue) (driver.Result, error) {
	res, err := c.h.exec(ctx, text, values(args))
	if err != nil {
		return nil, err
	}
	return sqlResult{res}, nil
}

func (c *sqlConn) QueryContext(ctx context.Context, text string,
	args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.h.query(ctx, text, values(args))
	if err != nil {
		return nil, err
	}
	return &sqlRows{r}, nil
}

func (c *sqlConn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

func (c *sqlConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	if c.h.closed {
		return nil, driver.ErrBadConn
	}
	ps, _, err := c.h.statement(ctx, text, nil)
	if err != nil {
		c.h.failed(ctx)
		return nil, err
	}
	if err := c.h.session.Sync(ctx); err != nil {
		return nil, err
	}
	return &sqlStmt{c: c, text: text, inputs: len(ps.ParamTypes)}, nil
}

func (c *sqlConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *sqlConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	var opts []TxOption
	switch level := stdsql.IsolationLevel(o.Isolation); level {
	case stdsql.LevelDefault:
	case stdsql.LevelRepeatableRead, stdsql.LevelSnapshot:
		opts = append(opts, Isolation("repeatable read"))
	case stdsql.LevelSerializable:
		opts = append(opts, Isolation("serializable"))
	case stdsql.LevelReadCommitted:
		opts = append(opts, Isolation("read committed"))
	case stdsql.LevelReadUncommitted:
		opts = append(opts, Isolation("read uncommitted"))
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "isolation level %s is not supported",
			level)
	}
	if o.ReadOnly {
		opts = append(opts, ReadOnly())
	}
	tx, err := c.h.begin(ctx, opts)
	if err != nil {
		return nil, connErr(err)
	}
	return &sqlTx{h: tx.h}, nil
}

// sqlTx ends a block and leaves the session to its connection.
type sqlTx struct{ h *handle }

func (t *sqlTx) Commit() error {
	res, err := t.h.script(context.Background(), "COMMIT")
	if err == nil && res.tag != "COMMIT" {
		return ErrRolledBack
	}
	return err
}

func (t *sqlTx) Rollback() error {
	_, err := t.h.script(context.Background(), "ROLLBACK")
	return err
}

type sqlStmt struct {
	c      *sqlConn
	text   string
	inputs int
}

func (s *sqlStmt) Close() error  { return nil }
func (s *sqlStmt) NumInput() int { return s.inputs }

func (s *sqlStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

func (s *sqlStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

func (s *sqlStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result,
	error) {
	c, _, err := s.c.h.run(ctx, s.text, values(args), false)
	if err != nil {
		return nil, err
	}
	return sqlResult{Result{tag: c.tag}}, nil
}

func (s *sqlStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.text, args)
}

type sqlResult struct{ r Result }

func (r sqlResult) LastInsertId() (int64, error) {
	return 0, errors.New("minidb: there is no LastInsertId: use INSERT … RETURNING")
}

func (r sqlResult) RowsAffected() (int64, error) { return r.r.RowsAffected(), nil }

// sqlRows are Rows as database/sql reads them.
type sqlRows struct{ r *Rows }

func (r *sqlRows) Columns() []string { return r.r.Columns() }
func (r *sqlRows) Close() error      { return r.r.Close() }

func (r *sqlRows) Next(dest []driver.Value) error {
	if !r.r.Next() {
		if err := r.r.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	row := r.r.c.rows[r.r.at]
	for i := range dest {
		dest[i] = driverValue(r.r.c.cols[i].Type, row[i], r.r.format)
	}
	return nil
}

func (r *sqlRows) ColumnTypeDatabaseTypeName(i int) string {
	return upperName(r.r.c.cols[i].Type.Base())
}

func upperName(t *types.Type) string {
	b := []byte(t.Name)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func (r *sqlRows) ColumnTypeScanType(i int) reflect.Type {
	switch r.r.c.cols[i].Type.Family {
	case types.Bool:
		return reflect.TypeFor[bool]()
	case types.Int:
		return reflect.TypeFor[int64]()
	case types.Float:
		return reflect.TypeFor[float64]()
	case types.Bytes:
		return reflect.TypeFor[[]byte]()
	case types.Date, types.Timestamp:
		return reflect.TypeFor[time.Time]()
	}
	return reflect.TypeFor[string]()
}

func (r *sqlRows) ColumnTypeLength(i int) (int64, bool) {
	switch t := r.r.c.cols[i].Type.Base(); t.OID {
	case types.OIDVarchar, types.OIDBPChar:
		if t.Mod >= 4 {
			return int64(t.Mod - 4), true
		}
	}
	return 0, false
}

func (r *sqlRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	t := r.r.c.cols[i].Type.Base()
	if t.OID != types.OIDNumeric || t.Mod == types.NoMod {
		return 0, 0, false
	}
	p, s := types.NumericModParts(t.Mod)
	return int64(p), int64(s), true
}
