package pgwire_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire"
	"github.com/minidb/minidb/sql/pgwire/hba"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{pool: x509.NewCertPool()}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true,
		Subject:               pkix.Name{Organization: []string{"minidb"}},
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	a.pool.AddCert(a.cert)
	return a
}

// sign makes a certificate for a common name.
func (a *authority) sign(t testing.TB, name string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
	}, a.cert, key.Public(), a.key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// guarded lets clients in by rules, over TLS if there is an authority.
func guarded(t testing.TB, a *authority, rules string) func(*pgwire.Server) {
	t.Helper()
	parsed, err := hba.Parse(rules)
	require.NoError(t, err)
	access := pgwire.Access{Rules: parsed, Secret: []byte("secret")}
	if a != nil {
		cert := a.sign(t, "server")
		access.TLS = &tls.Config{ClientCAs: a.pool, ClientAuth: tls.VerifyClientCertIfGiven,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return cert, nil
			}}
	}
	return func(s *pgwire.Server) { s.SetAccess(access) }
}

// comesIn returns the SQLSTATE with which a client is refused, "" if it is let in.
func (s *server) comesIn(t testing.TB, user, password string, config *tls.Config) string {
	t.Helper()
	conn, err := s.comeIn(t, user, password, config)
	if err == nil {
		require.NoError(t, conn.Close(context.Background()))
		return ""
	}
	var e *pgconn.PgError
	require.ErrorAs(t, err, &e)
	return e.Code
}

// comeIn connects, in TLS if there is a config.
func (s *server) comeIn(t testing.TB, user, password string, config *tls.Config) (*pgconn.PgConn,
	error) {
	t.Helper()
	mode := "disable"
	if config != nil {
		mode = "require"
	}
	c, err := pgconn.ParseConfig("postgres://127.0.0.1/postgres?sslmode=" + mode)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(s.addr)
	require.NoError(t, err)
	number, err := net.LookupPort("tcp", port)
	require.NoError(t, err)
	c.Host, c.Port, c.User, c.Password, c.TLSConfig = host, uint16(number), user, password, config
	return pgconn.ConnectConfig(context.Background(), c)
}

const roles = `CREATE ROLE ann LOGIN PASSWORD 'a'; CREATE ROLE bob LOGIN;
	CREATE ROLE old LOGIN PASSWORD 'o' VALID UNTIL '2000-01-01';
	CREATE ROLE group1 PASSWORD 'g'; CREATE ROLE md LOGIN
		PASSWORD 'md5aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; GRANT group1 TO ann`

// TestWhoComesIn: by password, with and without TLS, by certificate, and not.
func TestWhoComesIn(t *testing.T) {
	a := newAuthority(t)
	s := serve(t, sql.Options{}, guarded(t, a, "host all postgres all trust\n"+
		"hostssl all bob all cert\nhostssl all +group1 all scram-sha-256\n"+
		"host all all all scram-sha-256\n"))
	s.login(t, nil).query(roles)
	plain := &tls.Config{RootCAs: a.pool, ServerName: "127.0.0.1"}
	with := func(cert *tls.Certificate) *tls.Config {
		c := plain.Clone()
		c.Certificates = []tls.Certificate{*cert}
		return c
	}
	for _, x := range []struct {
		user, password string
		config         *tls.Config
		want           string
	}{
		{"ann", "a", nil, ""}, {"ann", "a", plain, ""}, {"ann", "b", plain, "28P01"},
		{"ann", "", nil, "28P01"}, {"nobody", "a", nil, "28P01"}, {"old", "o", nil, "28P01"},
		{"md", "x", nil, "28P01"}, {"bob", "x", nil, "28P01"}, {"group1", "g", nil, "28000"},
		{"bob", "", with(a.sign(t, "bob")), ""}, {"bob", "", with(a.sign(t, "ann")), "28000"},
		{"bob", "", plain, "28000"}, {"postgres", "", plain, ""},
	} {
		require.Equal(t, x.want, s.comesIn(t, x.user, x.password, x.config), "%+v", x)
	}
}

// TestTheEncryptionIsShown in pg_stat_ssl, by the names that OpenSSL has.
func TestTheEncryptionIsShown(t *testing.T) {
	a := newAuthority(t)
	s := serve(t, sql.Options{}, guarded(t, a, "host all all all trust\n"))
	for _, x := range []struct {
		config *tls.Config
		want   string
	}{
		{nil, "f|||||||"},
		{&tls.Config{MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}},
			"t|TLSv1.2|ECDHE-ECDSA-AES128-GCM-SHA256|128||||"},
		{&tls.Config{MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256}},
			"t|TLSv1.2|ECDHE-ECDSA-CHACHA20-POLY1305|256||||"},
		{&tls.Config{Certificates: []tls.Certificate{*a.sign(t, "postgres")}},
			"t|TLSv1.3|TLS_AES_128_GCM_SHA256|128|/CN=postgres|2|/O=minidb|"},
	} {
		if x.config != nil {
			x.config.RootCAs, x.config.ServerName = a.pool, "127.0.0.1"
		}
		c, err := s.comeIn(t, "postgres", "", x.config)
		require.NoError(t, err)
		rows, err := c.Exec(context.Background(), `SELECT ssl, version, cipher, bits, client_dn,
			client_serial, issuer_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()`).ReadAll()
		require.NoError(t, err)
		got := ""
		for _, value := range rows[0].Rows[0] {
			got += string(value) + "|"
		}
		require.Equal(t, x.want, got)
		require.NoError(t, c.Close(context.Background()))
	}
}

// TestAnUnknownUserLooksLikeOthers: the salt that it is sent is the same at each attempt.
func TestAnUnknownUserLooksLikeOthers(t *testing.T) {
	var hours atomic.Int64
	s := serve(t, sql.Options{}, func(s *pgwire.Server) {
		guarded(t, nil, "host all postgres all trust\nhost all all all scram-sha-256\n")(s)
		s.Clock(func() time.Time { return time.Unix(3600*hours.Add(1), 0) })
	})
	s.login(t, nil).query(roles)
	salt := func(user string) string {
		c := s.dial(t)
		c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608,
			Parameters: map[string]string{"user": user, "database": "postgres"}})
		require.Equal(t, []string{"SCRAM-SHA-256"},
			c.receive().(*pgproto3.AuthenticationSASL).AuthMechanisms)
		c.send(&pgproto3.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256",
			Data: []byte("n,,n=,r=abc")})
		_, rest, ok := bytes.Cut(c.receive().(*pgproto3.AuthenticationSASLContinue).Data,
			[]byte(",s="))
		require.True(t, ok)
		return string(rest)
	}
	for _, user := range []string{"nobody", "bob", "ann", "old"} {
		require.Equal(t, salt(user), salt(user), user)
		require.True(t, strings.HasSuffix(salt(user), ",i=4096"))
	}
	require.NotEqual(t, salt("nobody"), salt("somebody"))
	require.NotEqual(t, salt("nobody"), salt("ann"))
}

// TestGuessingIsSlow: an address has a few attempts and then one in a while; a client that knows
// the password loses none.
func TestGuessingIsSlow(t *testing.T) {
	var seconds atomic.Int64
	s := serve(t, sql.Options{}, func(s *pgwire.Server) {
		guarded(t, nil, "host all postgres all trust\nhost all all all scram-sha-256\n")(s)
		s.Clock(func() time.Time { return time.Unix(seconds.Load(), 0) })
	})
	s.login(t, nil).query(roles)
	for range 3 * pgwire.AttemptsAtOnce {
		require.Empty(t, s.comesIn(t, "ann", "a", nil))
	}
	for range pgwire.AttemptsAtOnce {
		require.Equal(t, "28P01", s.comesIn(t, "ann", "guess", nil))
	}
	require.Equal(t, "28000", s.comesIn(t, "ann", "a", nil))
	require.Empty(t, s.comesIn(t, "postgres", "", nil), "who is not asked is not limited")
	seconds.Add(4)
	require.Empty(t, s.comesIn(t, "ann", "a", nil))
}

// TestWhatIsSentBeforeTLSIsRefused: bytes behind the request, in the clear, could be an attacker's
// (CVE-2021-23214).
func TestWhatIsSentBeforeTLSIsRefused(t *testing.T) {
	s := serve(t, sql.Options{}, guarded(t, newAuthority(t), "host all all all trust\n"))
	c := s.dial(t)
	_, err := c.conn.Write(append(startup(80877103, ""), "QUERY"...))
	require.NoError(t, err)
	require.Equal(t, "08P01", c.fatal())
}

// TestTLSIsNotAskedForTwice: a rule for TLS lets no plain text in, and a second request for TLS is
// none.
func TestTLSIsNotAskedForTwice(t *testing.T) {
	a := newAuthority(t)
	s := serve(t, sql.Options{}, guarded(t, a, "hostssl all all all trust\n"))
	require.Equal(t, "28000", s.comesIn(t, "postgres", "", nil), "plain text is not let in")
	c := s.encrypted(t, a)
	_, err := c.conn.Write(startup(80877103, ""))
	require.NoError(t, err)
	require.Equal(t, "08P01", c.fatal())
}

// encrypted is dial with TLS.
func (s *server) encrypted(t testing.TB, a *authority) *client {
	t.Helper()
	c := s.dial(t)
	_, err := c.conn.Write(startup(80877103, ""))
	require.NoError(t, err)
	var reply [1]byte
	_, err = c.conn.Read(reply[:])
	require.NoError(t, err)
	require.Equal(t, "S", string(reply[:]))
	conn := tls.Client(c.conn, &tls.Config{RootCAs: a.pool, ServerName: "127.0.0.1"})
	require.NoError(t, conn.Handshake())
	c.conn = conn
	c.front = pgproto3.NewFrontend(pgproto3.NewChunkReader(bufio.NewReader(conn)), conn)
	return c
}

// TestACancelOverTLSLeavesTheConnectionWhole: a write to a client that does not read is interrupted
// at any byte, and what follows is whole again.
func TestACancelOverTLSLeavesTheConnectionWhole(t *testing.T) {
	a := newAuthority(t)
	l := newPipes()
	s := serveOn(t, l, sql.Options{}, guarded(t, a, "local all all trust\n"))
	other := s.login(t, nil)
	c := s.encrypted(t, a)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608,
		Parameters: map[string]string{"user": "postgres"}})
	for begun := false; !begun; {
		switch m := c.receive().(type) {
		case *pgproto3.BackendKeyData:
			c.pid = m.ProcessID
		case *pgproto3.ReadyForQuery:
			begun = true
		}
	}
	for range 3 {
		c.send(&pgproto3.Query{String: endless})
		c.until("DataRow")
		s.awaitStuck()
		other.query("SELECT pg_cancel_backend(" + pid(c) + ")")
		for {
			if e, ok := c.receive().(*pgproto3.ErrorResponse); ok {
				require.Equal(t, "57014", e.Code)
				break
			}
		}
		c.until("ReadyForQuery")
		require.Contains(t, c.query("SELECT 42"), `"42"`)
	}
}

// TestNoSlotWithoutProof: clients that stop in the middle of the exchange keep no others out.
func TestNoSlotWithoutProof(t *testing.T) {
	s := serve(t, sql.Options{MaxConnections: 2}, guarded(t, nil,
		"host all postgres all trust\nhost all all all scram-sha-256\n"))
	for range 8 {
		c := s.dial(t)
		c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608,
			Parameters: map[string]string{"user": "ann", "database": "postgres"}})
		c.receive()
	}
	require.Empty(t, s.comesIn(t, "postgres", "", nil))
}
