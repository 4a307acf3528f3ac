package pgwire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// conn is one client. Its fields belong to its goroutine, except net, drain and alarm.
type conn struct {
	server  *Server
	net     net.Conn
	in      *frameReader
	out     output
	excess  bool // beyond the limit on connections
	session *sql.Session

	text     string // of the message being served, for error positions
	skipping bool   // until Sync, after an error in the extended protocol
	lost     error  // met while COPY FROM STDIN read messages: the connection is over
	batch    batch
	sink     sink // of the statement that runs
	alarm    alarm
}

func newConn(s *Server, nc net.Conn) *conn {
	return &conn{server: s, net: nc, in: newFrameReader(nc), out: output{w: nc}, alarm: alarm{net: nc}}
}

// drain wakes a connection that waits for its client, so that it sees that the server is closing.
// One that runs a statement sees it afterwards.
func (c *conn) drain() { _ = c.net.SetReadDeadline(time.Unix(1, 0)) }

func (c *conn) serve() {
	ctx := c.server.ctx
	if err := c.start(ctx); err != nil {
		if !errors.Is(err, errGone) && !errors.Is(err, io.EOF) {
			c.fatal(err)
		}
		return
	}
	defer func() { c.session.Close(context.WithoutCancel(ctx)) }()
	c.server.log.Debug("session begins", "session", c.session.PID(), "client", c.net.RemoteAddr().String())
	c.ready()
	for {
		typ, body, err := c.receive()
		if err == nil {
			err = c.guarded(ctx, typ, body)
		}
		if err != nil {
			if !errors.Is(err, errGone) && !errors.Is(err, io.EOF) {
				c.fatal(err)
			}
			return
		}
		if c.out.err != nil {
			return
		}
	}
}

// start brings a connection from its first byte to a session.
func (c *conn) start(ctx context.Context) error {
	_ = c.net.SetDeadline(time.Now().Add(startupTimeout))
	h, err := c.greet()
	if err != nil {
		return err
	}
	o, err := h.options(c.net.RemoteAddr())
	if err != nil {
		return err
	}
	if tcp, ok := c.net.LocalAddr().(*net.TCPAddr); ok {
		o.Port = tcp.Port
	}
	if c.excess {
		return sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already")
	}
	if err := admit(c.net.RemoteAddr(), o.User, o.Database); err != nil {
		return err
	}
	if c.session, err = c.server.engine.NewSession(ctx, o); err != nil {
		return err
	}
	_ = c.net.SetDeadline(time.Time{})
	c.session.OnTerminate(func() { _ = c.net.SetReadDeadline(time.Unix(1, 0)) })
	c.session.OnNotify(c.alarm.ring)
	if h.minor > 0 || len(h.unknown) > 0 {
		c.negotiate(h)
	}
	c.out.send(&pgproto3.AuthenticationOk{})
	for _, r := range c.session.Settings().Initial() {
		c.out.parameter(r.Name, r.Value)
	}
	c.out.send(&pgproto3.BackendKeyData{ProcessID: uint32(c.session.PID()), SecretKey: uint32(c.session.Secret())})
	return nil
}

// negotiate tells a client of a later minor version what this server speaks.
func (c *conn) negotiate(h *hello) {
	at := c.out.begin('v')
	c.out.int32(0)
	c.out.int32(int32(len(h.unknown)))
	for _, name := range h.unknown {
		c.out.string(name)
	}
	c.out.end(at)
}

// receive reads the next message, for as long as the session may be idle.
func (c *conn) receive() (byte, []byte, error) {
	d, inBlock := c.idleLimit()
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
		_ = c.net.SetReadDeadline(until)
	}
	if c.server.draining() || c.session.Terminated() {
		return 0, nil, shutdownError()
	}
	if err := c.await(until); err != nil {
		return 0, nil, err
	}
	typ, body, err := c.in.next()
	switch {
	case err == nil:
		if d > 0 {
			_ = c.net.SetReadDeadline(time.Time{})
		}
		if err := validate(typ, body); err != nil {
			return 0, nil, err
		}
		return typ, body, nil
	case c.server.draining(), c.session.Terminated():
		return 0, nil, shutdownError()
	case errors.Is(err, os.ErrDeadlineExceeded) && inBlock:
		return 0, nil, sqlerr.New("25P03", "terminating connection due to idle-in-transaction timeout")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, nil, sqlerr.New("57P05", "terminating connection due to idle-session timeout")
	}
	var se *sqlerr.Error
	if errors.As(err, &se) {
		return 0, nil, err
	}
	return 0, nil, errGone // the network's errors have nobody to be told to
}

// idleLimit is how long the client may stay silent; 0 is for ever.
func (c *conn) idleLimit() (d time.Duration, inBlock bool) {
	set := c.session.Settings().Derived()
	if c.session.Status() != 'I' {
		return set.IdleInTransaction, true
	}
	return set.IdleSession, false
}

func shutdownError() error {
	return sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command")
}

// guarded handles a message and survives a panic in it: the client gets XX000 and loses the
// connection, the log gets the stack.
func (c *conn) guarded(ctx context.Context, typ byte, body []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.server.log.Error("panic in a statement", "session", c.session.PID(), "text", c.text, "panic", r, "stack", string(debug.Stack()))
			c.out.abandon()
			err = sqlerr.New(sqlerr.InternalError, "internal error: %v", r)
		}
	}()
	return c.handle(ctx, typ, body)
}

// handle serves one message. An error ends the connection.
func (c *conn) handle(ctx context.Context, typ byte, body []byte) error {
	if c.skipping && typ != 'S' && typ != 'X' {
		return nil
	}
	switch typ {
	case 'Q':
		return c.query(ctx, body)
	case 'P', 'B', 'D', 'E', 'C':
		return c.extended(ctx, typ, body)
	case 'H':
		return c.out.flush()
	case 'S':
		return c.sync(ctx)
	case 'X':
		return errGone
	case 'F':
		c.fail(ctx, sqlerr.New(sqlerr.FeatureNotSupported, "fastpath function calls are not supported"))
		return c.ready()
	case 'd', 'c', 'f': // what is left of a COPY that failed
		return nil
	}
	return protocolError("unexpected message")
}

// query serves a Query message.
func (c *conn) query(ctx context.Context, body []byte) error {
	if err := c.endBatch(ctx); err != nil { // a client may mix protocols without Sync
		return err
	}
	var m pgproto3.Query
	if err := m.Decode(body); err != nil {
		return protocolError(err.Error())
	}
	c.text = m.String
	err := checkText(m.String)
	if err == nil {
		c.sink = sink{c: c, describes: true}
		err = c.session.Query(ctx, m.String, &c.sink)
	}
	if err != nil {
		if err := c.fail(ctx, err); err != nil {
			return err
		}
	}
	return c.ready()
}

// fail tells the client of an error and rolls back what it must. An error that ends the session is
// returned.
func (c *conn) fail(ctx context.Context, err error) error {
	c.session.Fail(ctx)
	if c.lost != nil {
		return c.lost
	}
	e := asError(c.session.NameConflict(ctx, err))
	if e.Code == sqlerr.AdminShutdown || c.out.err != nil {
		return e
	}
	c.out.error(e, "ERROR", c.text)
	return nil
}

// fatal tells the client why its connection ends, and ends it.
func (c *conn) fatal(err error) {
	_ = c.net.SetWriteDeadline(time.Now().Add(5 * time.Second))
	e := asError(err)
	c.server.log.Info("connection ends", "client", c.net.RemoteAddr().String(), "code", e.Code, "error", e.Message)
	c.out.error(e, "FATAL", "")
	_ = c.out.flush()
}

func asError(err error) *sqlerr.Error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e
	}
	return &sqlerr.Error{Code: sqlerr.InternalError, Message: err.Error()}
}

// ready tells the client what changed and that it may go on.
func (c *conn) ready() error {
	for _, r := range c.session.Settings().Changed() {
		c.out.parameter(r.Name, r.Value)
	}
	if err := c.notifications(); err != nil {
		return err
	}
	c.out.ready(c.session.Status())
	c.session.Idle()
	return c.out.flush()
}

// notice appends a NoticeResponse.
func (c *conn) notice(n *sql.Notice) {
	c.out.send(&pgproto3.NoticeResponse{Severity: n.Severity, SeverityUnlocalized: n.Severity, Code: n.Code,
		Message: strings.ReplaceAll(n.Message, "\x00", ""), Detail: n.Detail, Hint: n.Hint})
}
