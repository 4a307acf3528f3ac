package pgwire

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
)

// functionCall is the body of a FunctionCall message. Package pgproto3 does not decode it: it takes
// the length of a NULL for one of 4 GB.
type functionCall struct {
	function types.OID
	formats  []int16
	args     [][]byte // nil: NULL
	result   int16
}

// readFunctionCall reads a body, whose structure is valid.
func readFunctionCall(body []byte) (f functionCall) {
	w := walker{b: body}
	f.function = types.OID(w.int32())
	for n := w.int16(); n > 0; n-- {
		f.formats = append(f.formats, int16(w.int16()))
	}
	for n := w.int16(); n > 0; n-- {
		var arg []byte
		if size := w.int32(); size >= 0 {
			arg = w.take(int(size))
		}
		f.args = append(f.args, arg)
	}
	f.result = int16(w.int16())
	return f
}

// function serves a FunctionCall message: a statement of its own, as Query is.
func (c *conn) function(ctx context.Context, body []byte) error {
	if err := c.endBatch(ctx); err != nil {
		return err
	}
	c.text = ""
	err := c.callFunction(ctx, body)
	c.session.ClosePortal(functionPortal)
	if err != nil {
		if err := c.fail(ctx, unplaced(err)); err != nil {
			return err
		}
	}
	return c.ready()
}

// unplaced takes the position out of an error: the client has no text that it could be in.
func unplaced(err error) error {
	if e := asError(err); e.Position > 0 {
		without := *e
		without.Position = 0
		return &without
	}
	return err
}

// functionPortal is the name of the portal of a call. No client can name it.
const functionPortal = "\x00function"

func (c *conn) callFunction(ctx context.Context, body []byte) error {
	copied, err := c.copied(body)
	defer copied()
	if err != nil {
		return err
	}
	call := readFunctionCall(body)
	c.results = resultWriter{c: c}
	ps, err := c.session.PrepareCall(ctx, call.function, &c.results)
	if err != nil {
		return err
	}
	args, err := c.functionArguments(&call, ps)
	if err != nil {
		return err
	}
	if call.result != 0 && call.result != 1 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", call.result)
	}
	p, err := c.session.Bind(ctx, functionPortal, ps, args)
	if err != nil {
		return err
	}
	p.Formats, p.Single = []int16{call.result}, true
	err = c.batch.run(ctx, c, step{portal: p, function: true})
	if err == nil {
		err = c.batch.commit(ctx, c)
	}
	c.batch.clear()
	return err
}

// functionArguments decodes the arguments of a call by the types of the function.
func (c *conn) functionArguments(call *functionCall, ps *sql.Prepared) ([]types.Datum, error) {
	if n := len(call.args); n != len(ps.ParamTypes) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"function call message contains %d arguments but function requires %d", n,
			len(ps.ParamTypes))
	}
	if n := len(call.formats); n > 1 && n != len(call.args) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"function call message contains %d argument formats but %d arguments", n,
			len(call.args))
	}
	f := c.session.Format()
	out := make([]types.Datum, len(call.args))
	for i, b := range call.args {
		var err error
		if out[i], err = value(ps.ParamTypes[i], b, format(call.formats, i), f); err != nil {
			return nil, ofArgument(err, "function argument", i)
		}
	}
	return out, nil
}
