package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"github.com/minidb/minidb/txn/tso"
)

// assumedFor is for how long, by the oracle's time, a version that was seen is assumed to be the
// present one. A transaction validates that nothing has changed since, for which the versions since
// must not have been collected.
const assumedFor = 10 * time.Second

// seen is the version of the catalog at a timestamp.
type seen struct {
	version uint64
	at      tso.Timestamp
}

// saw takes in which version a transaction has found, or proved to be the present one.
func (c *Catalog) saw(version uint64, at tso.Timestamp) {
	now := &seen{version, at}
	for {
		last := c.seen.Load()
		if last != nil && last.at >= at || c.seen.CompareAndSwap(last, now) {
			return
		}
	}
}

// Assume makes the View show the version of the catalog that this process saw last, without a read,
// if that was a moment ago: txn.Txn.Assume has what follows when it is not the present one. It
// reports whether it did.
func (v *View) Assume() bool {
	last := v.c.seen.Load()
	if last == nil || v.known || !v.tx.Foretold() ||
		v.tx.StartTS().Time().Sub(last.at.Time()) > assumedFor {
		return false
	}
	v.version, v.known = last.version, true
	v.tx.Assume(bytes.Clone(versionKey), encodeVersion(last.version), last.at)
	return true
}

// encodeVersion is the value of the version key; nil when nothing was written there yet.
func encodeVersion(version uint64) []byte {
	if version == 0 {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, version)
}

// commitAssumed calls commit, which validates what was assumed if there is anything to write.
func (v *View) commitAssumed(ctx context.Context, commit func() error) error {
	if !v.tx.DirtyShared() {
		if err := v.tx.Confirm(ctx); err != nil {
			return err
		}
	}
	err := commit()
	if err == nil && v.tx.CommitTS() != 0 {
		v.c.saw(v.version, v.tx.StartTS())
	}
	return err
}
