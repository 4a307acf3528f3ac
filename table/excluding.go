package table

import (
	"bytes"
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// claimSuffix follows an entry's key in the key of its claim, which is a key that is never written.
const claimSuffix = 0x00

// exclude verifies that no other row excludes the row of a new entry, as PostgreSQL does: it waits
// for transactions under way that have such a row, or are about to remove one. What is found is not
// what the snapshot shows, but what is committed at that moment.
//
// The row's values are claimed first (txn.Claim), for as long as the transaction lasts. Of two
// transactions that write rows which exclude each other, the one that claims later is given the
// claim of the earlier one, and waits for its end. Then it looks. If the earlier one's claim was
// given back before, its row is committed, and found, or gone.
func (w *Writer) exclude(ctx context.Context, tx *txn.Txn, m *entryMaker, e *entry,
	row []types.Datum) error {
	x := &excluder{m}
	c, err := x.claim(ctx, tx, e.key)
	if c == nil || err != nil {
		return err
	}
	if !m.deferrable || w.keys == nil {
		return c.verify(ctx, tx, row)
	}
	doubt := len(c.rivals) > 0 || w.keys.AwaitsKeys(w.d, m.index)
	if !doubt {
		other, err := c.look(ctx, tx)
		if err != nil {
			return err
		}
		doubt = other != nil
	}
	if doubt {
		rowKey, _, err := m.splitEntry(e.key[len(m.prefix):], nil)
		if err != nil {
			return err
		}
		w.keys.KeyAwaited(w.d, m.index, e.key[:len(e.key)-len(rowKey)], rowKey)
	}
	return nil
}

// claimedEntry is an entry whose values are claimed.
type claimedEntry struct {
	*excluder
	key, group []byte
	values     []types.Datum
	rivals     []string // claims of others that exclude it
}

// claim claims the values of an entry. It returns nil when the row excludes none.
func (x *excluder) claim(ctx context.Context, tx *txn.Txn, key []byte) (*claimedEntry, error) {
	values, null, err := x.keyValues(key)
	if null || err != nil {
		return nil, err
	}
	c := &claimedEntry{excluder: x, key: key, values: values}
	if c.group, err = x.groupPrefix(key); err != nil {
		return nil, err
	}
	others, err := tx.Claim(ctx, c.group, append(bytes.Clone(key), claimSuffix))
	if err != nil {
		return nil, err
	}
	for _, k := range others {
		excluded, err := x.excludes(ctx, values, []byte(k))
		if err != nil {
			return nil, err
		}
		if excluded {
			c.rivals = append(c.rivals, k)
		}
	}
	return c, nil
}

// look returns the entry of a row that excludes c's, as they are now, or nil.
func (c *claimedEntry) look(ctx context.Context, tx *txn.Txn) ([]byte, error) {
	now, err := tx.Latest(ctx)
	if err != nil {
		return nil, err
	}
	if !tx.LocksBind() {
		tx.ValidateSince(PrefixSpan(c.group), now.TS())
	}
	other, err := c.find(ctx, now, c.key, c.group, c.values)
	if cerr := now.Close(ctx); err == nil {
		err = cerr
	}
	return other, err
}

// await returns the entry of a row that excludes c's when no transaction under way can change that,
// or nil.
func (c *claimedEntry) await(ctx context.Context, tx *txn.Txn) ([]byte, error) {
	for _, k := range c.rivals {
		if err := tx.AwaitClaim(ctx, k); err != nil {
			return nil, err
		}
	}
	var before []byte
	for {
		other, err := c.look(ctx, tx)
		if other == nil || err != nil {
			return nil, err
		}
		own, err := tx.Wrote(ctx, other)
		if own || err != nil || bytes.Equal(other, before) {
			return other, err
		}
		rowKey, err := c.rowKeyOf(other)
		if err != nil {
			return nil, err
		}
		if _, err := tx.LockKey(ctx, rowKey, rowlock.KeyShare, false); err != nil {
			return nil, err
		}
		before = other
	}
}

// verify is 23P01 if another row excludes c's, which is row.
func (c *claimedEntry) verify(ctx context.Context, tx *txn.Txn, row []types.Datum) error {
	other, err := c.await(ctx, tx)
	if other == nil || err != nil {
		return err
	}
	there, err := c.present(ctx, tx, other)
	if err != nil {
		return err
	}
	e := sqlerr.New(sqlerr.ExclusionViolation,
		"conflicting key value violates exclusion constraint \"%s\"", c.index.Name)
	e.Schema, e.Table, e.Constraint = c.desc.Schema, c.desc.Name, c.index.Name
	return e.WithDetail("Key %s conflicts with existing key %s.", c.format(row), c.format(there))
}

// present reads the row of an entry, as it is now.
func (c *claimedEntry) present(ctx context.Context, tx *txn.Txn, entry []byte) (row []types.Datum,
	err error) {
	key, err := c.rowKeyOf(entry)
	if err != nil {
		return nil, err
	}
	now, err := tx.Latest(ctx)
	if err != nil {
		return nil, err
	}
	value, err := now.Get(ctx, key)
	if cerr := now.Close(ctx); err == nil {
		err = cerr
	}
	if err != nil || value == nil {
		return make([]types.Datum, len(c.desc.Columns)), err
	}
	return DecodeRow(c.desc, key, value)
}

// checkExclusion is CheckKey for an EXCLUDE constraint.
func checkExclusion(ctx context.Context, tx *txn.Txn, d *Desc, l *layout, key,
	rowKey []byte) error {
	entry := slices.Concat(key, rowKey)
	if value, err := tx.GetCurrent(ctx, entry); value == nil || err != nil {
		return err
	}
	c, err := (&excluder{l.maker()}).claim(ctx, tx, entry)
	if c == nil || err != nil {
		return err
	}
	row, err := rowOf(ctx, tx, d, rowKey)
	if err != nil {
		return err
	}
	return c.verify(ctx, tx, row)
}

// excludedBy reads a row that excludes a row which is about to be inserted, as ON CONFLICT asks.
func (w *Writer) excludedBy(ctx context.Context, tx *txn.Txn, m *entryMaker,
	row []types.Datum) ([]types.Datum, bool, error) {
	if err := m.entriesOf(ctx, &w.is, row, nil); err != nil || w.is.n == 0 {
		return nil, false, err
	}
	c, err := (&excluder{m}).claim(ctx, tx, w.is.list[0].key)
	if c == nil || err != nil {
		return nil, false, err
	}
	other, err := c.await(ctx, tx)
	if other == nil || err != nil {
		return nil, false, err
	}
	existing, err := c.present(ctx, tx, other)
	return existing, true, err
}
