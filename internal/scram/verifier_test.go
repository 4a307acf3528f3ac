package scram

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheExchangeOfRFC7677 replays the example of RFC 7677 §3.
func TestTheExchangeOfRFC7677(t *testing.T) {
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	require.NoError(t, err)
	v, err := New("pencil", salt, 4096)
	require.NoError(t, err)
	const message = "n=user,r=rOprNGfwEbeRWgbNEkqO," +
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0," +
		"s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096," +
		"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
	proof, err := base64.StdEncoding.DecodeString("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	require.NoError(t, err)
	require.True(t, v.Proves(message, proof))
	require.False(t, v.Proves(message+"x", proof))
	require.False(t, v.Proves(message, proof[1:]))
	require.Equal(t, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
		base64.StdEncoding.EncodeToString(v.ServerSignature(message)))
}

func TestAVerifierIsReadAsItIsWritten(t *testing.T) {
	v, err := Random("secret")
	require.NoError(t, err)
	again, ok := Parse(v.String())
	require.True(t, ok)
	require.Equal(t, v, again)
	require.True(t, again.Matches("secret"))
	require.False(t, again.Matches("Secret"))
	for _, text := range []string{"", "secret", "md5c4a2d6c0c4c4b6a9b3d5b0b6b6b6b6b6",
		"SCRAM-SHA-256$4096:AA==$x", "SCRAM-SHA-256$0:AA==$AA==:AA==",
		"SCRAM-SHA-256$4096:AA==$AA==:AA=="} {
		_, ok := Parse(text)
		require.False(t, ok, text)
	}
}

func TestPrepare(t *testing.T) {
	for in, want := range map[string]string{
		"user":               "user",
		"I\u00adX":           "IX",           // RFC 4013 §3: SOFT HYPHEN is dropped
		"\u00aa":             "a",            // NFKC
		"\u2168":             "IX",           // NFKC
		"a\u00a0b":           "a b",          // no-break space
		"\u0007":             "\u0007",       // ASCII is left as it is
		"\u00e9\u0007":       "\u00e9\u0007", // prohibited: as it is
		"\u0627\u0031":       "\u0627\u0031", // a wrong direction: as it is
		"\u0627\u0031\u0628": "\u0627\u0031\u0628",
		"\xff":               "\xff",
	} {
		require.Equal(t, want, Prepare(in), "%q", in)
	}
}
