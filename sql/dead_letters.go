package sql

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/observer"
)

// SettleDeadLetters is part of expr.DeadLetters.
func (f *accessor) SettleDeadLetters(name string, key *string, drop bool) (n int64, err error) {
	what := "minidb_retry_dead_letters()"
	if drop {
		what = "minidb_drop_dead_letters()"
	}
	if err := f.s.writable(what); err != nil {
		return 0, err
	}
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	o, ok, err := f.s.tx.view.Observer(f.ctx, f.s.databaseID, name)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "observer \"%s\" does not exist", name)
	}
	if err := f.s.mustBe(f.ctx, o.Table.OwnedBy(), "must be owner of table %s",
		o.Table.Name); err != nil {
		return 0, err
	}
	f.s.tx.view.HoldObserver(o)
	target, tx := o.Target(), f.s.tx.tx
	var keys [][]byte
	err = target.Letters(f.ctx, tx, func(l *observer.DeadLetter) error {
		if key == nil || *key == table.DescribeRowKey(o.Table, l.Key) {
			keys = append(keys, l.Key)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	settle := target.Retry
	if drop {
		settle = target.Drop
	}
	for _, k := range keys {
		if _, err := settle(f.ctx, tx, k); err != nil {
			return n, err
		}
		n++
	}
	if n > 0 {
		tx.WakeObserver(target.ID)
	}
	return n, nil
}
