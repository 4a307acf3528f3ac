package minidb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/tso/elected"
)

// oracleOptions are OracleAddress and OracleTLS.
type oracleOptions struct {
	listen, advertise string
	tls               *tls.Config
}

// sharedLease is how long the locks of a process that was killed hold up the others, at most. It
// outlasts the election of a leader of the store.
const sharedLease = 4 * time.Second

// sharedStore is what a process needs for a store that it shares with others. The zero value is of
// a directory, which needs nothing.
type sharedStore struct {
	source  tso.Source
	elected *elected.Oracle // which is the source, or nil when the store has an oracle of its own
}

func (s *sharedStore) close() error {
	if s.elected == nil {
		return nil
	}
	return s.elected.Close()
}

// openShared opens the store that a URL names.
func (db *DB) openShared(text string, settings map[string]string) error {
	u, err := kv.ParseURL(text)
	if err != nil {
		return fmt.Errorf("minidb: %w", err)
	}
	ctx := context.Background()
	eo := pebblekv.Options{Logger: db.opts.logger} // of temporary tables
	if err := db.boundMemory(&eo); err != nil {
		return err
	}
	db.rowCache, db.columnCache = 0, 0 // they rely on being the only process
	if db.engine, err = db.opts.engines.Open(ctx, u); err != nil {
		db.releaseMemory()
		return fmt.Errorf("minidb: %w", err)
	}
	settings["data_directory"] = u.String()
	err = db.joinShared(ctx, u)
	if err == nil {
		err = db.open("", settings, eo)
	}
	if err != nil {
		close(db.gone)
		db.releaseMemory()
		return fmt.Errorf("minidb: open %s: %w", u, errors.Join(err, db.shared.close(),
			db.engine.Close()))
	}
	return nil
}

// joinShared joins the processes that have the store open.
func (db *DB) joinShared(ctx context.Context, u kv.URL) (err error) {
	if db.opts.mustExist {
		if err := db.mustHoldDatabase(ctx); err != nil {
			return err
		}
	}
	if kv.IsExclusive(db.engine) {
		return nil // txn.Open makes an oracle
	}
	o := db.opts.oracle
	if db.shared.source = tso.OracleOf(db.engine); db.shared.source != nil {
		if o.listen != "" || o.tls != nil {
			return fmt.Errorf("a %s:// store has timestamps of its own: leave out "+
				"minidb.OracleAddress and OracleTLS (minidb serve: --oracle-…)", u.Scheme)
		}
		return db.mustFollowCopy(ctx)
	}
	if o.listen == "" {
		if host := otherMachine(u.Hosts); host != "" {
			return fmt.Errorf("%s is on another machine, from which other processes may use the "+
				"store: say where this one serves timestamps to them (minidb.OracleAddress, or "+
				"minidb serve --oracle-listen HOST:PORT)", host)
		}
		o.listen = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	if at := l.Addr().(*net.TCPAddr); at.IP.IsUnspecified() && o.advertise == "" {
		return errors.Join(fmt.Errorf("%s is no address that other processes can connect to: say "+
			"which one they should use (minidb.OracleAddress, or minidb serve --oracle-advertise "+
			"HOST:PORT)", at), l.Close())
	}
	db.shared.elected, err = elected.Open(ctx, elected.Options{Engine: db.engine,
		Key: txn.OracleKey(), Listener: l, Advertise: o.advertise, TLS: o.tls,
		AcceptClock: db.opts.acceptClock, Logger: db.opts.logger})
	if err != nil {
		return advisedOfClock(err)
	}
	db.shared.source = db.shared.elected
	return nil
}

// mustFollowCopy refuses a store with an oracle of its own into which a copy is not finished, or
// whose oracle has not come past the timestamp of the copy.
func (db *DB) mustFollowCopy(ctx context.Context) error {
	var cell tso.Cell
	err := kv.Repeat(ctx, db.engine, func(r kv.Reader) (err error) {
		cell, err = tso.ReadCell(ctx, r, txn.OracleKey())
		return err
	})
	if err != nil {
		return err
	}
	now, err := db.shared.source.Next(ctx)
	if err == nil && now <= cell.Mark {
		err = fmt.Errorf("the store holds a copy as of %s, and its own timestamps are at %s only: "+
			"wait until they are past that, or set the clocks of its servers",
			cell.Mark.Moment(), now.Moment())
	}
	return err
}

// mustHoldDatabase refuses a store in which no process has opened a database yet: it holds nothing.
func (db *DB) mustHoldDatabase(ctx context.Context) error {
	return kv.Repeat(ctx, db.engine, func(r kv.Reader) error {
		it, err := r.NewIter(ctx, kv.Span{})
		if err != nil {
			return err
		}
		found := it.First()
		if err := errors.Join(it.Err(), it.Close()); err != nil || found {
			return err
		}
		return errors.New("there is no database")
	})
}

// otherMachine returns the first host that is not this machine for certain.
func otherMachine(hosts []string) string {
	for _, h := range hosts {
		name, _, err := net.SplitHostPort(h)
		if err != nil {
			name = h
		}
		if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return h
		}
	}
	return ""
}

// secretCell is where a shared store keeps its secret.
var secretCell = mvcc.MetaKey("secret")

// sharedSecret returns the store's secret, which is made when there is none.
func (db *DB) sharedSecret(ctx context.Context, made []byte) (secret []byte, err error) {
	err = db.engine.Update(ctx, [][]byte{kv.Row(secretCell)},
		func(r kv.Reader, b *kv.Batch) error {
			kept, err := r.Get(ctx, secretCell)
			if err == nil && kept == nil {
				kept = made
				b.Set(secretCell, made)
			}
			secret = append([]byte(nil), kept...)
			return err
		})
	return secret, err
}
