package kv_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/stretchr/testify/require"
)

func TestURLs(t *testing.T) {
	u, err := kv.ParseURL("etcd://a:2379,b:2379,[::1]:2379/app/one?max-txn-ops=512")
	require.NoError(t, err)
	require.Equal(t, kv.URL{Scheme: "etcd", Hosts: []string{"a:2379", "b:2379", "[::1]:2379"},
		Path: "app/one", Options: url.Values{"max-txn-ops": {"512"}}}, u)
	require.Equal(t, "etcd://a:2379,b:2379,[::1]:2379/app/one?max-txn-ops=512", u.String())

	u, err = kv.ParseURL("ETCD://a")
	require.NoError(t, err)
	require.Equal(t, kv.URL{Scheme: "etcd", Hosts: []string{"a"}, Options: url.Values{}}, u)

	for text, is := range map[string]bool{"etcd://a/b": true, "dir": false, "/abs/dir": false,
		"./x://y": false, "://x": false, `c:\dir`: false} {
		require.Equal(t, is, kv.IsURL(text), text)
	}
	for _, bad := range []string{"etcd", "etcd://user:secret@a/b", "etcd://a?%zz"} {
		_, err := kv.ParseURL(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestSchemes(t *testing.T) {
	all := kv.Openers{"test": func(context.Context, kv.URL) (kv.Engine, error) {
		return memkv.New(memkv.Options{}), nil
	}}
	e, err := all.Open(context.Background(), kv.URL{Scheme: "test"})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	_, err = all.Open(context.Background(), kv.URL{Scheme: "other"})
	require.EqualError(t, err, "this program has no engine for other:// stores, only for test")
	_, err = kv.Openers(nil).Open(context.Background(), kv.URL{Scheme: "other"})
	require.EqualError(t, err, "this program has no engine for other:// stores")
}
