package scram

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// prove is the client's last message for a password, with a given header and binding.
func prove(t *testing.T, password, bare, serverFirst, header, binding string) string {
	t.Helper()
	var nonce, salt string
	for f := range strings.SplitSeq(serverFirst, ",") {
		switch f[:2] {
		case "r=":
			nonce = f[2:]
		case "s=":
			salt = f[2:]
		}
	}
	raw, err := base64.StdEncoding.DecodeString(salt)
	require.NoError(t, err)
	without := "c=" + base64.StdEncoding.EncodeToString([]byte(header+binding)) + ",r=" + nonce
	return without + ",p=" + base64.StdEncoding.EncodeToString(
		clientProof(t, password, raw, bare+","+serverFirst+","+without))
}

// clientProof is RFC 5802 §3's ClientProof.
func clientProof(t *testing.T, password string, salt []byte, exchange string) []byte {
	t.Helper()
	v, err := New(password, salt, Iterations)
	require.NoError(t, err)
	salted, err := pbkdf2.Key(sha256.New, password, salt, Iterations, sha256.Size)
	require.NoError(t, err)
	client := Sign(salted, "Client Key")
	signature := Sign(v.StoredKey, exchange)
	for i := range client {
		client[i] ^= signature[i]
	}
	return client
}

// TestTheMessagesOfRFC7677 is the whole exchange of RFC 7677 §3, byte for byte.
func TestTheMessagesOfRFC7677(t *testing.T) {
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	require.NoError(t, err)
	v, err := New("pencil", salt, 4096)
	require.NoError(t, err)
	e, err := NewExchange(v, Mechanism, nil)
	require.NoError(t, err)
	got, err := e.answer([]byte("n,,n=user,r=rOprNGfwEbeRWgbNEkqO"),
		"%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
	require.NoError(t, err)
	require.Equal(t, "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"+
		"s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", string(got))
	last, proved, err := e.Final([]byte("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF" +
		"$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="))
	require.NoError(t, err)
	require.True(t, proved)
	require.Equal(t, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", string(last))
}

// TestAttacksOnTheExchange: what one in the middle may try, and messages that are none.
func TestAttacksOnTheExchange(t *testing.T) {
	v, err := Random("secret")
	require.NoError(t, err)
	const bare, plain, bound = "n=,r=abc", "n,,", "p=tls-server-end-point,,"
	for _, x := range []struct {
		name, mechanism, binding, first string
		header, sent                    string // of the last message
		password, code, detail          string
	}{
		{name: "plain", mechanism: Mechanism, first: plain, header: plain},
		{name: "plain over TLS", mechanism: Mechanism, binding: "hash", first: plain,
			header: plain},
		{name: "bound", mechanism: MechanismPlus, binding: "hash", first: bound, header: bound,
			sent: "hash"},
		{name: "a client that could bind, without TLS", mechanism: Mechanism, first: "y,,",
			header: "y,,"},
		{name: "PLUS was taken from the list", mechanism: Mechanism, binding: "hash", first: "y,,",
			code: sqlerr.InvalidAuthorization, detail: "thinks the server does not"},
		{name: "the certificate of another", mechanism: MechanismPlus, binding: "hash",
			first: bound, header: bound, sent: "evil", code: sqlerr.InvalidAuthorization},
		{name: "the flag changed on the way", mechanism: Mechanism, first: plain, header: "y,,",
			code: sqlerr.InvalidAuthorization},
		{name: "PLUS without TLS", mechanism: MechanismPlus, code: sqlerr.ProtocolViolation},
		{name: "PLUS, not bound", mechanism: MechanismPlus, binding: "hash", first: plain,
			code: sqlerr.ProtocolViolation},
		{name: "bound, not PLUS", mechanism: Mechanism, binding: "hash", first: bound,
			code: sqlerr.ProtocolViolation},
		{name: "another kind of binding", mechanism: MechanismPlus, binding: "hash",
			first: "p=tls-unique,,", code: sqlerr.ProtocolViolation},
		{name: "another mechanism", mechanism: "PLAIN", code: sqlerr.ProtocolViolation},
		{name: "an identity", mechanism: Mechanism, first: "n,a=other,",
			code: sqlerr.FeatureNotSupported},
		{name: "no flag", mechanism: Mechanism, first: "x,,", code: sqlerr.ProtocolViolation},
		{name: "an end", mechanism: Mechanism, first: "n", code: sqlerr.ProtocolViolation},
		{name: "a wrong password", mechanism: Mechanism, first: plain, header: plain,
			password: "guess", code: "no"},
	} {
		t.Run(x.name, func(t *testing.T) {
			var binding []byte
			if x.binding != "" {
				binding = []byte(x.binding)
			}
			e, err := NewExchange(v, x.mechanism, binding)
			var reply []byte
			if err == nil {
				reply, err = e.First([]byte(x.first + bare))
			}
			proved := false
			if err == nil {
				password := "secret"
				if x.password != "" {
					password = x.password
				}
				_, proved, err = e.Final([]byte(prove(t, password, bare, string(reply), x.header,
					x.sent)))
			}
			require.Equal(t, x.code == "", proved)
			if x.code == "no" || x.code == "" {
				require.NoError(t, err)
				return
			}
			var se *sqlerr.Error
			require.ErrorAs(t, err, &se)
			require.Equal(t, x.code, se.Code)
			require.Contains(t, se.Detail, x.detail)
		})
	}
}

// TestAnswersThatAreReplayed: a proof is for the nonce of one exchange.
func TestAnswersThatAreReplayed(t *testing.T) {
	v, err := Random("secret")
	require.NoError(t, err)
	first, err := NewExchange(v, Mechanism, nil)
	require.NoError(t, err)
	reply, err := first.First([]byte("n,,n=,r=abc"))
	require.NoError(t, err)
	last := prove(t, "secret", "n=,r=abc", string(reply), "n,,", "")
	second, err := NewExchange(v, Mechanism, nil)
	require.NoError(t, err)
	_, err = second.First([]byte("n,,n=,r=abc"))
	require.NoError(t, err)
	_, proved, err := second.Final([]byte(last))
	require.False(t, proved)
	require.ErrorContains(t, err, "invalid SCRAM response")
	_, proved, err = first.Final([]byte(last))
	require.NoError(t, err)
	require.True(t, proved)
}

// TestUnknownUsersLookLikeOthers: the same salt at each attempt, another for another name or
// secret, and no proof.
func TestUnknownUsersLookLikeOthers(t *testing.T) {
	a, b := Unknown("ann", []byte("s")), Unknown("ann", []byte("s"))
	require.Equal(t, a, b)
	require.Len(t, a.Salt, SaltBytes)
	require.Equal(t, Iterations, a.Iterations)
	require.NotEqual(t, a.Salt, Unknown("bob", []byte("s")).Salt)
	require.NotEqual(t, a.Salt, Unknown("ann", []byte("t")).Salt)
	require.False(t, a.Proves("x", make([]byte, 32)))
}

// FuzzExchange: no message makes the server's side panic or accept.
func FuzzExchange(f *testing.F) {
	f.Add([]byte("n,,n=,r=abc"), []byte("c=biws,r=abc,p=AAAA"))
	f.Add([]byte("p=tls-server-end-point,,n=u,r=x"), []byte("c=,r=,p="))
	v, err := Random("secret")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, first, last []byte) {
		for _, mechanism := range []string{Mechanism, MechanismPlus} {
			e, err := NewExchange(v, mechanism, []byte("hash"))
			require.NoError(t, err)
			if _, err := e.First(first); err != nil {
				continue
			}
			_, proved, _ := e.Final(last)
			require.False(t, proved)
		}
	})
}
