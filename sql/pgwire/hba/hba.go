// Package hba reads PostgreSQL's host-based authentication file (pg_hba.conf) and decides by it how
// a client must prove its user.
//
// A line is a rule; the first that fits a connection decides, and a connection that no rule fits is
// refused:
//
//	# type     database  user      address        method
//	host       all       all       127.0.0.1/32   trust
//	hostssl    app,test  app,+ops  10.0.0.0/8     scram-sha-256  clientcert=verify-ca
//	hostnossl  all       all       all            reject
//
// Methods: trust, reject, scram-sha-256, cert. "md5" is scram-sha-256 here, as it is in PostgreSQL
// for passwords that are kept as such. What PostgreSQL has beyond that (other methods, names of
// hosts, included files, maps of users) is an error of the file, by name and line: a rule that was
// skipped could let a client in.
package hba

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Method is how a client proves its user.
type Method string

// The methods.
const (
	Trust  Method = "trust"         // it need not
	Reject Method = "reject"        // it cannot
	Scram  Method = "scram-sha-256" // by a password that it does not send
	Cert   Method = "cert"          // by its certificate, whose common name is the user's
)

// ClientCert is what a rule asks of a client's certificate.
type ClientCert uint8

// What a rule may ask.
const (
	NoCert     ClientCert = iota
	VerifyCA              // one that an authority of the server's has signed
	VerifyFull            // and it names the user
)

// Rule is a line of the file.
type Rule struct {
	Line       int
	Type       string // local, host, hostssl, hostnossl
	Databases  []Name
	Users      []Name
	Addresses  netip.Prefix // zero: see Anywhere; local rules have none
	Anywhere   bool         // all
	Same       string       // samehost, samenet
	Method     Method
	ClientCert ClientCert
}

// Name is a database or user of a rule.
type Name struct {
	Text   string
	Quoted bool // key words and +group have no meaning in quotes
}

// Rules are the lines in their order.
type Rules []Rule

// Connection is what rules are asked about.
type Connection struct {
	Database, User string
	// Address of the client; invalid for a socket of this machine or a pipe within the process.
	Address netip.Addr
	TLS     bool
	// Local are the networks of this machine's interfaces, for samehost and samenet.
	Local func() []netip.Prefix
	// Member reports whether the user is a member of a role.
	Member func(role string) bool
}

// Match returns the first rule that fits, or nil.
func (rs Rules) Match(c *Connection) *Rule {
	for i := range rs {
		if r := &rs[i]; r.fitsPlace(c) && r.fitsDatabase(c) && r.fitsUser(c) {
			return r
		}
	}
	return nil
}

func (r *Rule) fitsPlace(c *Connection) bool {
	if !c.Address.IsValid() {
		return r.Type == "local"
	}
	switch {
	case r.Type == "local", r.Type == "hostssl" && !c.TLS, r.Type == "hostnossl" && c.TLS:
		return false
	case r.Anywhere:
		return true
	}
	addr := c.Address.Unmap().WithZone("")
	if r.Same == "" {
		return r.Addresses.Contains(addr)
	}
	return slices.ContainsFunc(c.Local(), func(p netip.Prefix) bool {
		return r.Same == "samenet" && p.Contains(addr) || p.Addr() == addr
	})
}

func (r *Rule) fitsDatabase(c *Connection) bool {
	return slices.ContainsFunc(r.Databases, func(n Name) bool {
		switch {
		case n.Quoted:
			return n.Text == c.Database
		case n.Text == "all":
			return true
		case n.Text == "sameuser":
			return c.Database == c.User
		case n.Text == "samerole", n.Text == "samegroup":
			return c.Member(c.Database)
		case n.Text == "replication": // such connections are refused before
			return false
		}
		return n.Text == c.Database
	})
}

func (r *Rule) fitsUser(c *Connection) bool {
	return slices.ContainsFunc(r.Users, func(n Name) bool {
		switch group, isGroup := strings.CutPrefix(n.Text, "+"); {
		case n.Quoted:
			return n.Text == c.User
		case n.Text == "all":
			return true
		case isGroup:
			return c.Member(group)
		}
		return n.Text == c.User
	})
}

// CertifiedAs checks the certificate that a client has shown, which the handshake has verified, as
// the rule asks. A nil certificate is none.
func (r *Rule) CertifiedAs(user string, cert *x509.Certificate) error {
	switch {
	case r.ClientCert == NoCert:
		return nil
	case cert == nil:
		return fmt.Errorf("connection requires a valid client certificate")
	case r.ClientCert == VerifyFull && cert.Subject.CommonName != user:
		return fmt.Errorf("certificate authentication failed for user \"%s\"", user)
	}
	return nil
}
