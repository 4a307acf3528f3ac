package txn

import (
	"bytes"
	"context"
	"crypto/rand"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
)

// identityKey is the cell by which a store is known again, as long as it is the same one. It is
// made by the first copy from the store, or the first backup.
var identityKey = mvcc.MetaKey("identity")

// IdentityLen is the length of an identity.
const IdentityLen = 16

// Identity returns by what a store is known again.
func Identity(ctx context.Context, e kv.Engine) (id []byte, err error) {
	made := make([]byte, IdentityLen)
	if _, err := rand.Read(made); err != nil {
		return nil, err
	}
	err = e.Update(ctx, [][]byte{kv.Row(identityKey)}, func(r kv.Reader, b *kv.Batch) error {
		found, err := r.Get(ctx, identityKey)
		if err != nil {
			return err
		}
		if id = bytes.Clone(found); id == nil {
			id = made
			b.Set(identityKey, made)
		}
		return nil
	})
	return id, err
}
