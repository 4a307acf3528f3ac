package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// client is a coordinator's open transaction; it writes down what it does and sees.
type client struct {
	r    *run
	s    *txn.Store
	tx   *txn.Txn
	rec  *Record
	dice *rand.Rand
	// locks: keys are locked before they are written.
	locks bool
	fresh bool // no statement has begun
	// early: the transaction goes on from what is not durable yet; untold is what it has read since
	// it last waited, which no one outside has seen.
	early  bool
	untold []Read
}

func (c *client) name() string { return c.rec.Name }

// get is a statement that reads a key.
func (c *client) get(ctx context.Context, key string) (value string, found bool, err error) {
	if err := c.statement(ctx); err != nil {
		return "", false, err
	}
	return c.read(ctx, key)
}

func (c *client) read(ctx context.Context, key string) (value string, found bool, err error) {
	v, err := c.tx.Get(ctx, []byte(key))
	if err != nil {
		return "", false, err
	}
	read := Read{Key: key, Own: len(c.rec.Writes), TS: c.tx.ReadTS()}
	if v != nil {
		value, found = string(v), true
		read.Got = []Pair{{key, value}}
	}
	return value, found, c.saw(read)
}

// scan is a statement that reads a span.
func (c *client) scan(ctx context.Context, span kv.Span, reverse bool) error {
	if err := c.statement(ctx); err != nil {
		return err
	}
	read := Read{Span: &span, Reverse: reverse, Own: len(c.rec.Writes), TS: c.tx.ReadTS()}
	if !reverse {
		got, found, err := c.scanSections(ctx, span)
		if err != nil {
			return err
		}
		if found {
			read.Got = got
			return c.saw(read)
		}
		if c.dice.IntN(2) == 0 {
			if read.Got, err = c.scanParts(ctx, span); err != nil {
				return err
			}
			return c.saw(read)
		}
	}
	it, err := c.tx.Scan(ctx, span, txn.ScanOptions{Reverse: reverse})
	if err != nil {
		return err
	}
	for it.Next() {
		read.Got = append(read.Got, Pair{string(it.Key()), string(it.Value())})
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		return err
	}
	if !reverse {
		c.cutSections(span, read.Got)
	}
	return c.saw(read)
}

// scanParts reads a span in two parts with one call, and one that is empty between them.
func (c *client) scanParts(ctx context.Context, span kv.Span) (got []Pair, err error) {
	at := append(bytes.Clone(span.Start), byte('0'+c.dice.IntN(10)))
	if !span.Contains(at) {
		at = span.Start
	}
	parts := []kv.Span{{Start: span.Start, End: at}, {Start: at, End: at},
		{Start: at, End: span.End}}
	err = c.tx.ScanMany(ctx, parts, func(_ int, key, value []byte) error {
		got = append(got, Pair{string(key), string(value)})
		return nil
	})
	return got, err
}

// saw writes down a read, unless the power failed meanwhile: what a machine without power reads is
// nothing that was seen outside.
func (c *client) saw(read Read) error {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.r.dark {
		return errDark
	}
	if c.early {
		c.untold = append(c.untold, read)
	} else {
		c.rec.Reads = append(c.rec.Reads, read)
	}
	return nil
}

// publish waits for what the transaction has read to be durable, and publishes it.
func (c *client) publish(ctx context.Context) error {
	if err := c.tx.AwaitDurable(ctx); err != nil {
		return err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.r.dark {
		return errDark
	}
	c.published()
	return nil
}

// published records what is known outside from now on. Requires: run.mu is held, and there is
// power.
func (c *client) published() {
	c.rec.Reads = append(c.rec.Reads, c.untold...)
	c.untold = nil
}

// errDark ends the coordinators of a machine without power.
var errDark = errors.New("the power has failed")

// transact runs one transaction of the workload and writes it down.
func (r *run) transact(ctx context.Context, s *txn.Store, actor, n int, w workload,
	dice *rand.Rand) error {
	rec := &Record{Name: fmt.Sprintf("t%d.%d.%d", r.epoch, actor, n)}
	opts := txn.BeginOptions{Serializable: r.config.Serializable}
	past := r.config.History && dice.IntN(10) == 0
	r.mu.Lock()
	if r.dark {
		r.mu.Unlock()
		return errDark
	}
	r.clockwork++
	rec.Began = r.clockwork
	if past && len(r.seen) > 0 {
		opts.StartTS = r.seen[len(r.seen)-1-dice.IntN(min(len(r.seen), 20))]
		rec.Historical = true
	}
	r.history.Records = append(r.history.Records, rec)
	r.mu.Unlock()

	if r.config.Mixed && dice.IntN(2) == 0 {
		opts.Protocol = txn.Async
	}
	tx, err := s.Begin(ctx, opts)
	if err != nil {
		return r.answer(rec, err, 0)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if !r.remember(actor, tx.StartTS()) {
		return errDark
	}
	owner := s.SessionID()
	rec.StartTS = tx.StartTS()
	c := &client{r: r, s: s, tx: tx, rec: rec, dice: dice, fresh: true}
	if !rec.Historical {
		c.choose()
	}
	r.stroll(actor, dice)
	if rec.Historical {
		err = readAll(ctx, c, dice)
	} else {
		err = w.run(ctx, c, dice)
	}
	if err != nil {
		r.refused(s, owner, err)
		if published := c.publish(ctx); published != nil { // the reason may lie in what was read
			return published
		}
		return r.answer(rec, err, 0)
	}
	r.stroll(actor, dice)
	if dice.IntN(12) == 0 {
		return r.answer(rec, errChangedMind, 0)
	}
	c.exchange()
	err = tx.Commit(ctx)
	r.refused(s, owner, err)
	return c.answer(err)
}

// answer records the result of a Commit, which also publishes all that was read.
func (c *client) answer(err error) error {
	c.r.mu.Lock()
	if !c.r.dark && !errors.Is(err, txn.ErrAbandoned) {
		c.published()
	}
	c.r.mu.Unlock()
	return c.r.answer(c.rec, err, c.tx.CommitTS())
}

// errChangedMind is the reason of a rollback that was asked for.
var errChangedMind = errors.New("rolled back")

func readAll(ctx context.Context, c *client, dice *rand.Rand) error {
	for _, kind := range []string{"bank", "reg", "list"} {
		if err := c.scan(ctx, spanOf(kind), dice.IntN(2) == 0); err != nil {
			return err
		}
	}
	return nil
}

// stroll passes the scheduler a few times now and then, or many times: a coordinator that pauses.
func (r *run) stroll(actor int, dice *rand.Rand) {
	turns := 0
	switch dice.IntN(12) {
	case 0:
		turns = 10 + dice.IntN(100)
	case 1, 2, 3:
		turns = 1 + dice.IntN(3)
	}
	for range turns {
		r.t.Pass(actor)
	}
}

// remember keeps the start_ts under which a coordinator runs, unless the power failed before it was
// seen: what a machine without power draws is drawn again when it comes back.
func (r *run) remember(actor int, ts tso.Timestamp) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dark {
		return false
	}
	r.current[actor] = ts
	r.seen = append(r.seen, ts)
	return true
}

// answer records the result that a transaction received.
func (r *run) answer(rec *Record, err error, commitTS tso.Timestamp) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dark {
		return errDark
	}
	r.clockwork++
	rec.Ended = r.clockwork
	rec.Err = err
	r.watched.ended(rec.StartTS, err)
	switch {
	case err == nil:
		rec.Outcome, rec.CommitTS = Committed, commitTS
	case errors.Is(err, txn.ErrAbandoned):
		rec.Outcome = Unknown
		return err
	case errors.Is(err, txn.ErrAmbiguous):
		rec.Outcome = Unknown
	default:
		rec.Outcome = Aborted
		if !expected(err) {
			r.history.Found = append(r.history.Found,
				Violation{Unexpected, fmt.Sprintf("%s: %v", rec, err)})
		}
	}
	return nil
}

// expected reports whether a transaction may fail with the error.
func expected(err error) bool {
	var (
		conflict  *txn.WriteConflictError
		read      *txn.ReadConflictError
		pair      *txn.SerializationError
		exists    *txn.AlreadyExistsError
		locked    *txn.LockedError
		safepoint *txn.SafepointError
		deadlock  *rowlock.DeadlockError
	)
	return errors.As(err, &conflict) || errors.As(err, &read) || errors.As(err, &pair) ||
		errors.As(err, &exists) ||
		errors.As(err, &locked) || errors.As(err, &safepoint) || errors.As(err, &deadlock) ||
		errors.Is(err, errChangedMind) || errors.Is(err, errLost) || errors.Is(err, errDuplicate)
}
