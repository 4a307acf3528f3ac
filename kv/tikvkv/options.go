package tikvkv

import (
	"time"

	"github.com/minidb/minidb/kv"
)

// Options name a cluster, and what is known of it.
type Options struct {
	// Endpoints are the members of PD, as host:port.
	Endpoints []string
	// Prefix begins all keys. Stores with different prefixes share a cluster, as long as none is
	// the beginning of another.
	Prefix string
	// Try bounds one request; zero is five seconds.
	Try time.Duration
	// Patience is for how long a read or a commit may be tried until it fails with
	// kv.ErrUnavailable; zero is ten seconds.
	Patience time.Duration
	// Keep is for how long a snapshot may be read, and the step of an update run, until they are
	// given up. The cluster must keep old versions for that long, and for the Patience of a commit
	// more. Zero is five minutes; TiDB keeps them for ten, unless it is set otherwise.
	Keep time.Duration
	// CA, Cert and Key are files in PEM, for TLS to all servers. Without a CA connections are not
	// encrypted.
	CA, Cert, Key string
}

func (o *Options) setDefaults() {
	if o.Try == 0 {
		o.Try = 5 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Keep == 0 {
		o.Keep = 5 * time.Minute
	}
}

// limits are those of an update. A cluster bounds a single value by its Raft entries (8 MiB). The
// time to live of locks grows with the size of a transaction, and after a crash all wait for it: at
// two MiB for 8.5 seconds, which is within the patience of a read.
var limits = kv.Limits{Rows: 256, Ops: 1024, Bytes: 2 << 20, Value: 1 << 20}
