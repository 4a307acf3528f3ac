package types

// The domains of information_schema, by which PostgreSQL's views there declare their columns and
// to which clients cast. They are there in every database and never change.
var (
	cardinalNumber = systemDomain(13221, 13220, "cardinal_number", TInt4, "",
		DomainCheck{OID: 13222, Name: "cardinal_number_domain_check", Text: "value >= 0"},
		func(d Datum) bool { return d.I >= 0 })
	characterData = systemDomain(13224, 13223, "character_data", TVarchar, "", DomainCheck{}, nil)
	sqlIdentifier = systemDomain(13226, 13225, "sql_identifier", TName, "", DomainCheck{}, nil)
	timeStamp     = systemDomain(13232, 13231, "time_stamp", TTimestampTZ.Apply(2),
		"current_timestamp(2)", DomainCheck{}, nil)
	yesOrNo = systemDomain(13234, 13233, "yes_or_no", TVarchar.Apply(7), "",
		DomainCheck{OID: 13235, Name: "yes_or_no_check", Text: "value in ('YES', 'NO')"},
		func(d Datum) bool { return d.S == "YES" || d.S == "NO" })
)

// systemDomains are the domains of information_schema in the order of their object IDs.
var systemDomains = []*Type{cardinalNumber, characterData, sqlIdentifier, timeStamp, yesOrNo}

// SystemDomains lists the domains of information_schema. The slice is shared.
func SystemDomains() []*Type { return systemDomains }

// systemDomain makes a domain of information_schema. admits is its check for a value that is not
// NULL; nil: it has none.
func systemDomain(oid, array OID, name string, base *Type, deflt string, check DomainCheck,
	admits systemCheck) *Type {
	def := &Definition{Kind: KindDomain, Schema: "information_schema", System: true, Version: 1,
		ArrayOID: array, ArrayName: "_" + name, Base: base, Default: deflt}
	if admits != nil {
		def.Checks, def.Program = []DomainCheck{check}, admits
	}
	return NewUserType(&Type{OID: oid, Name: name, Def: def})
}

// systemCheck evaluates the one constraint of a domain: DomainProgram.
type systemCheck func(Datum) bool

// Broken implements DomainProgram.
func (admits systemCheck) Broken(d Datum, _ *Format) (int, error) {
	if d.Null || admits(d) {
		return -1, nil
	}
	return 0, nil
}

// InformationSchema finds a type of information_schema by pg_type.typname: one of its domains, or
// the type of arrays of one; nil when there is none.
func InformationSchema(name string) *Type {
	for _, t := range systemDomains {
		switch name {
		case t.Name:
			return t
		case t.Def.ArrayName:
			return ArrayOf(t)
		}
	}
	return nil
}
