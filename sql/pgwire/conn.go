package pgwire

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// conn is one client. Its fields belong to its goroutine, except clock, live and what the server's
// mutex guards.
type conn struct {
	server  *Server
	net     net.Conn
	clock   *clock
	in      *frameReader
	out     output
	slot    slot
	session *sql.Session
	live    atomic.Pointer[sql.Session] // session, for other goroutines
	tls     *tls.Conn                   // nil: the connection is not encrypted
	shown   *x509.Certificate           // to the client, of the server

	text     string      // of the message being served, for error positions
	portal   *sql.Portal // that the message runs; nil: none
	asked    []any       // for the log: the user and the database of the start-up packet
	skipping bool        // until Sync, after an error in the extended protocol
	lost     error       // met while COPY FROM STDIN read messages: the connection is over
	batch    batch
	message  bindMessage
	names    names
	results  resultWriter // of the statement that runs
}

func newConn(s *Server, nc net.Conn) *conn {
	k := &clock{net: nc}
	return &conn{server: s, net: nc, clock: k, in: newFrameReader(nc, k.limit),
		out: output{w: nc, clock: k}}
}

// drain wakes a connection that waits for its client, so that it sees that the server is closing.
// One that runs a statement sees it afterwards.
func (c *conn) drain() { c.clock.drain() }

// terminate ends the session, whatever it is doing, with an error to its client. Without a session
// the connection ends.
func (c *conn) terminate() {
	if s := c.live.Load(); s != nil {
		s.Terminate()
		return
	}
	c.net.Close()
}

// closing reports whether the connection was asked to end.
func (c *conn) closing() bool { return c.server.draining.Load() || c.session.Terminated() }

// serve runs the connection. Its session ends before the error is sent, so that a client that does
// not read holds no locks meanwhile.
func (c *conn) serve() {
	defer c.leave() // also after a panic
	ctx := c.server.ctx
	err := c.start(ctx)
	if err == nil {
		err = c.messages(ctx)
	} else {
		c.server.countRefused(err)
	}
	c.leave()
	if c.out.err == nil && !errors.Is(err, errGone) && !errors.Is(err, io.EOF) {
		c.fatal(err)
	}
}

// hangUp ends the connection; one in TLS says so first, unless its client does not read.
func (c *conn) hangUp() {
	if c.tls != nil && !c.out.below.holds() {
		_ = c.net.SetWriteDeadline(time.Now().Add(c.server.limits.farewell))
		_ = c.tls.CloseWrite()
	}
	c.net.Close()
}

// leave ends the session, if there is one.
func (c *conn) leave() {
	if s := c.live.Swap(nil); s != nil {
		s.LogDisconnection()
		s.Close(context.WithoutCancel(c.server.ctx))
	}
}

// messages serves what the client sends until the connection ends, and returns why it does.
func (c *conn) messages(ctx context.Context) error {
	c.server.log.Debug("session begins", "session", c.session.PID(), "client",
		c.net.RemoteAddr().String())
	err := c.ready()
	for err == nil && c.out.err == nil {
		var typ byte
		var body []byte
		if typ, body, err = c.receive(); err == nil {
			err = c.guarded(ctx, typ, body)
			c.in.release()
		}
		if err != nil {
			err = c.afterRefusal(ctx, typ, err)
		}
	}
	return err
}

// afterRefusal replies to a message that was read and not kept, if err says so, and returns what
// ends the connection.
func (c *conn) afterRefusal(ctx context.Context, typ byte, err error) error {
	var refused *refusedBody
	if errors.As(err, &refused) {
		return c.refused(ctx, typ, refused)
	}
	return err
}

// start brings a connection from its first byte to a session.
func (c *conn) start(ctx context.Context) error {
	until := time.Now().Add(c.server.limits.startup)
	c.clock.limit(until)
	_ = c.net.SetWriteDeadline(until)
	h, err := c.greet()
	if err != nil {
		if c.server.greet(c) && !time.Now().Before(until) {
			c.server.refused[silence].Add(1)
			c.server.slow.log("connections ended: no start-up packet in time", c.net.RemoteAddr())
		}
		return err
	}
	o, err := h.options(c.net.RemoteAddr())
	if err != nil {
		return err
	}
	c.asked = []any{"user", o.User, "database", cmp.Or(o.Database, o.User)}
	if tcp, ok := c.net.LocalAddr().(*net.TCPAddr); ok {
		o.Server = tcp.String()
	}
	if c.tls != nil {
		state := c.tls.ConnectionState()
		o.TLS = &state
	}
	// Until here it is one of the silent: a client that cannot come in takes no session's place.
	login, err := c.admit(ctx, &o)
	if !c.server.greet(c) {
		return errGone // it has been dropped
	}
	if err != nil {
		return err
	}
	if err := c.server.enter(c, login.Superuser); err != nil {
		return err
	}
	if c.session, err = c.server.engine.NewSession(ctx, o); err != nil {
		return err
	}
	c.session.LastsWith(ctx)
	c.clock.limit(time.Time{})
	_ = c.net.SetWriteDeadline(time.Time{})
	c.in.within = c.server.limits.message
	c.out.running = c.session.Running
	c.in.account, c.out.account = c.session.Memory(), c.session.Memory()
	c.session.LogConnection()
	c.session.OnTerminate(c.clock.end)
	c.session.OnNotify(c.clock.ring)
	c.live.Store(c.session)
	if h.minor > 0 || len(h.unknown) > 0 {
		c.negotiate(h)
	}
	c.out.send(&pgproto3.AuthenticationOk{})
	for _, r := range c.session.Settings().Initial() {
		c.out.parameter(r.Name, r.Value)
	}
	c.out.send(&pgproto3.BackendKeyData{ProcessID: uint32(c.session.PID()),
		SecretKey: uint32(c.session.Secret())})
	return nil
}

// negotiate sends a client of a later minor version the version that this server speaks.
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
		c.clock.limit(until)
	}
	if c.closing() {
		return 0, nil, shutdownError()
	}
	if err := c.await(until); err != nil {
		return 0, nil, err
	}
	typ, body, err := c.in.next()
	switch {
	case err == nil:
		if d > 0 {
			c.clock.limit(time.Time{})
		}
		if err := validate(typ, body); err != nil {
			return 0, nil, err
		}
		return typ, body, nil
	case c.closing():
		return 0, nil, shutdownError()
	case errors.Is(err, os.ErrDeadlineExceeded) && inBlock:
		return 0, nil, sqlerr.New("25P03", "terminating connection due to idle-in-transaction "+
			"timeout")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, nil, sqlerr.New("57P05", "terminating connection due to idle-session timeout")
	}
	var se *sqlerr.Error
	var refused *refusedBody
	if errors.As(err, &refused) {
		return typ, nil, err
	}
	if errors.As(err, &se) {
		return 0, nil, err
	}
	return 0, nil, errGone // errors of the network cannot be reported to the client
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
			c.server.log.Error("panic in a statement", "session", c.session.PID(), "text", c.text,
				"panic", r, "stack", string(debug.Stack()))
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
	c.portal = nil
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
		return c.function(ctx, body)
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
	copied, err := c.copied(body)
	defer copied()
	var m pgproto3.Query
	if err == nil {
		if err := m.Decode(body); err != nil {
			return protocolError(err.Error())
		}
		c.text = m.String
		if err = checkText(m.String); err != nil {
			c.session.Refused(err)
		}
	}
	if err == nil {
		c.results = resultWriter{c: c, describes: true}
		err = c.session.Query(ctx, m.String, &c.results)
	}
	if err != nil {
		if err := c.fail(ctx, err); err != nil {
			return err
		}
	}
	return c.ready()
}

// refused replies to a message that was read and not kept.
func (c *conn) refused(ctx context.Context, typ byte, refused *refusedBody) error {
	if c.skipping || typ == 'd' { // what is left of a COPY that failed
		return nil
	}
	c.text = ""
	err := sql.OutOfMemory(refused.cause)
	if typ == 'Q' || typ == 'F' {
		if err := c.endBatch(ctx); err != nil {
			return err
		}
		if err := c.fail(ctx, err); err != nil {
			return err
		}
		return c.ready()
	}
	c.skipping = true
	c.batch.clear()
	if err := c.fail(ctx, err); err != nil {
		return err
	}
	return c.out.flush()
}

// copied counts the copy that decoding made of a large body, until the function returned is called.
func (c *conn) copied(body []byte) (func(), error) {
	if len(body) <= keptBuffer {
		return func() {}, nil
	}
	n, a := int64(len(body)), c.session.Memory()
	err := a.Grow(n)
	if err != nil {
		err = sql.OutOfMemory(err)
	}
	return func() {
		a.Shrink(n)
		a.Settle()
	}, err
}

// fail sends an error to the client and rolls back what it must. An error that ends the session is
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
	c.session.LogError(e, c.text, c.portal)
	return nil
}

// fatal sends the client the error that ends its connection. A client that did not read before has
// little time for it.
func (c *conn) fatal(err error) {
	e := asError(err)
	c.server.log.Info("connection ends", append([]any{"client", c.net.RemoteAddr().String(),
		"code", e.Code, "error", e.Message}, c.asked...)...)
	patience := c.server.limits.farewell
	if c.out.stuck {
		patience /= 5
	}
	c.out.running = nil
	c.clock.lastWords(patience)
	c.out.error(e, "FATAL", "")
	if c.out.flush() == nil && c.in.unread {
		c.discard()
	}
}

// maxDiscard bounds what is read behind a message that was refused for its length.
const maxDiscard = 256 << 20

// discard reads what the client is still sending, so that it comes to read why it was refused:
// closing a socket with unread bytes resets the connection, and the message would be lost.
func (c *conn) discard() {
	if half, ok := c.net.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	c.clock.limit(time.Now().Add(6 * c.server.limits.farewell))
	_, _ = io.CopyN(io.Discard, c.in.r, maxDiscard)
}

func asError(err error) *sqlerr.Error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e
	}
	return &sqlerr.Error{Code: sqlerr.InternalError, Message: err.Error()}
}

// ready sends the client the changed parameters and ReadyForQuery.
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
	c.out.send(&pgproto3.NoticeResponse{Severity: n.Severity, SeverityUnlocalized: n.Severity,
		Code:    n.Code,
		Message: clean(n.Message), Detail: clean(n.Detail), Hint: clean(n.Hint),
		Where: clean(n.Context), SchemaName: n.Schema, TableName: n.Table, ColumnName: n.Column,
		DataTypeName: n.DataType, ConstraintName: n.Constraint})
}
