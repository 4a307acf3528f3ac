package hba

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// about asks the rules about a connection: "host user@database address [tls]".
func about(rs Rules, user, database, address string, tls bool) string {
	c := &Connection{User: user, Database: database, TLS: tls,
		Local: func() []netip.Prefix {
			return []netip.Prefix{netip.MustParsePrefix("192.168.7.5/24")}
		},
		Member: func(role string) bool { return role == "ops" && user == "ann" || role == user },
	}
	if address != "" {
		c.Address = netip.MustParseAddr(address)
	}
	if r := rs.Match(c); r != nil {
		return fmt.Sprintf("%d %s", r.Line, r.Method)
	}
	return "none"
}

// TestTheFirstRuleThatFitsDecides walks through what a rule may say of a connection.
func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	rs, err := Parse(strings.TrimLeft(`
# comment
local     all        all                            trust
host      all        evil            all            reject   # before the others
host      app,"all"  app             127.0.0.1/32   trust
hostssl   sameuser   all             10.0.0.0  255.0.0.0  scram-sha-256 clientcert=verify-ca
hostssl   samerole   all             10.0.0.0/8     md5
hostnossl all        all             10.0.0.0/8     reject
host      all        +ops            ::1/128        trust
host      db         "+ops"          ::1/128        cert`, "\n"))
	require.Nil(t, rs)
	require.EqualError(t, err,
		"line 9: cert authentication is only supported on hostssl connections")

	rs, err = Parse(`local     all        all                            trust
host      all        evil            all            reject   # before the others
host      app,"all"  app             127.0.0.1/32   trust
hostssl   sameuser   all             10.0.0.0  255.0.0.0  scram-sha-256 clientcert=verify-ca
hostssl   samerole   all             10.0.0.0/8     md5
hostnossl all        all             10.0.0.0/8     reject
host      all        +ops            ::1/128        trust
host      db         "+ops"          ::1/128        \
  trust
host      all        all             samehost       scram-sha-256
host      all        all             samenet        reject
`)
	require.NoError(t, err)
	for _, x := range []struct {
		user, database, address string
		tls                     bool
		want                    string
	}{
		{"x", "d", "", false, "1 trust"},
		{"evil", "app", "127.0.0.1", false, "2 reject"},
		{"app", "app", "127.0.0.1", false, "3 trust"},
		{"app", "app", "::ffff:127.0.0.1", false, "3 trust"},
		{"app", "all", "127.0.0.1", false, "3 trust"},
		{"app", "other", "127.0.0.1", false, "none"},
		{"app", "app", "127.0.0.2", false, "none"},
		{"ann", "ann", "10.1.2.3", true, "4 scram-sha-256"},
		{"ann", "ops", "10.1.2.3", true, "5 scram-sha-256"},
		{"bob", "ops", "10.1.2.3", true, "none"},
		{"bob", "ops", "10.1.2.3", false, "6 reject"},
		{"ann", "d", "::1", false, "7 trust"},
		{"+ops", "db", "::1", false, "8 trust"},
		{"bob", "db", "::1", false, "none"},
		{"bob", "db", "192.168.7.5", false, "10 scram-sha-256"},
		{"bob", "db", "192.168.7.6", false, "11 reject"},
		{"bob", "db", "192.168.8.6", false, "none"},
	} {
		require.Equal(t, x.want, about(rs, x.user, x.database, x.address, x.tls), "%+v", x)
	}
}

// TestAFileWithALineThatIsWrongHasNoRules: what is not supported is named, and never skipped.
func TestAFileWithALineThatIsWrongHasNoRules(t *testing.T) {
	for _, x := range [][2]string{
		{"hots all all all trust",
			`invalid connection type "hots"`},
		{"host all all",
			"the line ends before its address"},
		{"host all all all",
			"the line ends before its method"},
		{"host all all 10.0.0.0/33 trust",
			`invalid CIDR mask in address "10.0.0.0/33"`},
		{"host all all 10.0.0.0 255.0.255.0 trust",
			`invalid IP mask "255.0.255.0"`},
		{"host all all 10.0.0.0 trust",
			`invalid IP mask "trust"`},
		{"host all all example.org trust",
			`names of hosts are not supported: "example.org"`},
		{"host all all all ldap",
			`authentication method "ldap" is not supported`},
		{"host all all all password",
			`authentication method "password" is not`},
		{"host all all all nope",
			`invalid authentication method "nope"`},
		{"host all all all trust x",
			"authentication option not in name=value format: x"},
		{"host all all all trust clientcert=verify-ca",
			`clientcert can only be configured for "hostssl"`},
		{"hostssl all all all trust clientcert=1",
			`invalid value for clientcert: "1"`},
		{"hostssl all all all cert map=x",
			`authentication option "map" is not supported`},
		{"hostssl all all all cert clientcert=verify-ca",
			`clientcert only accepts "verify-full"`},
		{"host all \"x all trust",
			"a quote is not closed"},
		{"host a,,b all all trust",
			"a name is missing beside a comma"},
		{"host @file all all trust",
			"files of names and patterns are not supported: @file"},
		{"include other.conf",
			"included files are not supported: include"},
		{"hostgssenc all all all gss",
			"connections with GSSAPI encryption are not supported"},
	} {
		rs, err := Parse("local all all trust\n" + x[0])
		require.Nil(t, rs, x[0])
		require.ErrorContains(t, err, x[1])
		var pe *ParseError
		require.True(t, errors.As(err, &pe))
		require.Equal(t, 2, pe.Line)
	}
}

func TestCertificatesOfClients(t *testing.T) {
	ann := &x509.Certificate{Subject: pkix.Name{CommonName: "ann"}}
	require.NoError(t, (&Rule{}).CertifiedAs("bob", nil))
	require.NoError(t, (&Rule{ClientCert: VerifyCA}).CertifiedAs("bob", ann))
	require.NoError(t, (&Rule{ClientCert: VerifyFull}).CertifiedAs("ann", ann))
	require.EqualError(t, (&Rule{ClientCert: VerifyFull}).CertifiedAs("bob", ann),
		"certificate authentication failed for user \"bob\"")
	require.EqualError(t, (&Rule{ClientCert: VerifyCA}).CertifiedAs("bob", nil),
		"connection requires a valid client certificate")
}

// FuzzParse: no text makes the parser panic, and what it reads gives the same rules again.
func FuzzParse(f *testing.F) {
	f.Add("local all all trust\nhost a,\"b c\" +d 10.0.0.0/8 scram-sha-256 # x\n")
	f.Add("host all all ::1 ffff:: reject")
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := Parse(text)
		if err != nil {
			require.Nil(t, rs)
			return
		}
		for i := range rs {
			require.NotEmpty(t, rs[i].Databases)
			require.NotEmpty(t, rs[i].Users)
		}
	})
}
