package cli

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
)

// storeOptions are the flags of a store that several processes share.
type storeOptions struct {
	url               string
	listen, advertise string
	cert, key, ca     string
}

func (o *storeOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.url, "store", "",
		"instead of a data directory: pebble:DIR, or a store that several processes share, as "+
			"etcd://HOST:2379,HOST:2379/PATH")
	o.oracleFlags(fs)
}

// oracleFlags are those of the timestamps of a shared store.
func (o *storeOptions) oracleFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.listen, "oracle-listen", "",
		"HOST:PORT where this process serves timestamps to the others of a shared store when it "+
			"is its turn (default: 127.0.0.1 and a free port, if the store is on this machine)")
	fs.StringVar(&o.advertise, "oracle-advertise", "",
		"HOST:PORT at which the others reach it (default: where it listens)")
	fs.StringVar(&o.cert, "oracle-cert", "",
		"certificate of this process, in PEM: timestamps travel by TLS, both sides proved")
	fs.StringVar(&o.key, "oracle-key", "", "its private key, in PEM")
	fs.StringVar(&o.ca, "oracle-ca", "",
		"certificates of the authorities that sign those of the other processes, in PEM")
}

// place returns what minidb.Open takes, given what --data says.
func (o *storeOptions) place(data string) string {
	if o.url != "" {
		return o.url
	}
	return data
}

// directory returns where the files of the store are, given what --data says; "" for none.
func (o *storeOptions) directory(data string) string {
	if o.shared() {
		return ""
	}
	return strings.TrimPrefix(o.place(data), "pebble:")
}

// shared reports whether the store may be shared.
func (o *storeOptions) shared() bool { return kv.IsURL(o.url) }

func (o *storeOptions) check() error {
	switch {
	case o.url != "" && !o.shared() && !strings.HasPrefix(o.url, "pebble:"):
		return usageError("--store takes pebble:DIR or a URL")
	case (o.cert == "") != (o.key == ""), (o.cert == "") != (o.ca == ""):
		return usageError("--oracle-cert, --oracle-key and --oracle-ca belong together")
	case !o.shared() && (o.listen != "" || o.advertise != "" || o.cert != ""):
		return usageError("--oracle-… is for a --store that several processes share")
	}
	return nil
}

// options returns those of minidb.Open.
func (o *storeOptions) options() ([]minidb.Option, error) {
	opts := []minidb.Option{minidb.OracleAddress(o.listen, o.advertise)}
	for scheme, open := range engines {
		opts = append(opts, minidb.Engine(scheme, open))
	}
	if o.cert == "" {
		return opts, nil
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, err
	}
	pool, err := authorities(o.ca)
	if err != nil {
		return nil, err
	}
	return append(opts, minidb.OracleTLS(&tls.Config{Certificates: []tls.Certificate{pair},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		MinVersion: tls.VersionTLS13})), nil
}

// open opens the store, or the directory that --data names.
func (o *storeOptions) open(data string, opts ...minidb.Option) (*minidb.DB, error) {
	own, err := o.options()
	if err != nil {
		return nil, err
	}
	db, err := minidb.Open(o.place(data), append(own, opts...)...)
	return db, advisedOfScheme(err)
}

// advisedOfScheme adds to the error of a store that this program cannot open which one can.
func advisedOfScheme(err error) error {
	var scheme *kv.SchemeError
	if errors.As(err, &scheme) && (scheme.Scheme == "etcd" || scheme.Scheme == "tikv") {
		return fmt.Errorf("%w; the minidb of kv/%skv/cmd/minidb has one", err, scheme.Scheme)
	}
	return err
}
