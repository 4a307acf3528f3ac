package sql

import "github.com/minidb/minidb/sql/pgcatalog"

// ViewStats counts what the maintainer of a group of incremental views has done in this process.
type ViewStats = pgcatalog.ViewStats
