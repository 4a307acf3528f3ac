package scale

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// Accounts of the load: the hot ones are the first.
const (
	accounts    = 10_000
	hotAccounts = 10
	balance     = 1000 // of an account that was never written
)

// operation is a kind of transaction.
type operation int

const (
	read        operation = iota // one account
	transfer                     // optimistic, between any two accounts
	hotTransfer                  // under row locks, between two of the few
	insert                       // a row and its index entry
	operations
)

// A mix chooses an operation.
type mix func(*rand.Rand) operation

// spread is reads and writes all over the store.
func spread(rng *rand.Rand) operation {
	return []operation{read, read, transfer, insert}[rng.IntN(4)]
}

// hot is nothing but transfers between the same few accounts.
func hot(*rand.Rand) operation { return hotTransfer }

// tally is what sessions did.
type tally struct {
	commits [operations]int64
	// retries are transactions that were run again, because they met others.
	retries [operations]int64
	// took is how long each operation took, with its retries.
	took     [operations][]time.Duration
	inserted []string // by inserts that have committed
	lasted   time.Duration
	err      error
}

func (t *tally) add(o *tally) {
	for i := range t.commits {
		t.commits[i] += o.commits[i]
		t.retries[i] += o.retries[i]
		t.took[i] = append(t.took[i], o.took[i]...)
	}
	t.inserted = append(t.inserted, o.inserted...)
	t.err = errors.Join(t.err, o.err)
}

func sum(of [operations]int64) (n int64) {
	for _, i := range of {
		n += i
	}
	return n
}

// session is a client of a gateway.
type session struct {
	name   string
	store  *txn.Store
	choose mix
	rng    *rand.Rand
	tally  tally
}

// work runs operations until a time.
func (s *session) work(ctx context.Context, until time.Time) {
	for n := 0; time.Now().Before(until) && s.tally.err == nil; n++ {
		op, began := s.choose(s.rng), time.Now()
		key := fmt.Sprintf("%s.%d", s.name, n)
		from, to := s.two(op)
		for attempt := 0; ; attempt++ {
			err := s.run(ctx, op, key, from, to)
			if err == nil {
				break
			}
			if !refused(err) {
				s.tally.err = fmt.Errorf("%s: %w", key, err)
				return
			}
			s.tally.retries[op]++
			most := min(time.Millisecond<<min(attempt, 6), 50*time.Millisecond)
			_ = pause(ctx, rand.N(most))
		}
		s.tally.commits[op]++
		s.tally.took[op] = append(s.tally.took[op], time.Since(began))
		if op == insert {
			s.tally.inserted = append(s.tally.inserted, key)
		}
	}
}

// two chooses two accounts, the lower one first.
func (s *session) two(op operation) (int, int) {
	n := accounts
	if op == hotTransfer {
		n = hotAccounts
	}
	from := s.rng.IntN(n)
	to := (from + 1 + s.rng.IntN(n-1)) % n
	return min(from, to), max(from, to)
}

// refused reports whether a transaction ended as one may that meets others.
func refused(err error) bool {
	var (
		conflict *txn.WriteConflictError
		locked   *txn.LockedError
		deadlock *rowlock.DeadlockError
	)
	return errors.As(err, &conflict) || errors.As(err, &locked) || errors.As(err, &deadlock)
}

// run runs a transaction.
func (s *session) run(ctx context.Context, op operation, key string, from, to int) error {
	tx, err := s.store.Begin(ctx, txn.BeginOptions{ReadOnly: op == read})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	switch op {
	case read:
		_, err = tx.Get(ctx, account(from))
		return err
	case insert:
		value := strconv.Itoa(s.rng.IntN(1_000_000))
		if err := tx.Insert(row(key), []byte(value)); err != nil {
			return err
		}
		if err := tx.Set(entry(value, key), nil); err != nil {
			return err
		}
	case hotTransfer:
		owner := s.store.RowLocks().NewOwner(0)
		owner.SetPatience(time.Second)
		tx.SetLocking(txn.Locking{Writes: true, Rereads: true, Owner: owner})
		fallthrough
	case transfer:
		if err := move(ctx, tx, from, -1); err != nil {
			return err
		}
		if err := move(ctx, tx, to, 1); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// move changes an account, after it is locked if the transaction locks, and counts the change.
func move(ctx context.Context, tx *txn.Txn, i, amount int) error {
	if tx.LocksWrites() {
		err := tx.LockCurrent(ctx, account(i), rowlock.NoKeyUpdate, false)
		var stale *txn.StaleError
		if errors.As(err, &stale) {
			err = tx.Advance(ctx)
		}
		if err != nil {
			return err
		}
	}
	v, err := tx.Get(ctx, account(i))
	if err != nil {
		return err
	}
	has, changes := parse(v)
	return tx.Set(account(i), fmt.Appendf(nil, "%d %d", has+amount, changes+1))
}

// parse returns an account's balance and how often it was changed.
func parse(v []byte) (has, changes int) {
	if v == nil {
		return balance, 0
	}
	text, n, _ := strings.Cut(string(v), " ")
	has, _ = strconv.Atoi(text)
	changes, _ = strconv.Atoi(n)
	return has, changes
}

func account(i int) []byte { return fmt.Appendf(nil, "a/%05d", i) }

func row(key string) []byte { return []byte("r/" + key) }

func entry(value, key string) []byte { return []byte("i/" + value + "/" + key) }

// check holds what the store shows to what has committed.
func check(ctx context.Context, s *txn.Store, all *tally) (problems []string) {
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	tx, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = tx.Rollback(ctx) }()
	money, changed := 0, 0
	found, err := each(ctx, tx, "a/", func(_ string, value []byte) {
		has, changes := parse(value)
		money, changed = money+has-balance, changed+changes
	})
	if transfers := int(all.commits[transfer] + all.commits[hotTransfer]); money != 0 ||
		changed != 2*transfers {
		report("%d accounts have %d too much and were changed %d times by %d transfers", found,
			money, changed, transfers)
	}
	values := map[string]string{}
	_, err2 := each(ctx, tx, "r/", func(key string, value []byte) { values[key] = string(value) })
	entries, err3 := each(ctx, tx, "i/", func(key string, _ []byte) {
		if value, of, _ := strings.Cut(key, "/"); values[of] != value {
			report("entry %s of a row with %q", key, values[of])
		}
	})
	if len(values) != len(all.inserted) || entries != len(values) {
		report("%d rows and %d entries of %d inserts", len(values), entries, len(all.inserted))
	}
	for _, key := range all.inserted {
		if values[key] == "" {
			report("row %s is lost", key)
		}
	}
	if err := errors.Join(err, err2, err3); err != nil {
		report("%v", err)
	}
	return problems
}

// each visits the keys with a prefix, and counts them.
func each(ctx context.Context, tx *txn.Txn, prefix string,
	visit func(key string, value []byte)) (n int, err error) {
	end := []byte(prefix)
	end[len(end)-1]++
	it, err := tx.Scan(ctx, kv.Span{Start: []byte(prefix), End: end}, txn.ScanOptions{})
	if err != nil {
		return 0, err
	}
	for it.Next() {
		n++
		visit(strings.TrimPrefix(string(it.Key()), prefix), it.Value())
	}
	return n, errors.Join(it.Err(), it.Close())
}

// load runs sessions on gateways for a while.
func load(ctx context.Context, seed uint64, gateways []*txn.Store, sessions int, choose mix,
	lasts time.Duration) *tally {
	var work sync.WaitGroup
	var all []*session
	began := time.Now()
	for g, store := range gateways {
		for i := range sessions {
			s := &session{name: fmt.Sprintf("%d.%d", g, i), store: store, choose: choose,
				rng: rand.New(rand.NewPCG(seed, uint64(g*sessions+i)))}
			all = append(all, s)
			work.Go(func() { s.work(ctx, began.Add(lasts)) })
		}
	}
	work.Wait()
	sum := &tally{lasted: time.Since(began)}
	for _, s := range all {
		sum.add(&s.tally)
	}
	return sum
}

// quantile returns the duration that so many of a hundred are not above.
func quantile(took []time.Duration, percent int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[(len(took)-1)*percent/100]
}
