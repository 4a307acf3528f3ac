package pgcatalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// roles are all roles, as the session sees them; none after an error.
func (r *reader) roles() *acl.Roles {
	roles, err := r.env.View().Roles(r.ctx)
	r.fail(err)
	if err != nil {
		return acl.NewRoles(nil, nil)
	}
	return roles
}

// list is an access list as a value of aclitem[]; NULL for a nil list.
func (r *reader) list(l acl.List) any {
	if l == nil {
		return nil
	}
	return r.roles().Texts(l)
}

func authidRows(r *reader, emit emitter) {
	for _, a := range r.roles().All() {
		var password, until any
		if a.Password != "" {
			password = a.Password
		}
		if a.ValidUntil != nil {
			until = *a.ValidUntil
		}
		emit("oid", table.ID(a.ID), "rolname", a.Name, "rolsuper", a.Superuser,
			"rolinherit", a.Inherit, "rolcreaterole", a.CreateRole, "rolcreatedb", a.CreateDB,
			"rolcanlogin", a.Login, "rolreplication", a.Replication,
			"rolbypassrls", a.BypassRLS, "rolconnlimit", a.ConnectionLimit,
			"rolpassword", password, "rolvaliduntil", until)
	}
}

// sharedDescriptionRows are the comments on what all databases share.
func sharedDescriptionRows(r *reader, emit emitter) {
	for _, db := range r.databases() {
		if db.Comment != "" {
			emit("objoid", db.ID, "classoid", classDatabase, "description", db.Comment)
		}
	}
	for _, role := range r.roles().All() {
		if role.Comment != "" {
			emit("objoid", table.ID(role.ID), "classoid", classAuthID,
				"description", role.Comment)
		}
	}
}

func memberRows(r *reader, emit emitter) {
	for _, m := range r.roles().Memberships() {
		emit("roleid", table.ID(m.Role), "member", table.ID(m.Member),
			"grantor", table.ID(m.Grantor), "admin_option", m.Admin)
	}
}

// roleSettingRows are the settings that ALTER DATABASE and ALTER ROLE … SET stored.
func roleSettingRows(r *reader, emit emitter) {
	put := func(database, role uint32, entries []string) {
		if len(entries) > 0 {
			emit("setdatabase", int64(database), "setrole", int64(role), "setconfig", entries)
		}
	}
	for _, db := range r.databases() {
		put(uint32(db.ID), 0, db.Settings)
	}
	all, err := r.env.View().AllRoles(r.ctx)
	r.fail(err)
	for _, s := range all {
		put(uint32(s.Database), 0, s.Entries)
	}
	for _, role := range r.roles().All() {
		for _, s := range role.Settings {
			put(s.Database, uint32(role.ID), s.Entries)
		}
	}
}

func defaultPrivilegeRows(r *reader, emit emitter) {
	all, err := r.env.View().DefaultPrivileges(r.ctx, r.database())
	r.fail(err)
	letters := map[acl.Class]string{acl.Relation: "r", acl.Sequence: "S", acl.Function: "f",
		acl.Type: "T", acl.Schema: "n"}
	slices.SortFunc(all, func(a, b catalog.DefaultPrivileges) int {
		return cmp.Compare(a.OID, b.OID)
	})
	for _, d := range all {
		emit("oid", d.OID, "defaclrole", table.ID(d.Role), "defaclnamespace", d.Schema,
			"defaclobjtype", letters[d.Class], "defaclacl", r.list(d.ACL))
	}
}

// Classes of pg_shdepend.
const (
	classRelation   = 1259
	classNamespace  = 2615
	classDatabase   = 1262
	classType       = 1247
	classDefaultACL = 826
	classPolicy     = 3256
	classAuthID     = 1260
	classExtension  = 3079
	classLanguage   = 2612
	classTablespace = 1213
	classParameter  = 6243
	classCast       = 2605
	classOpclass    = 2616
	classOpfamily   = 2753
	classTemplate   = 3764
	classDictionary = 3600

	classLargeObject = 2613
)

func sharedDependRows(r *reader, emit emitter) {
	classes := map[catalog.ObjectClass]int{catalog.ClassRelation: classRelation,
		catalog.ClassSchema: classNamespace, catalog.ClassDatabase: classDatabase,
		catalog.ClassType:              classType,
		catalog.ClassLargeObject:       classLargeObject,
		catalog.ClassExtension:         classExtension,
		catalog.ClassDefaultPrivileges: classDefaultACL}
	objects := map[acl.Class]int{acl.Type: classType, acl.Function: int(procCatalog),
		acl.Language: classLanguage, acl.Tablespace: classTablespace,
		acl.Parameter: classParameter}
	for _, role := range r.roles().All() {
		refs, err := r.env.View().References(r.ctx, role.ID)
		r.fail(err)
		for _, ref := range refs {
			class, object, sub := classes[ref.Class], ref.Object, 0
			switch {
			case ref.Class == catalog.ClassObject:
				class = objects[acl.Class(ref.Sub)]
			case ref.Why == catalog.ByPolicy:
				class, object = classPolicy, ref.Sub
			case ref.Sub != 0:
				if d := r.relation(ref.Object); d != nil {
					sub = attnum(d, table.ColumnID(ref.Sub))
				}
			}
			emit("dbid", ref.Database, "classid", class, "objid", object, "objsubid", sub,
				"refclassid", classAuthID, "refobjid", table.ID(role.ID),
				"deptype", string(rune(ref.Why)))
		}
	}
}

// roleName is the name of a role by its ID.
func (r *reader) roleName(id table.ID) (string, bool) {
	role := r.roles().ByID(acl.RoleID(id))
	if role == nil {
		return "", false
	}
	return role.Name, true
}

// Tables and views of the system that only superusers, and pg_read_all_data, read.
var secret = map[string]bool{"pg_statistic": true, "pg_authid": true, "pg_shadow": true,
	"pg_statistic_ext_data": true, "pg_file_settings": true, "pg_hba_file_rules": true,
	"pg_ident_file_mappings": true, "pg_config": true, "pg_user_mapping": true,
	"pg_replication_origin_status": true, "pg_subscription": true, "pg_largeobject": true,
	"pg_shmem_allocations": true, "pg_backend_memory_contexts": true}

// ungranted are those of information_schema that only their owner reads.
var ungranted = map[string]bool{"sql_parts": true, "transforms": true}

var everyoneReads = acl.Item{Grantee: acl.Public, Grantor: acl.Postgres, Granted: acl.Select}

// listOf is the access list of a table of the system.
func listOf(schema, name string) acl.List {
	if schema == "information_schema" && (ungranted[name] || strings.HasPrefix(name, "_pg_")) {
		return nil
	}
	l := acl.Default(acl.Relation, acl.Postgres)
	if secret[name] {
		return l
	}
	reader := everyoneReads
	switch name {
	case "pg_settings":
		reader.Granted |= acl.Update
	case "pg_shmem_allocations", "pg_backend_memory_contexts":
		reader.Grantee = acl.ReadAllStats
	}
	return append(l, reader)
}

// SystemSchemaList is the access list of pg_catalog and information_schema.
func SystemSchemaList() acl.List {
	return append(acl.Default(acl.Schema, acl.Postgres),
		acl.Item{Grantee: acl.Public, Grantor: acl.Postgres, Granted: acl.Usage})
}

// KindName is what messages about privileges call a kind of relation.
func KindName(d *table.Desc) string {
	switch relkind(d) {
	case "v":
		return "view"
	case "m":
		return "materialized view"
	case "S":
		return "sequence"
	}
	return "table"
}
