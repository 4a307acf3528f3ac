package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// TestSnapshotsAreConsistentUnderLoad lets writers move money and readers add it up. A sum that is
// off is a torn commit, a read that changes is a missed one.
func TestSnapshotsAreConsistentUnderLoad(t *testing.T) {
	const accounts, each, writers, readers = 6, 60, 4, 3
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		var setup []string
		for i := range accounts {
			setup = append(setup, string(purse(i)), "100")
		}
		commit(t, s, setup...)
		var writing, reading sync.WaitGroup
		done := make(chan struct{})
		for w := range writers {
			dice := rand.New(rand.NewPCG(uint64(w), 1))
			writing.Go(func() {
				for n := 0; n < each; {
					err := move(ctx, s, dice.IntN(accounts), dice.IntN(accounts), 1+dice.IntN(9))
					var conflict *txn.WriteConflictError
					var locked *txn.LockedError
					switch {
					case err == nil:
						n++
					case !errors.As(err, &conflict) && !errors.As(err, &locked):
						t.Error(err)
						return
					}
				}
			})
		}
		for range readers {
			reading.Go(func() {
				for {
					if err := audit(ctx, s, accounts*100); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		writing.Wait()
		close(done)
		reading.Wait()
	})
}

func move(ctx context.Context, s *txn.Store, from, to, amount int) error {
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	for _, m := range []struct{ account, by int }{{from, -amount}, {to, amount}} {
		v, err := tx.Get(ctx, purse(m.account))
		if err != nil {
			return err
		}
		if err := tx.Set(purse(m.account),
			fmt.Appendf(nil, "%d", inPurse(v)+m.by)); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// audit reads every account twice, by scan and by get, in one transaction.
func audit(ctx context.Context, s *txn.Store, want int) error {
	tx, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	it, err := tx.Scan(ctx, kv.Span{Start: []byte("a/"), End: []byte("a0")}, txn.ScanOptions{})
	if err != nil {
		return err
	}
	sum := 0
	seen := map[string]string{}
	for it.Next() {
		seen[string(it.Key())] = string(it.Value())
		sum += inPurse(it.Value())
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		return err
	}
	if sum != want {
		return fmt.Errorf("at %s the accounts add up to %d: %v", tx.StartTS(), sum, seen)
	}
	tx.Idle() // read again from a new engine snapshot
	for key, value := range seen {
		v, err := tx.Get(ctx, []byte(key))
		if err != nil {
			return err
		}
		if string(v) != value {
			return fmt.Errorf("at %s %s was %s and is %s", tx.StartTS(), key, value, v)
		}
	}
	return nil
}

// TestEveryWayToCommitGivesTheSameHistory runs one seeded list of operations of interleaved
// transactions in every configuration: answers, conflicts and timestamps must be equal (txn: I8).
func TestEveryWayToCommitGivesTheSameHistory(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		var first, whole string
		for _, c := range scriptConfigs {
			got := history(t, c, seed)
			if c.draws {
				// It draws a timestamp for each batch of locks, so the numbers differ.
				got, first = timestamps.ReplaceAllString(got,
					"$1"), timestamps.ReplaceAllString(first, "$1")
			}
			if first == "" {
				first, whole = got, got
			}
			require.Equal(t, first, got, "seed %d, %s", seed, c.name)
			first = whole
		}
	}
}

var timestamps = regexp.MustCompile(`((?:start|commit)_ts) \d+`)

func history(t *testing.T, c scriptConfig, seed uint64) string {
	dice := rand.New(rand.NewPCG(seed, 0))
	s := newScript(t, c)
	defer s.close()
	var out strings.Builder
	for range 300 {
		actor := fmt.Sprintf("t%d", dice.IntN(4))
		key := fmt.Sprintf("k%d", dice.IntN(8))
		line := ""
		if s.txns[actor] == nil {
			line = "begin"
		} else {
			line = []string{
				"get " + key, "get " + key, "scan", "scan reverse", "scan k2 k6",
				fmt.Sprintf("set %s %d", key, dice.IntN(100)), fmt.Sprintf("set %s %s", key,
					strings.Repeat("v", 256+dice.IntN(9))),
				"insert " + key + " 1", "delete " +
					key, "savepoint s", "commit", "commit", "rollback",
			}[dice.IntN(13)]
		}
		answer := s.actor(actor, strings.Fields(line))
		if line == "commit" && !strings.HasPrefix(answer, "commit_ts") &&
			answer != "nothing to commit" {
			answer = "failed" // of several reasons, batches decide which one is met first
		}
		if line == "commit" || line == "rollback" {
			delete(s.txns, actor)
		}
		fmt.Fprintf(&out, "%s: %s → %s\n", actor, line, answer)
		if dice.IntN(60) == 0 {
			// On a shared store the collector is refused; what it does must not show anyway.
			now := s.oracle.Now()
			_, _ = s.store.CollectGarbage(context.Background())
			s.oracle.set(now + 10)
		}
	}
	return out.String()
}

// purse is the key of an account, which holds a number.
func purse(i int) []byte { return fmt.Appendf(nil, "a/%02d", i) }

func inPurse(v []byte) int {
	n, _ := strconv.Atoi(string(v))
	return n
}
