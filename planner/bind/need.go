package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// need notes that the statement needs privileges on a relation. What everyone may read needs none:
// nil.
func (b *binder) need(d *table.Desc, want acl.Privileges) *opt.Need {
	if d.Kind == table.KindVirtual && want == acl.Select && readByAll(d) {
		return nil
	}
	r := &opt.Need{Relation: d.ID, As: b.as, Want: want}
	b.meta.Needs = append(b.meta.Needs, r)
	return r
}

// needRoutine notes that the statement calls a function or aggregate (opt.Env.Routines). The role
// that runs the statement must be allowed to, also where the text of a view has the call.
func (b *binder) needRoutine(routine any) {
	if b.env.Routines == nil {
		return
	}
	if b.routines == nil {
		var err error
		b.routines, err = b.env.Routines(b.ctx)
		failure.Check(err)
		if b.routines == nil {
			b.routines = map[any]table.ID{}
		}
	}
	if id, ok := b.routines[routine]; ok {
		b.meta.Needs = append(b.meta.Needs, &opt.Need{Routine: id, Want: acl.Execute})
	}
}

func readByAll(d *table.Desc) bool {
	for _, it := range d.ACL {
		if it.Grantee == acl.Public && it.Granted&acl.Select != 0 {
			return true
		}
	}
	return false
}

// noteReads makes references to the columns of a relation need the privilege to read them.
func noteReads(cols []visible, d *table.Desc, r *opt.Need) {
	if r == nil {
		return
	}
	k := 0
	for i := range d.Columns {
		if d.Columns[i].Hidden {
			continue
		}
		if k < len(cols) {
			cols[k].right, cols[k].column = r, d.Columns[i].ID
		}
		k++
	}
}
