package types

import "strings"

// Collatable reports whether values of the type, which is no array, are texts that a collation
// orders.
func (t *Type) Collatable() bool {
	t = t.Base()
	return t.Family == CIText || t.Family == String && t.OID != OIDJSON
}

// FoldCase returns the text by which values of type citext are compared and found: what lower()
// makes of it.
func FoldCase(s string) string { return strings.ToLower(s) }
