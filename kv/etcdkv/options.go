package etcdkv

import (
	"crypto/tls"
	"time"

	"github.com/minidb/minidb/kv"
)

// Options name a cluster, and what is known of it.
type Options struct {
	// Endpoints are the members, as host:port or URL.
	Endpoints []string
	// Prefix begins all keys. Stores with different prefixes share a cluster, as long as none is
	// the beginning of another.
	Prefix string
	// MaxOps is the cluster's --max-txn-ops. Zero is 128, as there.
	MaxOps int
	// MaxBytes is the cluster's --max-request-bytes. Zero is 1.5 MiB, as there.
	MaxBytes int
	// Try bounds one attempt of a request; zero is two seconds. Reads are tried again, elsewhere if
	// need be, for as long as their context lasts.
	Try time.Duration
	// Patience is for how long reads may be tried in vain until they return kv.ErrUnavailable; zero
	// is ten seconds.
	Patience time.Duration
	// TLS is used for all connections; nil means that they are not encrypted.
	TLS *tls.Config
	// User and Password log in; an empty User does not.
	User, Password string
}

func (o *Options) setDefaults() {
	if o.MaxOps == 0 {
		o.MaxOps = 128
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 3 << 19
	}
	if o.Try == 0 {
		o.Try = 2 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
}

// limits returns those of an update. A request has one condition for each row, and its writes with
// a guard for each row; the keys of conditions and guards, and their framing, take half of it.
func (o *Options) limits() kv.Limits {
	rows := o.MaxOps / 4
	return kv.Limits{Rows: rows, Ops: o.MaxOps - rows, Bytes: o.MaxBytes / 2, Value: o.MaxBytes / 4}
}
