package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
)

// OpenURL is the kv.Opener of tikv://pd:2379,pd:2379/path; see FromURL.
func OpenURL(ctx context.Context, u kv.URL) (kv.Engine, error) {
	o, err := FromURL(u)
	if err != nil {
		return nil, err
	}
	return Open(ctx, o)
}

// FromURL reads the options of tikv://pd:2379,pd:2379/path. The hosts are members of PD, and the
// path names the store in the cluster; stores with different paths do not meet. Behind a question
// mark may be:
//
//	keep            Options.Keep, as 5m
//	ca, cert, key   files in PEM: TLS, and this client's own certificate
func FromURL(u kv.URL) (o Options, err error) {
	if len(u.Hosts) == 0 {
		return o, errors.New("tikvkv: the URL names no member of PD: tikv://pd:2379/path is " +
			"expected")
	}
	o.Endpoints = u.Hosts
	path := u.Path
	if path == "" {
		path = "minidb"
	}
	// No path holds a zero byte, so no prefix is the beginning of another. TiDB's keys begin with
	// other bytes.
	o.Prefix = "_minidb/" + path + "\x00"
	for name, values := range u.Options {
		value := values[len(values)-1]
		switch name {
		case "keep":
			o.Keep, err = time.ParseDuration(value)
			if err == nil && o.Keep < leastKeep {
				err = fmt.Errorf("%s is too short: statements have to end within it", value)
			}
		case "ca":
			o.CA = value
		case "cert":
			o.Cert = value
		case "key":
			o.Key = value
		default:
			return o, fmt.Errorf("tikvkv: unknown option %q in the URL: keep, ca, cert and key "+
				"are known", name)
		}
		if err != nil {
			return o, fmt.Errorf("tikvkv: option %s of the URL: %w", name, err)
		}
	}
	switch {
	case (o.Cert == "") != (o.Key == ""):
		return o, errors.New("tikvkv: cert and key in the URL belong together")
	case o.Cert != "" && o.CA == "":
		return o, errors.New("tikvkv: cert and key in the URL need ca: without it connections " +
			"are not encrypted")
	}
	return o, nil
}

// leastKeep is longer than the patience of a commit.
const leastKeep = time.Minute
