package exec

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
)

// notBroken refuses to read an incremental view whose query has failed on a row: its rows would be
// those of some time ago.
func (r *run) notBroken(d *table.Desc) error {
	if !d.Incremental() {
		return nil
	}
	b, err := r.env.Tx.GetUnserialized(r.ev.Runtime.Ctx, table.ViewStateKey(d.ID))
	if err != nil || b == nil {
		return err
	}
	st, err := table.DecodeViewState(b)
	if err != nil || st.Broken == "" {
		return err
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
		"materialized view \"%s\" is broken: %s", d.Name, st.Broken).
		WithDetail("It shows its tables as they were at timestamp %d, and broke at timestamp %d "+
			"(%s).", st.Frontier, st.BrokenAt,
			st.BrokenAt.Time().UTC().Format("2006-01-02 15:04:05.000 MST")).
		WithHint("Change the rows on which its query fails, and use REFRESH MATERIALIZED VIEW.")
}
