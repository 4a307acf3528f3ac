package sql

// StartTimestamp is part of expr.Timestamps.
func (f *accessor) StartTimestamp() (int64, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return int64(f.s.tx.tx.StartTS()), nil
}

// SnapshotTimestamp is part of expr.Timestamps. While READ COMMITTED rechecks a row, it is the
// later timestamp at which the row is read again.
func (f *accessor) SnapshotTimestamp() (int64, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return int64(f.s.tx.tx.ReadTS()), nil
}

// LastCommitTimestamp is part of expr.Timestamps.
func (f *accessor) LastCommitTimestamp() (int64, bool) {
	return int64(f.s.lastCommit), f.s.lastCommit != 0
}
