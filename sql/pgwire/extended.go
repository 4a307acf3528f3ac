package pgwire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
)

// extended serves Parse, Bind, Describe, Execute and Close. After an error it skips to Sync.
func (c *conn) extended(ctx context.Context, typ byte, body []byte) error {
	from := len(c.out.buf)
	flushes := c.out.flushes
	var err error
	switch typ {
	case 'P':
		err = c.parse(ctx, body)
	case 'B':
		err = c.bind(ctx, body)
	case 'D':
		err = c.describe(body)
	case 'E':
		err = c.execute(ctx, body)
	case 'C':
		err = c.close(body)
	}
	if err != nil {
		if typ != 'E' { // Session.Execute has counted it
			c.session.Refused(err)
		}
		c.skipping = true
		c.batch.clear()
		if err := c.fail(ctx, err); err != nil {
			return err
		}
		return c.out.flush() // a client may wait for the error before it sends Sync
	}
	if typ != 'E' && flushes == c.out.flushes {
		c.batch.said(c.out.buf[from:])
	}
	return c.out.full()
}

func (c *conn) parse(ctx context.Context, body []byte) error {
	copied, err := c.copied(body)
	defer copied()
	if err != nil {
		return err
	}
	var m pgproto3.Parse
	if err := m.Decode(body); err != nil {
		return protocolError(err.Error())
	}
	c.text = m.Query
	if err := checkText(m.Query); err != nil {
		return err
	}
	oids := make([]types.OID, len(m.ParameterOIDs))
	for i, oid := range m.ParameterOIDs {
		oids[i] = types.OID(oid)
	}
	c.results = resultWriter{c: c}
	if _, err := c.session.Prepare(ctx, m.Name, m.Query, oids, &c.results); err != nil {
		return err
	}
	c.out.simple('1')
	return nil
}

func (c *conn) bind(ctx context.Context, body []byte) error {
	copied, err := c.copied(body)
	defer copied()
	if err != nil {
		return err
	}
	m := &c.message
	m.read(body)
	defer m.done()
	ps, err := c.session.Statement(m.statement)
	if err != nil {
		return err
	}
	c.text = ps.Text
	if err := c.session.RenewTypes(ctx, ps); err != nil {
		return err
	}
	params, err := c.parameters(m, ps)
	if err != nil {
		return err
	}
	if n := len(m.results); n > 1 && n != len(ps.Columns) {
		return sqlerr.New(sqlerr.ProtocolViolation,
			"bind message has %d result formats but query has %d columns", n, len(ps.Columns))
	}
	for _, code := range m.results {
		if code != 0 && code != 1 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", code)
		}
	}
	p, err := c.session.Bind(ctx, m.portal, ps, params)
	if err != nil {
		return err
	}
	p.Formats = m.results
	c.out.simple('2')
	return nil
}

// parameters decodes the values of a Bind by the types of the statement.
func (c *conn) parameters(m *bindMessage, ps *sql.Prepared) ([]types.Datum, error) {
	if n := len(m.formats); n > 1 && n != len(m.values) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"bind message has %d parameter formats but %d parameters", n, len(m.values))
	}
	if len(m.values) != len(ps.ParamTypes) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(m.values), m.statement, len(ps.ParamTypes))
	}
	if len(m.values) == 0 {
		return nil, nil
	}
	f := c.session.Format()
	out := make([]types.Datum, len(m.values))
	for i, b := range m.values {
		var err error
		if out[i], err = parameter(ps.ParamTypes[i], b, m, i, f); err != nil {
			return nil, c.withValue(err, m, i)
		}
	}
	return out, nil
}

// parameter decodes the i-th value of a Bind, b, which is nil for NULL.
func parameter(t *types.Type, b []byte, m *bindMessage, i int, f *types.Format) (d types.Datum,
	err error) {
	code := format(m.formats, i)
	if d, err = value(t, b, code, f); err == nil {
		return d, nil
	}
	return d, ofArgument(err, "bind parameter", i)
}

// withValue adds to the error of the i-th value of a Bind where it is, and the value itself if
// log_parameter_max_length_on_error allows that.
func (c *conn) withValue(err error, m *bindMessage, i int) error {
	shown, b := "", m.values[i]
	if format(m.formats, i) == 0 && b != nil && types.CheckUTF8(b) == nil {
		shown = hidden(b)
		if most := c.session.LogSettings().ParametersOnError; most != 0 {
			shown = " = " + sql.QuotedValue(string(b), most)
		}
	}
	if m.portal == "" {
		return sqlerr.Within(err, "unnamed portal parameter $%d%s", i+1, shown)
	}
	return sqlerr.Within(err, "portal \"%s\" parameter $%d%s", m.portal, i+1, shown)
}

// value decodes a value that a client sent, nil for NULL, by its format.
func value(t *types.Type, b []byte, code int16, f *types.Format) (types.Datum, error) {
	switch {
	case b == nil:
		return t.Null(f)
	case code == 0:
		if err := types.CheckUTF8(b); err != nil {
			return types.Null, err
		}
		return types.ParseText(t, string(b), f)
	case code == 1:
		return types.ParseBinary(t, b, f)
	}
	return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", code)
}

// ofArgument names the argument whose bytes in binary format are more than those of a value.
func ofArgument(err error, what string, i int) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.InvalidBinaryRepresentation ||
		e.Message != types.WrongBinary {
		return err
	}
	named := *e
	named.Message = fmt.Sprintf("%s in %s %d", e.Message, what, i+1)
	return &named
}

// hidden shows that a parameter had a value, as PostgreSQL does unless its setting
// log_parameter_max_length_on_error allows the value itself to be logged.
func hidden(b []byte) string {
	if len(b) == 0 {
		return " = ''"
	}
	return " = '...'"
}

func (c *conn) describe(body []byte) error {
	w := walker{b: body[1:]}
	name := c.names.of(w.name())
	if body[0] == 'S' {
		ps, err := c.session.Statement(name)
		if err != nil {
			return err
		}
		c.out.parameterDescription(ps.ParamTypes)
		if !ps.HasRows {
			c.out.simple('n')
			return nil
		}
		c.out.rowDescription(ps.Columns, nil)
		return nil
	}
	p, err := c.session.Portal(name)
	if err != nil {
		return err
	}
	cols, hasRows := p.Columns()
	if !hasRows {
		c.out.simple('n')
		return nil
	}
	c.out.rowDescription(cols, p.Formats)
	return nil
}

func (c *conn) execute(ctx context.Context, body []byte) error {
	w := walker{b: body}
	p, err := c.session.Portal(c.names.of(w.name()))
	if err != nil {
		c.session.Refused(err)
		return err
	}
	c.portal = p
	c.text, p.Single = p.Statement.Text, c.in.syncFollows()
	return c.batch.run(ctx, c, step{portal: p, limit: int64(w.int32())})
}

func (c *conn) close(body []byte) error {
	var m pgproto3.Close
	if err := m.Decode(body); err != nil {
		return protocolError(err.Error())
	}
	if m.ObjectType == 'S' {
		c.session.CloseStatement(m.Name)
	} else {
		c.session.ClosePortal(m.Name)
	}
	c.out.simple('3')
	return nil
}

// sync ends the batch and sends ReadyForQuery.
func (c *conn) sync(ctx context.Context) error {
	c.skipping = false
	if err := c.endBatch(ctx); err != nil {
		return err
	}
	return c.ready()
}

// endBatch commits the implicit transaction of the messages since the last Sync.
func (c *conn) endBatch(ctx context.Context) error {
	err := c.batch.commit(ctx, c)
	c.batch.clear()
	if err != nil {
		return c.fail(ctx, err)
	}
	return nil
}
