package etcdkv_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/minidb/minidb/internal/ports"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
)

// TestURLsWithTLSAndPasswords opens a store on a member that asks for a certificate and a password,
// with the files that the URL names, and not without them.
func TestURLsWithTLSAndPasswords(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	at := secureMember(t, filepath.Join(dir, "data"), cert, key)
	password := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("secret\n"), 0o600))

	open := func(options string) error {
		u, err := kv.ParseURL("etcd://" + at + "/store?" + options)
		require.NoError(t, err)
		o, err := etcdkv.FromURL(u)
		if err != nil {
			return err
		}
		o.Try, o.Patience = time.Second, time.Second
		e, err := etcdkv.Open(ctx, o)
		if err != nil {
			return err
		}
		row := []byte("mkey")
		err = e.Update(ctx, [][]byte{kv.Row(row)}, func(_ kv.Reader, b *kv.Batch) error {
			b.Set(row, []byte("value"))
			return nil
		})
		require.NoError(t, e.Close())
		return err
	}
	files := fmt.Sprintf("ca=%s&cert=%s&key=%s", cert, cert, key)
	require.NoError(t, open(files), "before there are passwords")

	admin := adminOf(t, at, cert, key)
	_, err := admin.UserAdd(ctx, "root", "secret")
	require.NoError(t, err)
	_, err = admin.UserGrantRole(ctx, "root", "root")
	require.NoError(t, err)
	_, err = admin.AuthEnable(ctx)
	require.NoError(t, err)
	require.NoError(t, admin.Close())

	require.NoError(t, open(files+"&user=root&password-file="+password))
	require.Error(t, open(files+"&user=nobody&password-file="+password))
	require.Error(t, open("user=root&password-file="+password), "without TLS")
	require.Error(t, open(fmt.Sprintf("ca=%s&user=root&password-file=%s", cert, password)),
		"without a certificate")
	require.ErrorContains(t, open("ca="+cert+"&cert="+cert), "belong together")
	require.ErrorContains(t, open("compress=1"), "unknown option")
	require.ErrorContains(t, open("max-txn-ops=many"), "max-txn-ops")
	require.ErrorContains(t, open("max-txn-ops=4"), "too small")
}

// secureMember runs a member that asks clients for a certificate, and returns its address.
func secureMember(t *testing.T, dir, cert, key string) string {
	free, err := ports.Free(2)
	require.NoError(t, err)
	c := embed.NewConfig()
	c.Name, c.Dir, c.LogLevel = "secure", dir, "fatal"
	peer, client := at(free[0]), at(free[1])
	client.Scheme = "https"
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.InitialCluster = "secure=" + peer.String()
	c.ClientTLSInfo = transport.TLSInfo{CertFile: cert, KeyFile: key, TrustedCAFile: cert,
		ClientCertAuth: true}
	e, err := embed.StartEtcd(c)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return client.Host
}

// adminOf returns a client that may do everything until there are passwords.
func adminOf(t *testing.T, at, cert, key string) *clientv3.Client {
	info := transport.TLSInfo{CertFile: cert, KeyFile: key, TrustedCAFile: cert}
	conf, err := info.ClientConfig()
	require.NoError(t, err)
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + at}, TLS: conf})
	require.NoError(t, err)
	return c
}

// selfSigned writes a certificate for 127.0.0.1 that is its own authority, and its key.
func selfSigned(t *testing.T, dir string) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<33, 0),
		Subject: pkix.Name{CommonName: "minidb"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind,
			Bytes: bytes}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", raw)
}
