package pgwire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire/hba"
)

// Access is which clients may come in, and how connections are encrypted.
type Access struct {
	Rules hba.Rules
	// TLS encrypts the connections whose clients ask for it; nil: none is encrypted. Its
	// GetCertificate returns certificates with their Leaf.
	TLS *tls.Config
	// Secret is that of the server from which the salts of users that there are not are derived.
	Secret []byte
}

// loopbackRules let in the clients of this machine, and no others.
const loopbackRules = "local all all trust\n" +
	"host all all 127.0.0.0/8 trust\n" +
	"host all all ::1/128 trust\n"

// loopback is the access of a server to which none was given.
func loopback() *Access {
	rules, err := hba.Parse(loopbackRules)
	if err != nil {
		panic(err) // it is a constant
	}
	return &Access{Rules: rules}
}

// SetAccess replaces the access of the connections that come from now on.
func (s *Server) SetAccess(a Access) { s.access.Store(&a) }

// admit lets a client in by the first rule that fits it, or returns the error to send. A client
// whose rule asks for a password proves here that it knows it.
func (c *conn) admit(ctx context.Context, o *sql.SessionOptions) (sql.Login, error) {
	access := c.server.access.Load()
	login, err := c.server.engine.Login(ctx, o.User)
	if err != nil {
		return login, err
	}
	database := o.Database
	if database == "" {
		database = o.User
	}
	who := &hba.Connection{Database: database, User: o.User, TLS: c.tls != nil,
		Address: addressOf(c.net.RemoteAddr()), Local: networks, Member: login.Member}
	rule := access.Rules.Match(who)
	if rule == nil || rule.Method == hba.Reject {
		return login, refusal(rule, who)
	}
	if err := rule.CertifiedAs(o.User, c.certificate()); err != nil {
		return login, sqlerr.New(sqlerr.InvalidAuthorization, "%s", err)
	}
	if rule.Method == hba.Scram {
		return login, c.authenticate(access, o.User, &login)
	}
	return login, nil
}

// certificate is what the client has shown and the handshake has verified, or nil.
func (c *conn) certificate() *x509.Certificate {
	if c.tls == nil {
		return nil
	}
	if chain := c.tls.ConnectionState().PeerCertificates; len(chain) > 0 {
		return chain[0]
	}
	return nil
}

// refusal is PostgreSQL's error for a connection that no rule fits, or one that says reject.
func refusal(rule *hba.Rule, who *hba.Connection) error {
	encryption, host := "no encryption", "[local]"
	if who.TLS {
		encryption = "SSL encryption"
	}
	if who.Address.IsValid() {
		host = who.Address.String()
	}
	if rule != nil {
		return sqlerr.New(sqlerr.InvalidAuthorization, "pg_hba.conf rejects connection for host "+
			"\"%s\", user \"%s\", database \"%s\", %s", host, who.User, who.Database, encryption)
	}
	err := sqlerr.New(sqlerr.InvalidAuthorization, "no pg_hba.conf entry for host \"%s\", "+
		"user \"%s\", database \"%s\", %s", host, who.User, who.Database, encryption)
	return err.WithHint("The server's file hba.conf has the rules: which clients may come in, " +
		"from where, and how.")
}

// addressOf is the address of a client; invalid for what is not a TCP connection.
func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// networks are those of this machine's interfaces.
func networks() (out []netip.Prefix) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// expired reports whether a password is not valid any more.
func expired(l *sql.Login) bool {
	return l.ValidUntil != nil && time.Now().UnixMicro() >= *l.ValidUntil
}
