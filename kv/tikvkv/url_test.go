package tikvkv

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	of := func(text string) (Options, error) {
		u, err := kv.ParseURL(text)
		require.NoError(t, err)
		return FromURL(u)
	}
	o, err := of("tikv://a:2379,b:2379/app?keep=7m&ca=x&cert=y&key=z")
	require.NoError(t, err)
	require.Equal(t, Options{Endpoints: []string{"a:2379", "b:2379"}, Prefix: "_minidb/app\x00",
		Keep: 7 * time.Minute, CA: "x", Cert: "y", Key: "z"}, o)
	o, err = of("tikv://a:2379")
	require.NoError(t, err)
	require.Equal(t, "_minidb/minidb\x00", o.Prefix)
	for text, want := range map[string]string{
		"tikv:///app":                  "names no member of PD",
		"tikv://a/b?compress=1":        `unknown option "compress"`,
		"tikv://a/b?keep=long":         "option keep",
		"tikv://a/b?keep=1s":           "too short",
		"tikv://a/b?ca=x&cert=y":       "belong together",
		"tikv://a/b?cert=y&key=z":      "need ca",
		"tikv://a/b?user=root&keep=7m": `unknown option "user"`,
	} {
		_, err := of(text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestNoClusterAnswers: opening ends, with an error that says where none was found.
func TestNoClusterAnswers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := l.Addr().String()
	require.NoError(t, l.Close())
	_, err = Open(context.Background(), Options{Endpoints: []string{at}, Prefix: prefix,
		Try: 200 * time.Millisecond, Patience: time.Second})
	require.ErrorIs(t, err, kv.ErrUnavailable)
	require.ErrorContains(t, err, at)
	_, err = Open(context.Background(), Options{Endpoints: []string{at}, CA: "absent.pem"})
	require.ErrorContains(t, err, "absent.pem")
}
