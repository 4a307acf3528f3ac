package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// typeName is a type's name in messages.
func typeName(t *types.Type) string { return types.TypeName(t.OID) }

// at adds a position to an error that has none.
func at(err error, pos int) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e.At(pos)
	}
	return err
}
