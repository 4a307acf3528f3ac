package sql

// utility runs the statements that are more than a plan, on the session that it is about.
type utility struct{ *Session }

// maintenance runs VACUUM, ANALYZE and REINDEX.
type maintenance struct{ utility }
