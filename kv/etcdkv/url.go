package etcdkv

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/minidb/minidb/kv"
)

// OpenURL is the kv.Opener of etcd://host:2379,host:2379/path; see FromURL.
func OpenURL(ctx context.Context, u kv.URL) (kv.Engine, error) {
	o, err := FromURL(u)
	if err != nil {
		return nil, err
	}
	return Open(ctx, o)
}

// FromURL reads the options of etcd://host:2379,host:2379/path. The path names the store in the
// cluster; stores with different paths do not meet. Behind a question mark may be:
//
//	max-txn-ops, max-request-bytes   the cluster's flags of the same names
//	ca, cert, key                    files in PEM: TLS, and this client's own certificate
//	user, password-file              login; the file holds the password alone
func FromURL(u kv.URL) (o Options, err error) {
	if len(u.Hosts) == 0 {
		return o, errors.New("etcdkv: the URL names no member: etcd://host:2379/path is expected")
	}
	// No path holds a zero byte, so no prefix is the beginning of another.
	o.Prefix = u.Path + "\x00"
	if u.Path == "" {
		o.Prefix = "minidb\x00"
	}
	files := map[string]string{}
	for name, values := range u.Options {
		value := values[len(values)-1]
		switch name {
		case "max-txn-ops":
			o.MaxOps, err = strconv.Atoi(value)
		case "max-request-bytes":
			o.MaxBytes, err = strconv.Atoi(value)
		case "user":
			o.User = value
		case "ca", "cert", "key", "password-file":
			files[name] = value
		default:
			return o, fmt.Errorf("etcdkv: unknown option %q in the URL", name)
		}
		if err != nil {
			return o, fmt.Errorf("etcdkv: option %s of the URL: %w", name, err)
		}
	}
	if name := files["password-file"]; name != "" {
		password, err := os.ReadFile(name)
		if err != nil {
			return o, fmt.Errorf("etcdkv: %w", err)
		}
		o.Password = strings.TrimRight(string(password), "\r\n")
	}
	if o.TLS, err = tlsOf(files["ca"], files["cert"], files["key"]); err != nil {
		return o, fmt.Errorf("etcdkv: %w", err)
	}
	scheme := "http://"
	if o.TLS != nil {
		scheme = "https://"
	}
	for _, host := range u.Hosts {
		o.Endpoints = append(o.Endpoints, scheme+host)
	}
	return o, nil
}

// tlsOf returns the configuration of files, and nil without any.
func tlsOf(ca, cert, key string) (*tls.Config, error) {
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("cert and key belong together")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
