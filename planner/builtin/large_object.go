package builtin

import (
	"io"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// largeObjectFunctions read and write large objects, by descriptors that the session numbers.
func largeObjectFunctions() []def {
	return []def{
		f("lo_creat(int4) oid", asking(createLarge("lo_creat()"))).volatile(),
		f("lo_create(oid) oid", asking(createLarge("lo_create()"))).volatile(),
		f("lo_unlink(oid) int4", asking(unlinkLarge)).volatile(),
		f("lo_open(oid,int4) int4", asking(openLarge)).volatile(),
		f("lo_close(int4) int4", asking(closeLarge)).volatile(),
		f("loread(int4,int4) bytea", onLarge(readLarge)).volatile(),
		f("lowrite(int4,bytea) int4", onLarge(writeLarge)).volatile(),
		f("lo_lseek(int4,int4,int4) int4", onLarge(inInt4("lo_lseek", seekLarge))).volatile(),
		f("lo_lseek64(int4,int8,int4) int8", onLarge(seekLarge)).volatile(),
		f("lo_tell(int4) int4", onLarge(inInt4("lo_tell", positionOfLarge))).volatile(),
		f("lo_tell64(int4) int8", onLarge(positionOfLarge)).volatile(),
		f("lo_truncate(int4,int4) int4", onLarge(truncateLarge("lo_truncate()"))).volatile(),
		f("lo_truncate64(int4,int8) int4", onLarge(truncateLarge("lo_truncate64()"))).volatile(),
		f("lo_get(oid) bytea", asking(getLarge)).volatile(),
		f("lo_get(oid,int8,int4) bytea", asking(getLarge)).volatile(),
		f("lo_put(oid,int8,bytea) void", asking(putLarge)).volatile(),
		f("lo_from_bytea(oid,bytea) oid", asking(largeFromBytea)).volatile(),
		f("lo_import(text) oid", asking(serverFile("lo_import"))).volatile(),
		f("lo_import(text,oid) oid", asking(serverFile("lo_import"))).volatile(),
		f("lo_export(oid,text) int4", asking(serverFile("lo_export"))).volatile(),
	}
}

// The modes of lo_open.
const (
	largeWrite = 0x20000
	largeRead  = 0x40000
)

func createLarge(command string) func(expr.LargeObjects, *expr.Runtime,
	[]types.Datum) (types.Datum, error) {
	return func(s expr.LargeObjects, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		id := types.OID(a[0].I)
		if command == "lo_creat()" {
			id = 0 // its argument is a mode that means nothing any more
		}
		id, err := s.CreateLargeObject(command, id)
		return types.NewInt(int64(id)), err
	}
}

func unlinkLarge(s expr.LargeObjects, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewInt(1), s.UnlinkLargeObject(types.OID(a[0].I))
}

func openLarge(s expr.LargeObjects, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	mode := a[1].I
	if mode&(largeWrite|largeRead) == 0 {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue,
			"invalid flags for opening a large object: %d", mode)
	}
	h, err := s.OpenLargeObject(types.OID(a[0].I), mode&largeWrite != 0)
	if err != nil {
		return types.Null, err
	}
	d, err := s.NumberLargeObject(h)
	return types.NewInt(int64(d)), err
}

func closeLarge(s expr.LargeObjects, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewInt(0), s.CloseLargeObject(int32(a[0].I))
}

// largeCall is a call of a function whose first argument is a descriptor.
type largeCall struct {
	session    expr.LargeObjects
	descriptor int32
	handle     expr.LargeObject
}

// onLarge makes a function whose first argument is a descriptor.
func onLarge(do func(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum,
	error)) scalar {
	return asking(func(s expr.LargeObjects, rt *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		d := int32(a[0].I)
		h, err := s.NumberedLargeObject(d)
		if err != nil {
			return types.Null, err
		}
		return do(largeCall{s, d, h}, rt, a[1:])
	})
}

// writes refuses a change by a descriptor that was opened for reading alone, or in a transaction
// that is read-only.
func (c largeCall) writes(command string) error {
	if !c.handle.Writable() {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"large object descriptor %d was not opened for writing", c.descriptor)
	}
	return c.session.MayWriteLargeObjects(command)
}

func readLarge(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return readSome(rt, c.handle, max(a[0].I, 0))
}

// smallRead is a length of reads that is allocated without a look at how much there is.
const smallRead = 64 << 10

// readSome reads up to n bytes at the position of a handle.
func readSome(rt *expr.Runtime, h expr.LargeObject, n int64) (types.Datum, error) {
	if n > smallRead {
		size, err := h.Size(rt.Ctx)
		if err != nil {
			return types.Null, err
		}
		n = min(n, max(size-h.Offset(), 0))
	}
	if n > math.MaxInt32/2-4 {
		return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"large object read request is too large")
	}
	if err := rt.Grow(2 * n); err != nil { // the bytes, and the datum made of them
		return types.Null, err
	}
	b := make([]byte, n)
	got, err := h.Read(rt.Ctx, b)
	if err != nil {
		return types.Null, err
	}
	return types.NewString(string(b[:got])), nil
}

func writeLarge(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := c.writes("lowrite()"); err != nil {
		return types.Null, err
	}
	n := len(a[0].S)
	return types.NewInt(int64(n)), c.handle.Write(rt.Ctx, []byte(a[0].S))
}

func seekLarge(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	at, err := c.handle.Seek(rt.Ctx, a[0].I, int(a[1].I))
	return types.NewInt(at), err
}

func positionOfLarge(c largeCall, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	return types.NewInt(c.handle.Offset()), nil
}

// inInt4 makes the form of a function whose result is an integer of 32 bits.
func inInt4(name string, of func(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum,
	error)) func(largeCall, *expr.Runtime, []types.Datum) (types.Datum, error) {
	return func(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := of(c, rt, a)
		if err == nil && d.I > math.MaxInt32 {
			err = sqlerr.New(sqlerr.NumericValueOutOfRange,
				"%s result out of range for large-object descriptor %d", name, c.descriptor)
		}
		return d, err
	}
}

func truncateLarge(command string) func(largeCall, *expr.Runtime, []types.Datum) (types.Datum,
	error) {
	return func(c largeCall, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := c.writes(command); err != nil {
			return types.Null, err
		}
		return types.NewInt(0), c.handle.Truncate(rt.Ctx, a[0].I)
	}
}

// getLarge is lo_get: of a whole object, or of so many bytes from an offset on.
func getLarge(s expr.LargeObjects, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if len(a) > 1 && a[2].I < 0 {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue,
			"requested length cannot be negative")
	}
	h, err := s.OpenLargeObject(types.OID(a[0].I), false)
	if err != nil {
		return types.Null, err
	}
	defer h.Close()
	if len(a) == 1 {
		return readSome(rt, h, math.MaxInt64)
	}
	if _, err := h.Seek(rt.Ctx, a[1].I, io.SeekStart); err != nil {
		return types.Null, err
	}
	return readSome(rt, h, a[2].I)
}

func putLarge(s expr.LargeObjects, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := s.MayWriteLargeObjects("lo_put()"); err != nil {
		return types.Null, err
	}
	h, err := s.OpenLargeObject(types.OID(a[0].I), true)
	if err != nil {
		return types.Null, err
	}
	defer h.Close()
	if _, err := h.Seek(rt.Ctx, a[1].I, io.SeekStart); err != nil {
		return types.Null, err
	}
	return types.Datum{}, h.Write(rt.Ctx, []byte(a[2].S))
}

func largeFromBytea(s expr.LargeObjects, rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	id, err := s.CreateLargeObject("lo_from_bytea()", types.OID(a[0].I))
	if err != nil {
		return types.Null, err
	}
	h, err := s.OpenLargeObject(id, true)
	if err != nil {
		return types.Null, err
	}
	defer h.Close()
	return types.NewInt(int64(id)), h.Write(rt.Ctx, []byte(a[1].S))
}

// serverFile refuses lo_import and lo_export, whose files are the server's.
func serverFile(name string) func(expr.LargeObjects, *expr.Runtime, []types.Datum) (types.Datum,
	error) {
	return func(s expr.LargeObjects, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		if !s.MayUseServerFiles() {
			return types.Null, sqlerr.New(sqlerr.InsufficientPrivilege,
				"permission denied for function %s", name)
		}
		return types.Null, sqlerr.Unsupported(0, name+" of a file of the server")
	}
}
