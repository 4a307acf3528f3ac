package pgwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// Codes in the place of the protocol version.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
)

// errGone ends a connection without a word: a CancelRequest, or a client that left.
var errGone = errors.New("connection is over")

// hello is a decoded startup packet.
type hello struct {
	minor   uint16
	params  map[string]string
	unknown []string // protocol extensions that the client asked for
}

// greet reads packets until one starts a session, and replies to the others.
func (c *conn) greet() (*hello, error) {
	for range 4 { // SSL, GSS, and the packet itself
		body, err := c.in.startup()
		if err != nil {
			return nil, err
		}
		switch code := binary.BigEndian.Uint32(body); code {
		case codeSSL:
			if err := c.encryptIfMay(); err != nil {
				return nil, err
			}
		case codeGSS:
			if _, err := c.net.Write([]byte{'N'}); err != nil {
				return nil, errGone
			}
		case codeCancel:
			if len(body) == 12 {
				c.cancelStatement(int32(binary.BigEndian.Uint32(body[4:])),
					int32(binary.BigEndian.Uint32(body[8:])))
			}
			return nil, errGone
		default:
			return parseHello(code, body[4:])
		}
	}
	return nil, protocolError("too many encryption requests")
}

// cancelStatement ends the statement that a CancelRequest is meant for. A client that sends both at
// once has its request served on a connection of its own, and so perhaps before the statement is
// read (PostgreSQL starts a process for it, which takes longer). A client waits for this connection
// to end before it sends its next statement, so no other one is met.
func (c *conn) cancelStatement(pid, secret int32) {
	until := time.Now().Add(c.server.limits.overtake)
	for !c.server.engine.Cancel(pid, secret) && time.Now().Before(until) {
		select {
		case <-c.server.stopping:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// encryptIfMay replies to a client that asks for TLS.
func (c *conn) encryptIfMay() error {
	if config := c.server.access.Load().TLS; config != nil {
		return c.encrypt(config)
	}
	if _, err := c.net.Write([]byte{'N'}); err != nil {
		return errGone
	}
	return nil
}

// maxParameters bounds the parameters of a startup packet.
const maxParameters = 200

func parseHello(version uint32, body []byte) (*hello, error) {
	if version>>16 != 3 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"unsupported frontend protocol %d.%d: server supports 3.0 to 3.0",
			version>>16, version&0xffff)
	}
	h := &hello{minor: uint16(version), params: map[string]string{}}
	for len(h.params) <= maxParameters {
		name, rest, ok := bytes.Cut(body, []byte{0})
		if !ok {
			break
		}
		if len(name) == 0 {
			if len(rest) == 0 {
				return h, nil
			}
			break
		}
		value, rest, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			break
		}
		body = rest
		if strings.HasPrefix(string(name), "_pq_.") {
			h.unknown = append(h.unknown, string(name))
			continue
		}
		h.params[string(name)] = string(value)
	}
	return nil, protocolError("invalid startup packet layout: expected terminator as last byte")
}

// checkText refuses names and values that are no UTF-8: other clients would get to see them. An
// application's name is cleaned, not refused, where it is set.
func (h *hello) checkText() error {
	for name, value := range h.params {
		if err := checkText(name); err != nil {
			return err
		}
		if name == "application_name" {
			continue
		}
		if err := checkText(value); err != nil {
			return err
		}
	}
	return nil
}

// options turns the packet's parameters into a session's.
func (h *hello) options(remote net.Addr) (sql.SessionOptions, error) {
	o := sql.SessionOptions{Settings: map[string]string{}, Client: remote.String()}
	if err := h.checkText(); err != nil {
		return o, err
	}
	for name, value := range h.params {
		switch name {
		case "user":
			o.User = value
		case "database":
			o.Database = value
		case "options":
			if err := splitOptions(value, o.Settings); err != nil {
				return o, err
			}
		case "replication":
			switch strings.ToLower(value) {
			case "false", "off", "no", "0":
			default:
				return o, sqlerr.New(sqlerr.FeatureNotSupported,
					"replication connections are not supported")
			}
		}
	}
	for name, value := range h.params { // these win over options
		switch name {
		case "user", "database", "options", "replication":
		default:
			o.Settings[name] = value
		}
	}
	if o.User == "" {
		return o, sqlerr.New(sqlerr.InvalidAuthorization,
			"no PostgreSQL user name specified in startup packet")
	}
	return o, nil
}

// splitOptions reads the command line that libpq passes in "options": -c name=value and
// --name=value.
func splitOptions(line string, into map[string]string) error {
	words := splitWords(line)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "-c"):
			w = w[2:]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		default:
			return sqlerr.New(sqlerr.SyntaxError, "invalid command-line argument for server "+
				"process: %s", w)
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return sqlerr.New(sqlerr.SyntaxError, "-c %s requires a value", w)
		}
		into[strings.ReplaceAll(name, "-", "_")] = value
	}
	return nil
}

// splitWords splits at blanks; a backslash takes the next character as it is.
func splitWords(line string) []string {
	var words []string
	var b strings.Builder
	in := false
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case ch == ' ' || ch == '\t' || ch == '\n':
			if in {
				words = append(words, b.String())
				b.Reset()
				in = false
			}
			continue
		case ch == '\\' && i+1 < len(line):
			i++
		}
		b.WriteByte(line[i])
		in = true
	}
	if in {
		words = append(words, b.String())
	}
	return words
}
