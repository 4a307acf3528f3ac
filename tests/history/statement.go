package history

import (
	"context"
	"errors"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// A transaction is a row of statements, as package sql makes them: in READ COMMITTED each has a
// read timestamp of its own, and one that locks takes the row lock of a key before it writes it. A
// key that was changed meanwhile is a conflict, or in READ COMMITTED a reason to look again.

// errDuplicate ends a transaction that found the key which it wanted to insert.
var errDuplicate = errors.New("the key is there already")

// choose sets whether the transaction locks, and reads anew at each statement.
func (c *client) choose() {
	c.rec.ReadCommitted = c.r.config.ReadCommitted
	c.locks = c.dice.IntN(4) < c.r.config.Locking
	c.early = c.locks && c.rec.ReadCommitted && c.dice.IntN(2) == 0
	if c.locks || c.rec.ReadCommitted {
		c.tx.SetLocking(txn.Locking{Writes: c.locks, Rereads: c.rec.ReadCommitted, Early: c.early})
	}
}

// statement begins one. The first reads at start_ts. One that goes on from what is not durable
// publishes its client nothing but that it is done; now and then another one comes, which waits.
func (c *client) statement(ctx context.Context) error {
	if c.early && c.dice.IntN(3) == 0 {
		if err := c.publish(ctx); err != nil {
			return err
		}
	}
	if !c.rec.ReadCommitted {
		return nil
	}
	if c.fresh {
		c.fresh = false
		return nil
	}
	return c.advance(ctx)
}

// advance moves to a new read timestamp.
func (c *client) advance(ctx context.Context) error {
	began := c.r.tick()
	if err := c.tx.Advance(ctx); err != nil {
		return err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.r.dark {
		return errDark // as in run.remember
	}
	c.rec.Statements = append(c.rec.Statements, Statement{Began: began, TS: c.tx.ReadTS()})
	return nil
}

// lock takes the row lock of a key. again says that the key was changed since the read timestamp,
// which is a newer one now: what was read of it must be read again, and then done be called.
func (c *client) lock(ctx context.Context, key string, mode rowlock.Mode) (again bool, done func(),
	err error) {
	done = func() {}
	if !c.locks {
		return false, done, nil
	}
	err = c.tx.LockCurrent(ctx, []byte(key), mode, false)
	var stale *txn.StaleError
	if errors.As(err, &stale) {
		before := c.tx.ReadTS()
		if err = c.advance(ctx); err != nil {
			return false, done, err
		}
		if c.dice.IntN(2) == 0 { // a recheck; else the whole statement runs again
			done = func() { c.tx.ReadAt(before) }
		}
		again = true
	}
	if err == nil && mode != rowlock.KeyShare { // which lets changes pass
		c.rec.Locks = append(c.rec.Locks, Lock{Key: key, TS: c.tx.ReadTS(), Until: c.lease(ctx)})
	}
	return again, done, err
}

// look is a statement that reads a key and, in a transaction that locks, locks it against others.
func (c *client) look(ctx context.Context, key string) error {
	if err := c.statement(ctx); err != nil {
		return err
	}
	mode := []rowlock.Mode{rowlock.KeyShare, rowlock.Share, rowlock.NoKeyUpdate,
		rowlock.Update}[c.dice.IntN(4)]
	_, done, err := c.lock(ctx, key, mode)
	if err != nil {
		return err
	}
	defer done()
	_, _, err = c.read(ctx, key)
	return err
}

// takeBack runs a statement now and then that is taken back again: by ROLLBACK TO, with the row
// locks that it took, or in READ COMMITTED without them, to be run anew with a later read
// timestamp. One that fails fails the transaction as any other does.
func (c *client) takeBack(statement func() error) error {
	if c.dice.IntN(8) > 0 {
		return nil
	}
	at, writes, locks := c.tx.Savepoint(), len(c.rec.Writes), len(c.rec.Locks)
	if err := statement(); err != nil {
		return err
	}
	if c.rec.ReadCommitted && c.dice.IntN(2) == 0 {
		c.tx.UndoTo(at)
	} else {
		c.tx.RollbackTo(at)
		c.rec.Locks = c.rec.Locks[:locks]
	}
	before := c.rec.Own(writes)
	for _, w := range c.rec.Writes[writes:] {
		c.rec.Writes = append(c.rec.Writes, Write{Key: w.Key, Undone: true})
		if was, ok := before[w.Key]; ok {
			c.rec.Writes = append(c.rec.Writes, was)
		}
	}
	return nil
}

// twice runs a statement, and perhaps before it once in vain.
func (c *client) twice(statement func() error) error {
	if err := c.takeBack(statement); err != nil {
		return err
	}
	return statement()
}

// update is a statement that makes the new value of a key from the old one.
func (c *client) update(ctx context.Context, key string,
	change func(old string, found bool) (string, error)) error {
	return c.twice(func() error { return c.updateOnce(ctx, key, change) })
}

func (c *client) updateOnce(ctx context.Context, key string,
	change func(old string, found bool) (string, error)) error {
	if err := c.statement(ctx); err != nil {
		return err
	}
	old, found, err := c.read(ctx, key)
	if err != nil {
		return err
	}
	again, done, err := c.lock(ctx, key, rowlock.NoKeyUpdate)
	if err != nil {
		return err
	}
	defer done()
	if again {
		if old, found, err = c.read(ctx, key); err != nil {
			return err
		}
	}
	value, err := change(old, found)
	if err != nil {
		return err
	}
	c.wrote(Write{Key: key, Value: value})
	return c.tx.Set([]byte(key), []byte(value))
}

// set is a statement that writes a key without a look at it.
func (c *client) set(ctx context.Context, key, value string) error {
	return c.twice(func() error {
		return c.blind(ctx, Write{Key: key, Value: value}, rowlock.NoKeyUpdate, func() error {
			return c.tx.Set([]byte(key), []byte(value))
		})
	})
}

// delete is a statement that removes a key without a look at it.
func (c *client) delete(ctx context.Context, key string) error {
	return c.twice(func() error {
		return c.blind(ctx, Write{Key: key, Delete: true}, rowlock.Update, func() error {
			return c.tx.Delete([]byte(key))
		})
	})
}

func (c *client) blind(ctx context.Context, w Write, mode rowlock.Mode, write func() error) error {
	if err := c.statement(ctx); err != nil {
		return err
	}
	_, done, err := c.lock(ctx, w.Key, mode)
	if err != nil {
		return err
	}
	defer done()
	c.wrote(w)
	return write()
}

// insert is a statement that writes a key which must be absent. With a lock it knows at once
// whether it is, and otherwise at the commit.
func (c *client) insert(ctx context.Context, key, value string) error {
	return c.twice(func() error { return c.insertOnce(ctx, key, value) })
}

func (c *client) insertOnce(ctx context.Context, key, value string) error {
	if err := c.statement(ctx); err != nil {
		return err
	}
	w := Write{Key: key, Value: value, Insert: true}
	if c.locks {
		v, err := c.tx.LockKey(ctx, []byte(key), rowlock.Update, false)
		switch {
		case err != nil:
			return err
		case v.CommitTS != 0 && v.Live:
			return errDuplicate
		case v.CommitTS != 0:
			w.Base = v.CommitTS
			c.rec.Locks = append(c.rec.Locks, Lock{Key: key, TS: v.CommitTS, Until: c.lease(ctx)})
			c.rec.Writes = append(c.rec.Writes, w)
			return c.tx.InsertAfter(v.CommitTS, []byte(key), []byte(value))
		}
		c.rec.Locks = append(c.rec.Locks, Lock{Key: key, TS: c.tx.ReadTS(), Until: c.lease(ctx)})
	}
	c.wrote(w)
	return c.tx.Insert([]byte(key), []byte(value))
}

// wrote writes down a write based on what the transaction reads now.
func (c *client) wrote(w Write) {
	w.Base = c.tx.ReadTS()
	c.rec.Writes = append(c.rec.Writes, w)
}

// tick counts one more beginning or answer.
func (r *run) tick() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clockwork++
	return r.clockwork
}
