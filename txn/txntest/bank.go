package txntest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

const (
	bankAccounts = 12
	bankStart    = 1000 // in each account
)

// Bank is a workload on one store. Every transfer writes both accounts, notifies an observer of
// each, and writes, under a key of its own, what it moved. So every balance can be recomputed from
// the transfers found, and a transfer that is half there shows. Every transfer whose commit has
// returned must be there for good (txn: I4), and so must every one that a reader of an account has
// returned (txn: I18).
type Bank struct {
	T     testing.TB
	Store *txn.Store
	// Name makes the keys of its transfers different from those of other banks on the same data.
	Name string
	// Locks lets some transactions lock what they write, and go on from what is not durable.
	Locks bool
	// Dead, if not nil, reports whether the bank's process has died: its workers end then.
	Dead func() bool
	// PassedOn counts the rows that were read anew under a lock.
	PassedOn atomic.Int64

	acked struct {
		sync.Mutex
		transfers []string // keys of transfers whose commit has returned
	}
}

// Acknowledged returns the keys of the transfers that must be there from now on.
func (b *Bank) Acknowledged() []string {
	b.acked.Lock()
	defer b.acked.Unlock()
	return slices.Clone(b.acked.transfers)
}

// Known returns the keys of the transfers that are there.
func (b *Bank) Known() (keys []string) {
	tx := begin(b.T, b.Store)
	for {
		keys = keys[:0]
		it, err := tx.Scan(context.Background(), transfers, txn.ScanOptions{KeysOnly: true})
		require.NoError(b.T, err)
		for it.Next() {
			keys = append(keys, string(it.Key()))
		}
		err = it.Err()
		require.NoError(b.T, it.Close())
		if errors.Is(err, txn.ErrAbandoned) {
			continue // the dice of the crash points fell while a lock was settled
		}
		require.NoError(b.T, err)
		require.NoError(b.T, tx.Rollback(context.Background()))
		return keys
	}
}

var transfers = kv.Span{Start: []byte("t/"), End: []byte("t0")}

func account(i int) []byte { return fmt.Appendf(nil, "a/%02d", i) }

// Work does one transfer, or looks at an account, for each turn.
func (b *Bank) Work(w int, dice *rand.Rand, turns <-chan struct{}) {
	n := 0
	for range turns {
		if b.dead() {
			continue
		}
		n++
		key := fmt.Sprintf("t/%s/%d/%04d", b.Name, w, n)
		var err error
		if b.Locks && dice.IntN(4) == 0 {
			key, err = b.look(dice)
		} else {
			err = b.transfer(key, dice)
		}
		switch {
		case err == nil && key == "":
		case err == nil:
			b.acked.Lock()
			b.acked.transfers = append(b.acked.transfers, key)
			b.acked.Unlock()
		case refused(err), b.dead():
		default:
			b.T.Errorf("transfer %s: %v", key, err)
		}
	}
}

func (b *Bank) dead() bool { return b.Dead != nil && b.Dead() }

// refused reports whether a transaction ended as one may that meets others, or dies.
func refused(err error) bool {
	var (
		conflict *txn.WriteConflictError
		locked   *txn.LockedError
		deadlock *rowlock.DeadlockError
	)
	return errors.As(err, &conflict) || errors.As(err, &locked) || errors.As(err, &deadlock) ||
		errors.Is(err, txn.ErrAbandoned)
}

// begin begins a transaction, which locks when the bank's do so and the dice say so.
func (b *Bank) begin(ctx context.Context, locks bool) (*txn.Txn, error) {
	tx, err := b.Store.Begin(ctx, txn.BeginOptions{})
	if err == nil && locks {
		tx.SetLocking(txn.Locking{Writes: true, Rereads: true, Early: true})
	}
	return tx, err
}

// read returns what is in an account, as it is once it is locked.
func (b *Bank) read(ctx context.Context, tx *txn.Txn, i int) ([]byte, error) {
	if tx.LocksWrites() {
		err := tx.LockCurrent(ctx, account(i), rowlock.NoKeyUpdate, false)
		var stale *txn.StaleError
		if errors.As(err, &stale) {
			b.PassedOn.Add(1)
			err = tx.Advance(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return tx.Get(ctx, account(i))
}

// transfer moves an amount between two accounts, which name it as the last, and records it, padded
// now and then so that values are not always inlined.
func (b *Bank) transfer(key string, dice *rand.Rand) error {
	ctx := context.Background()
	tx, err := b.begin(ctx, b.Locks && dice.IntN(3) > 0)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	from := dice.IntN(bankAccounts)
	to := (from + 1 + dice.IntN(bankAccounts-1)) % bankAccounts
	amount := 1 + dice.IntN(20)
	for i, sign := range map[int]int{from: -1, to: 1} {
		v, err := b.read(ctx, tx, i)
		if err != nil {
			return err
		}
		tx.Notify(account(i), bankObserver, v)
		if err := tx.Set(account(i),
			fmt.Appendf(nil, "%d %s", balanceOf(v)+sign*amount, key)); err != nil {
			return err
		}
	}
	record := fmt.Sprintf("%d %d %d %s", from, to, amount, strings.Repeat("x", 400*dice.IntN(2)))
	if err := tx.Insert([]byte(key), []byte(record)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// look returns the last transfer of an account, if there is one.
func (b *Bank) look(dice *rand.Rand) (transfer string, err error) {
	ctx := context.Background()
	tx, err := b.begin(ctx, true)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	v, err := b.read(ctx, tx, dice.IntN(bankAccounts))
	if err != nil {
		return "", err
	}
	_, transfer, _ = strings.Cut(string(v), " ")
	return transfer, tx.Commit(ctx)
}

// balanceOf reads a balance; an account that was never written has the starting one.
func balanceOf(v []byte) int {
	if v == nil {
		return bankStart
	}
	balance, _, _ := strings.Cut(string(v), " ")
	n, _ := strconv.Atoi(balance)
	return n
}

// BankOptions varies how the transactions of a bank commit.
func BankOptions(rng *rand.Rand) txn.Options {
	// Each look at the clock takes a millisecond, so locks expire under their running owners too.
	var clock atomic.Int64
	clock.Store(1_000_000)
	opts := txn.Options{
		Clock: func() int64 { return clock.Add(1) },
		// What is looked at between two runs is opened with the machine's clock.
		AcceptClock: true,
		Protocol:    txn.Protocol(rng.IntN(4)),
		LockTTL:     time.Duration(1+rng.IntN(300)) * time.Millisecond,
		LockWait:    20 * time.Millisecond,
	}
	if rng.IntN(2) == 0 {
		opts.BatchKeys = 1 + rng.IntN(3)
	}
	if rng.IntN(4) == 0 {
		opts.StreamBytes = 1 + rng.IntN(900)
	}
	if dying := rng.IntN(3) == 0; dying {
		var mu sync.Mutex
		dice := rand.New(rand.NewPCG(rng.Uint64(), 0))
		opts.CrashPoint = func(txn.CrashPoint) bool {
			mu.Lock()
			defer mu.Unlock()
			return dice.IntN(40) == 0
		}
	}
	return opts
}
