package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/minidb/minidb/kv"
)

// workload is a kind of transaction. It uses keys of its own, so that kinds may be mixed.
type workload struct {
	name string
	run  func(ctx context.Context, c *client, dice *rand.Rand) error
}

var workloads = []workload{
	{"list-append", listAppend},
	{"register", register},
	{"bank", bank},
	{"unique-insert", uniqueInsert},
	{"skew", skew},
}

const (
	listKeys     = 5
	registerKeys = 6
	bankAccounts = 5
	bankStart    = 100
	uniqueKeys   = 4
	skewPairs    = 2
)

func key(kind string, i int) string { return fmt.Sprintf("%s/%d", kind, i) }

func spanOf(kind string) kv.Span {
	return kv.Span{Start: []byte(kind + "/"), End: []byte(kind + "0")}
}

// listAppend reads lists and appends its own name to some: what is read shows the whole past.
func listAppend(ctx context.Context, c *client, dice *rand.Rand) error {
	for i := range 1 + dice.IntN(4) {
		k := key("list", dice.IntN(listKeys))
		var err error
		switch dice.IntN(4) {
		case 0:
			_, _, err = c.get(ctx, k)
		case 1:
			err = c.look(ctx, k)
		default:
			err = c.update(ctx, k, func(old string, _ bool) (string, error) {
				return fmt.Sprintf("%s %s.%d", old, c.name(), i), nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// register writes blindly, deletes, reads and scans. Some values are too long to be inlined.
func register(ctx context.Context, c *client, dice *rand.Rand) error {
	for i := range 1 + dice.IntN(5) {
		k := key("reg", dice.IntN(registerKeys))
		var err error
		switch dice.IntN(7) {
		case 0:
			_, _, err = c.get(ctx, k)
		case 1:
			err = c.look(ctx, k)
		case 2:
			err = c.scan(ctx, spanOf("reg"), dice.IntN(2) == 0)
		case 3:
			s := spanOf("reg")
			s.Start = []byte(k)
			err = c.scan(ctx, s, dice.IntN(2) == 0)
		case 4:
			err = c.delete(ctx, k)
		default:
			err = c.set(ctx, k,
				fmt.Sprintf("%s.%d%s", c.name(), i, strings.Repeat("-", 300*dice.IntN(2))))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bank moves money, or adds it up.
func bank(ctx context.Context, c *client, dice *rand.Rand) error {
	if dice.IntN(3) == 0 {
		return c.scan(ctx, spanOf("bank"), dice.IntN(2) == 0)
	}
	from := dice.IntN(bankAccounts)
	to := (from + 1 + dice.IntN(bankAccounts-1)) % bankAccounts
	amount := 1 + dice.IntN(9)
	for _, m := range []struct{ account, by int }{{from, -amount}, {to, amount}} {
		err := c.update(ctx, key("bank", m.account),
			func(old string, found bool) (_ string, err error) {
				balance := bankStart
				if found {
					number, _, _ := strings.Cut(old, " ")
					balance, err = strconv.Atoi(number)
				}
				return fmt.Sprintf("%d %s", balance+m.by, c.name()), err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// uniqueInsert inserts a row and its index entry, blindly or having looked, or removes both.
func uniqueInsert(ctx context.Context, c *client, dice *rand.Rand) error {
	i := dice.IntN(uniqueKeys)
	row, entry := key("row", i), key("uniq", i)
	found := dice.IntN(2) == 0
	var err error
	switch dice.IntN(3) {
	case 0:
		if _, found, err = c.get(ctx, entry); err != nil {
			return err
		}
	case 1:
		if dice.IntN(3) == 0 {
			return c.scan(ctx, spanOf("uniq"), false)
		}
	}
	if found {
		if err := c.delete(ctx, row); err != nil {
			return err
		}
		return c.delete(ctx, entry)
	}
	if err := c.insert(ctx, row, c.name()); err != nil {
		return err
	}
	return c.insert(ctx, entry, c.name()+"'")
}

// skew reads a pair, singly or as a span, and writes one of the two.
func skew(ctx context.Context, c *client, dice *rand.Rand) error {
	kind := fmt.Sprintf("skew%d", dice.IntN(skewPairs))
	if dice.IntN(2) == 0 {
		if err := c.scan(ctx, spanOf(kind), false); err != nil {
			return err
		}
	} else {
		for i := range 2 {
			if _, _, err := c.get(ctx, key(kind, i)); err != nil {
				return err
			}
		}
	}
	if dice.IntN(4) == 0 {
		return nil
	}
	return c.set(ctx, key(kind, dice.IntN(2)), c.name())
}
