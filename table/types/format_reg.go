package types

// RegResolver turns the OIDs of the reg* types into names and back. The catalog is one; without it
// reg* values are shown as numbers.
type RegResolver interface {
	// RegName returns the text of an OID of the reg* type; ok is false when there is no such
	// object.
	RegName(typ, oid OID) (name string, ok bool)
	// RegOID finds the object that the text names.
	RegOID(typ OID, name string) (OID, error)
}
