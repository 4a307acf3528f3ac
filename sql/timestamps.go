package sql

// StartTimestamp is part of expr.Timestamps.
func (f *accessor) StartTimestamp() (int64, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return int64(f.s.tx.tx.StartTS()), nil
}

// SnapshotTimestamp is part of expr.Timestamps. A row that READ COMMITTED looks at a second time is
// read at a later timestamp than the rest of its statement, and an expression over it answers that.
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
