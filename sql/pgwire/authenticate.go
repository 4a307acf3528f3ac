package pgwire

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/scram"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// maxSASL bounds a message of a client that has not proved anything yet.
const maxSASL = 4096

// authenticate lets a client prove by SCRAM-SHA-256 that it knows the password of a user. What it
// is sent, and how long that takes, is the same whether there is such a user with a password or
// not; only the log has it.
func (c *conn) authenticate(access *Access, user string, login *sql.Login) error {
	from := addressOf(c.net.RemoteAddr())
	if wait := c.server.attempts.take(from); wait > 0 {
		return sqlerr.New(sqlerr.InvalidAuthorization,
			"too many failed attempts to authenticate from this address").
			WithHint("Try again in %d seconds.", int(wait.Seconds())+1)
	}
	why := ""
	verifier, ok := scram.Parse(login.Verifier)
	switch {
	case !login.Known:
		why = "there is no such role"
	case !ok:
		why = "the role has no password for SCRAM-SHA-256"
	case expired(login):
		why = "its password has expired"
	}
	if why != "" {
		verifier = scram.Unknown(user, access.Secret)
	}
	proved, err := c.exchange(verifier)
	if err != nil {
		return err
	}
	if proved && why == "" {
		c.server.attempts.giveBack(from)
		return nil
	}
	if why == "" {
		why = "the password is wrong"
	}
	c.server.log.Warn("password authentication failed", "user", user, "client",
		c.net.RemoteAddr().String(), "because", why)
	return sqlerr.New(sqlerr.InvalidPassword,
		"password authentication failed for user \"%s\"", user)
}

// exchange runs one exchange of SCRAM with the client.
func (c *conn) exchange(v scram.Verifier) (proved bool, err error) {
	mechanisms := []string{scram.Mechanism}
	binding := c.binding()
	if binding != nil {
		mechanisms = []string{scram.MechanismPlus, scram.Mechanism}
	}
	c.out.send(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms})
	body, err := c.receiveSASL()
	if err != nil {
		return false, err
	}
	mechanism, first, err := splitInitial(body)
	if err != nil {
		return false, err
	}
	e, err := scram.NewExchange(v, mechanism, binding)
	if err != nil {
		return false, err
	}
	reply, err := e.First(first)
	if err != nil {
		return false, err
	}
	c.out.send(&pgproto3.AuthenticationSASLContinue{Data: reply})
	if body, err = c.receiveSASL(); err != nil {
		return false, err
	}
	last, proved, err := e.Final(body)
	if proved {
		c.out.send(&pgproto3.AuthenticationSASLFinal{Data: last})
	}
	return proved, err
}

// receiveSASL sends what has gathered, and returns the body of the client's reply: a copy.
func (c *conn) receiveSASL() ([]byte, error) {
	if err := c.out.flush(); err != nil {
		return nil, errGone
	}
	typ, body, err := c.in.next()
	switch {
	case err != nil:
		return nil, errGone
	case typ != 'p':
		return nil, protocolError("expected SASL response")
	case len(body) > maxSASL:
		return nil, protocolError("malformed SASL message: it is too long")
	}
	return bytes.Clone(body), nil
}

// splitInitial cuts a SASLInitialResponse into the name of the mechanism and its first message.
func splitInitial(body []byte) (mechanism string, first []byte, err error) {
	name, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) < 4 || int64(binary.BigEndian.Uint32(rest)) != int64(len(rest)-4) {
		return "", nil, protocolError("malformed SASL message")
	}
	return string(name), rest[4:], nil
}

// binding is the hash of the certificate that the client was shown (RFC 5929 §4.1), to which it
// binds its proof; nil on a connection without TLS.
func (c *conn) binding() []byte {
	if c.tls == nil || c.shown == nil {
		return nil
	}
	h := hashOf(c.shown.SignatureAlgorithm).New()
	h.Write(c.shown.Raw)
	return h.Sum(nil)
}

// hashOf is the hash of a certificate's signature, but SHA-256 in the place of older ones.
func hashOf(a x509.SignatureAlgorithm) crypto.Hash {
	switch a {
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		return crypto.SHA384
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		return crypto.SHA512
	}
	return crypto.SHA256
}

// encrypt goes on with the connection in TLS. What came before it in the clear, behind the request,
// could be an attacker's: then the connection ends.
func (c *conn) encrypt(config *tls.Config) error {
	if c.tls != nil || c.in.r.Buffered() > 0 {
		return sqlerr.New(sqlerr.ProtocolViolation, "received unencrypted data after SSL request").
			WithDetail("This could be either a client-software bug or evidence of an attempted " +
				"man-in-the-middle attack.")
	}
	if _, err := c.net.Write([]byte{'S'}); err != nil {
		return errGone
	}
	below := &resumable{Conn: c.net}
	config = config.Clone()
	choose := config.GetCertificate
	config.GetCertificate = func(h *tls.ClientHelloInfo) (cert *tls.Certificate, err error) {
		if cert, err = choose(h); err == nil {
			c.shown = cert.Leaf
		}
		return cert, err
	}
	t := tls.Server(below, config)
	if err := t.HandshakeContext(c.server.ctx); err != nil {
		c.server.refused[encryption].Add(1)
		c.server.failed.log("connections ended: TLS handshake failed", c.net.RemoteAddr())
		return errGone
	}
	c.tls = t
	c.in.r.Reset(t)
	c.out.w, c.out.below = t, below
	return nil
}
