package types

// builtinRange is a range type with its multirange type.
type builtinRange struct {
	oid, array, multi, multiArray OID
	name                          string // int4 of int4range
	sub                           *Type
}

// builtinRanges are the range types of PostgreSQL.
var builtinRanges = []builtinRange{
	{3904, 3905, 4451, 6150, "int4", TInt4},
	{3906, 3907, 4532, 6151, "num", TNumeric},
	{3908, 3909, 4533, 6152, "ts", TTimestamp},
	{3910, 3911, 4534, 6153, "tstz", TTimestampTZ},
	{3912, 3913, 4535, 6155, "date", TDate},
	{3926, 3927, 4536, 6157, "int8", TInt8},
}

// rangeEntries are the entries of the range types, each with its multirange type.
func rangeEntries() (out []catalogueEntry) {
	for _, b := range builtinRanges {
		r := &Type{OID: b.oid, Family: Range, Name: b.name + "range", Mod: NoMod, Sub: b.sub,
			Len: -1}
		m := &Type{OID: b.multi, Family: MultiRange, Name: b.name + "multirange", Mod: NoMod,
			Sub: r, Len: -1}
		out = append(out, catalogueEntry{r, b.array, 'R', false, ""},
			catalogueEntry{m, b.multiArray, 'R', false, ""})
	}
	return out
}

// MultiRangeOf returns the multirange type of a range type.
func MultiRangeOf(t *Type) *Type {
	for _, b := range builtinRanges {
		if b.oid == t.OID {
			m, _ := ByOID(b.multi)
			return m
		}
	}
	return nil
}

// RangeOf returns the range type of a subtype; nil if there is none.
func RangeOf(sub *Type) *Type {
	for _, b := range builtinRanges {
		if b.sub.OID == sub.OID {
			r, _ := ByOID(b.oid)
			return r
		}
	}
	return nil
}

// rangeSub returns the subtype of a range or multirange type.
func (t *Type) rangeSub() *Type {
	if t.Family == MultiRange {
		return t.Sub.Sub
	}
	return t.Sub
}
