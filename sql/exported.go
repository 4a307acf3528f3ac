package sql

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/txn/tso"
)

// exportedSnapshots are the snapshots that running transactions of this process have exported
// (pg_export_snapshot), for others to read the same (SET TRANSACTION SNAPSHOT): pg_dump -j does so
// in all its sessions.
type exportedSnapshots struct {
	mu   sync.Mutex
	byID map[string]exportedSnapshot
}

type exportedSnapshot struct {
	ts        tso.Timestamp
	isolation string // of the transaction that exported it
}

func (e *exportedSnapshots) add(id string, snap exportedSnapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byID == nil {
		e.byID = map[string]exportedSnapshot{}
	}
	e.byID[id] = snap
}

func (e *exportedSnapshots) find(id string) (exportedSnapshot, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	snap, ok := e.byID[id]
	return snap, ok
}

// forget is called when the transaction that exported the snapshots ends.
func (e *exportedSnapshots) forget(ids []string) {
	if len(ids) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		delete(e.byID, id)
	}
}

// ExportSnapshot implements expr.Snapshots.
func (f *accessor) ExportSnapshot() (string, error) {
	s := f.s
	if len(s.tx.savepoints) > 0 {
		return "", sqlerr.New(sqlerr.ActiveSQLTransaction,
			"cannot export a snapshot from a subtransaction")
	}
	if err := s.ensure(f.ctx); err != nil {
		return "", err
	}
	id := fmt.Sprintf("%08X-%08X-%d", uint32(s.pid), uint32(s.tx.tx.StartTS()),
		len(s.tx.exported)+1)
	s.engine.snapshots.add(id, exportedSnapshot{s.tx.tx.ReadTS(), s.tx.isolation})
	s.tx.exported = append(s.tx.exported, id)
	return id, nil
}

// importSnapshot makes the present transaction read what another one exported. It reads as AS OF
// SYSTEM TIME does, and can write as little.
func (s *planRunner) importSnapshot(ctx context.Context, id string) error {
	switch {
	case s.tx.ran || s.tx.asOf != 0 || len(s.tx.savepoints) > 0:
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"SET TRANSACTION SNAPSHOT must be called before any query")
	case s.tx.perStatement():
		return sqlerr.New(sqlerr.FeatureNotSupported, "a snapshot-importing transaction must have "+
			"isolation level SERIALIZABLE or REPEATABLE READ")
	}
	snap, ok := s.engine.snapshots.find(id)
	switch {
	case !ok || strings.Trim(id, "0123456789ABCDEF-") != "":
		return s.noSnapshot(id)
	case s.tx.isolation == serializable && snap.isolation != serializable:
		return sqlerr.New(sqlerr.FeatureNotSupported, "a serializable transaction cannot import a "+
			"snapshot from a non-serializable transaction")
	case !s.tx.readOnly:
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"SET TRANSACTION SNAPSHOT is not supported in a READ WRITE transaction")
	case snap.ts < s.engine.store.Safepoint():
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"could not import the requested snapshot").
			WithDetail("Versions that it shows may have been collected.")
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	s.tx.asOf = snap.ts
	return nil
}

// noSnapshot is the error about an identifier that no running transaction has returned.
func (s *planRunner) noSnapshot(id string) error {
	err := sqlerr.New(sqlerr.InvalidParameterValue, "invalid snapshot identifier: \"%s\"", id)
	if s.engine.shared {
		return err.WithDetail("No running transaction of this process has exported it.").
			WithHint("A snapshot can be imported in the process that has exported it only.")
	}
	return err
}
