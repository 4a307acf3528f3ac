package builtin

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// transactionFunctions are about transactions, named by their xid8, the start timestamp. A snapshot
// lists those that run when the function is called: the statement does not see what they write.
func transactionFunctions() []def {
	return []def{
		f("txid_current() int8", answer(expr.Timestamps.StartTimestamp)).stable(),
		f("pg_current_xact_id() xid8", answer(expr.Timestamps.StartTimestamp)).stable(),
		f("txid_current_if_assigned() int8", asking(assignedID)).stable(),
		f("pg_current_xact_id_if_assigned() xid8", asking(assignedID)).stable(),
		f("txid_current_snapshot() txid_snapshot",
			currentSnapshot("txid_current_snapshot")).stable(),
		f("pg_current_snapshot() pg_snapshot",
			currentSnapshot("pg_current_snapshot")).stable(),
		f("txid_snapshot_xmin(txid_snapshot) int8", snapshotXmin),
		f("pg_snapshot_xmin(pg_snapshot) xid8", snapshotXmin),
		f("txid_snapshot_xmax(txid_snapshot) int8", snapshotXmax),
		f("pg_snapshot_xmax(pg_snapshot) xid8", snapshotXmax),
		s("txid_snapshot_xip(txid_snapshot) int8", "", snapshotRunning),
		s("pg_snapshot_xip(pg_snapshot) xid8", "", snapshotRunning),
		f("txid_visible_in_snapshot(int8,txid_snapshot) bool", visibleInSnapshot),
		f("pg_visible_in_snapshot(xid8,pg_snapshot) bool", visibleInSnapshot),
		f("txid_status(int8) text", transactionStatus("txid_status")).volatile(),
		f("pg_xact_status(xid8) text", transactionStatus("pg_xact_status")).volatile(),
	}
}

// assignedID is NULL in a transaction that has written nothing.
func assignedID(t expr.Timestamps, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	if wrote, err := t.HasWritten(); err != nil || !wrote {
		return types.Null, err
	}
	own, err := t.StartTimestamp()
	return types.NewInt(own), err
}

func currentSnapshot(function string) scalar {
	return asking(func(t expr.Timestamps, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		sn, err := snapshotOf(t, function)
		return types.NewString(sn.String()), err
	})
}

func snapshotOf(t expr.Timestamps, function string) (sn types.Snapshot, err error) {
	running, err := t.RunningTransactions(function)
	if err != nil {
		return sn, err
	}
	at, err := t.SnapshotTimestamp()
	if err != nil {
		return sn, err
	}
	sn.Min, sn.Max = uint64(at)+1, uint64(at)+1
	for _, ts := range running {
		if ts <= at {
			sn.Running = append(sn.Running, uint64(ts))
		}
	}
	if len(sn.Running) > 0 {
		sn.Min = sn.Running[0]
	}
	if own, err := t.StartTimestamp(); err == nil {
		sn.Min = min(sn.Min, uint64(own))
	}
	return sn, nil
}

func snapshotXmin(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	sn, _ := types.ParseSnapshot(a[0].S)
	return types.NewInt(int64(sn.Min)), nil
}

func snapshotXmax(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	sn, _ := types.ParseSnapshot(a[0].S)
	return types.NewInt(int64(sn.Max)), nil
}

func snapshotRunning(_ *expr.Runtime, a []types.Datum, emit func(row []types.Datum) error) error {
	sn, _ := types.ParseSnapshot(a[0].S)
	for _, v := range sn.Running {
		if err := emit([]types.Datum{types.NewInt(int64(v))}); err != nil {
			return err
		}
	}
	return nil
}

func visibleInSnapshot(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	sn, _ := types.ParseSnapshot(a[1].S)
	id := uint64(a[0].I)
	seen := id < sn.Min || id < sn.Max && !slices.Contains(sn.Running, id)
	return types.NewBool(seen), nil
}

// transactionStatus knows the transactions that run. Whether an older one has committed is recorded
// with the rows that it wrote and nowhere else: the answer is NULL, as PostgreSQL's is for one of
// which it has dropped the record.
func transactionStatus(function string) scalar {
	return asking(func(t expr.Timestamps, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return statusOf(t, function, a[0].I)
	})
}

func statusOf(t expr.Timestamps, function string, id int64) (types.Datum, error) {
	own, err := t.StartTimestamp()
	if err != nil {
		return types.Null, err
	}
	running, err := t.RunningTransactions(function)
	if err != nil {
		return types.Null, err
	}
	at, err := t.SnapshotTimestamp()
	switch {
	case err != nil:
		return types.Null, err
	case id == own || slices.Contains(running, id):
		return types.NewString("in progress"), nil
	case id > max(own, at):
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue,
			"transaction ID %d is in the future", id)
	}
	return types.Null, nil
}
