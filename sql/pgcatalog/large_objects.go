package pgcatalog

import (
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/table/types"
)

// largeObjects visits the large objects of the database.
func (r *reader) largeObjects(visit func(id largeobject.ID, o *largeobject.Record)) {
	r.fail(r.env.View().LargeObjects(r.ctx, r.database(),
		func(id largeobject.ID, o *largeobject.Record) error {
			visit(id, o)
			return r.err
		}))
}

// largeObject returns the record of a large object; nil: there is none.
func (r *reader) largeObject(id table.ID) *largeobject.Record {
	o, err := r.env.View().LargeObject(r.ctx, r.database(), largeobject.ID(id))
	r.fail(err)
	return o
}

func largeObjectMetadataRows(r *reader, emit emitter) {
	r.largeObjects(func(id largeobject.ID, o *largeobject.Record) {
		emit("oid", table.ID(id), "lomowner", table.ID(o.OwnedBy()), "lomacl", r.list(o.ACL))
	})
}

// largeObjectRows are the pages of the large objects. Superusers alone may read them.
func largeObjectRows(r *reader, emit emitter) {
	r.fail(r.env.View().LargeObjectPages(r.ctx, r.database(),
		func(id largeobject.ID, page uint32, data []byte) error {
			var bytes any
			if r.wants("data") {
				bytes = types.NewString(string(data))
			}
			emit("loid", table.ID(id), "pageno", page, "data", bytes)
			return r.err
		}))
}
