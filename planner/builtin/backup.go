package builtin

import (
	"strconv"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// backupFunctions write backups, as PostgreSQL's BASE_BACKUP with a target on the server does.
func backupFunctions() []def {
	const cols = "name text,base text,at timestamptz,timestamp text,cells int8,bytes int8," +
		"size int8,resumed bool,why_full text"
	return []def{
		s("minidb_backup(text) record", cols, backup).volatile(),
		s("minidb_backup(text,jsonb) record", cols, backup).volatile(),
	}
}

func backup(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	session, err := session[expr.Backups](rt)
	if err != nil {
		return err
	}
	options := ""
	if len(a) > 1 {
		options = a[1].S
	}
	b, err := session.Backup(a[0].S, options)
	if err != nil {
		return err
	}
	text := func(s string) types.Datum {
		if s == "" {
			return types.Null
		}
		return types.NewString(s)
	}
	return emit([]types.Datum{types.NewString(b.Name), text(b.Base), types.NewInt(b.At),
		types.NewString(strconv.FormatUint(b.Timestamp, 10)), types.NewInt(b.Cells),
		types.NewInt(b.Bytes), types.NewInt(b.Size), types.NewBool(b.Resumed), text(b.WhyFull)})
}
