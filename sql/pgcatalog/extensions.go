package pgcatalog

import (
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// extensionOf is the extension that an object ID belongs to, "" for none. What plpgsql has is in
// pg_catalog like anything that is built in.
func extensionOf(id types.OID) string {
	if e := extension.Of(uint32(id)); e != nil && e.Name != extension.PLpgSQL {
		return e.Name
	}
	return ""
}

// extensions are those of the database, by name.
func (r *reader) extensions() []catalog.Extension {
	all, err := r.env.View().Extensions(r.ctx, r.database())
	r.fail(err)
	return all
}

// extension returns an extension of the database; nil: it has none of the name.
func (r *reader) extension(name string) *catalog.Extension {
	all := r.extensions()
	i := slices.IndexFunc(all, func(e catalog.Extension) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// memberSchema reports whether the database has the object of a row of data. Of an extension's
// member it also returns the schema, 0 for any other object.
func (r *reader) memberSchema(fields []string) (schema table.ID, present bool) {
	if len(fields) == 0 {
		return 0, true
	}
	id := fields[0]
	if len(id) != 5 || id[0] != '1' { // most rows: no extension has the ID
		return 0, true
	}
	return r.memberSchemaOf(parseOID(id))
}

func (r *reader) memberSchemaOf(id types.OID) (schema table.ID, present bool) {
	def := extension.Of(uint32(id))
	if def == nil {
		return 0, true
	}
	e := r.extension(def.Name)
	switch {
	case e == nil:
		return 0, false
	case def.Schema != "":
		return 0, true
	}
	return e.SchemaID, true
}

// extensionRows are the rows of pg_extension.
func extensionRows(r *reader, emit emitter) {
	for _, e := range r.extensions() {
		def := extension.Find(e.Name)
		if def == nil {
			continue
		}
		emit("oid", e.ID, "extname", e.Name, "extowner", table.ID(e.OwnedBy()),
			"extnamespace", e.SchemaID, "extrelocatable", def.Schema == "",
			"extversion", def.Version)
	}
}

// availableRows are the rows of pg_available_extensions.
func availableRows(r *reader, emit emitter) {
	for _, def := range extension.All() {
		var installed any
		if r.extension(def.Name) != nil {
			installed = def.Version
		}
		emit("name", def.Name, "default_version", def.Version, "installed_version", installed,
			"comment", def.Comment)
	}
}

// availableVersionRows are the rows of pg_available_extension_versions.
func availableVersionRows(r *reader, emit emitter) {
	for _, def := range extension.All() {
		emit("name", def.Name, "version", def.Version, "installed", r.extension(def.Name) != nil,
			"superuser", true, "trusted", true, "relocatable", def.Schema == "",
			"schema", orNull(def.Schema), "comment", def.Comment)
	}
}

// memberCatalogs are the catalogs whose rows belong to extensions, with the object IDs of the
// catalogs.
var memberCatalogs = []struct {
	name  string
	class int
}{
	{"pg_proc", int(procCatalog)}, {"pg_type", int(typeCatalog)},
	{"pg_operator", int(operatorCatalog)}, {"pg_cast", classCast},
	{"pg_language", classLanguage}, {"pg_opfamily", classOpfamily}, {"pg_opclass", classOpclass},
	{"pg_ts_template", classTemplate}, {"pg_ts_dict", classDictionary},
}

// extensionDepends shows the schemas of extensions, and what belongs to each.
func (r *reader) extensionDepends(put func(dependency)) {
	for _, e := range r.extensions() {
		if e.SchemaID != CatalogSchemaID {
			put(dependency{classExtension, e.ID, classNamespace, e.SchemaID, 0, "n"})
		}
		for _, c := range memberCatalogs {
			for _, set := range setsOf(c.name) {
				r.memberDepends(c.class, e, set, put)
			}
		}
	}
}

func (r *reader) memberDepends(class int, e catalog.Extension, set *dataset,
	put func(dependency)) {
	def := extension.Find(e.Name)
	for fields := range set.all() {
		id := parseOID(fields[0])
		if uint32(id) < def.First || uint32(id) > def.Last ||
			set.listed != nil && !set.listed(builtinObjects(), fields) {
			continue
		}
		if t, ok := types.ByOID(id); class == int(typeCatalog) && (!ok || t.Elem != nil) {
			continue // the type of arrays belongs to its element
		}
		put(dependency{class, table.ID(id), classExtension, e.ID, 0, "e"})
	}
}
