package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// enqueueNotices puts what the transaction sends into the queue, before its commit.
func (s *transactor) enqueueNotices(ctx context.Context) (*notify.Sending, error) {
	if s.tx.notices.Empty() {
		return nil, nil
	}
	now, err := s.engine.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	who := notify.Sender{Database: uint32(s.databaseID), PID: s.pid, Listener: s.listener}
	return s.engine.notifications.Announce(who, s.tx.notices, now)
}

// endSending reports to the queue how the commit ended. After an ambiguous commit it sends the
// messages: the commit may be visible, and a message too many does less harm than one too few.
func endSending(sending *notify.Sending, ts tso.Timestamp, err error) {
	if err == nil || errors.Is(err, txn.ErrAmbiguous) {
		sending.Committed(ts)
	}
}
