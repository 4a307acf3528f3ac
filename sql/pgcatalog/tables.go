package pgcatalog

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"

	"github.com/minidb/minidb/table"
)

// The definitions of all virtual tables: the catalogs, and the views that PostgreSQL, too, has on
// them. A view with a query casts the query's results to the types of its columns.
var (
	//go:embed catalogs.sql
	catalogs string
	//go:embed views.sql
	catalogViews string
	//go:embed information_schema.sql
	informationSchema string
	//go:embed information_schema_types.sql
	informationTypes string
	//go:embed information_schema_routines.sql
	informationRoutines string
	//go:embed information_schema_privileges.sql
	informationPrivileges string
	//go:embed activity.sql
	activityViews string
	//go:embed system_views.sql
	systemViews string
	//go:embed absent.sql
	absentRelations string
)

// rowsOf returns the functions that make rows, by the table's name. A table without one, and
// without a query, is empty.
func rowsOf() map[string]func(r *reader, emit emitter) {
	return map[string]func(r *reader, emit emitter){
		"pg_namespace":       namespaceRows,
		"pg_class":           classRows,
		"pg_attribute":       attributeRows,
		"pg_attrdef":         attrdefRows,
		"pg_type":            typeRows,
		"pg_enum":            enumRows,
		"pg_extension":       extensionRows,
		"pg_index":           indexRows,
		"pg_constraint":      constraintRows,
		"pg_policy":          policyRows,
		"pg_sequence":        sequenceRows,
		"pg_description":     descriptionRows,
		"pg_db_role_setting": roleSettingRows,
		"pg_shdescription":   sharedDescriptionRows,
		"pg_auth_members":    memberRows,
		"pg_default_acl":     defaultPrivilegeRows,
		"pg_shdepend":        sharedDependRows,
		"pg_database":        databaseRows,
		"pg_depend":          dependRows,
		"pg_init_privs":      initialPrivilegeRows,
		"pg_rewrite":         rewriteRows,
		"pg_authid":          authidRows,
		"pg_tablespace":      tablespaceRows,
		"pg_parameter_acl":   parameterRows,
		"pg_largeobject":     largeObjectRows,

		"pg_largeobject_metadata": largeObjectMetadataRows,

		"pg_settings":            settingsRows,
		"pg_stat_activity":       activityRows,
		"pg_stat_ssl":            encryptionRows,
		"pg_stat_gssapi":         unauthenticatedRows,
		"pg_prepared_statements": preparedRows,
		"pg_cursors":             cursorRows,

		"pg_available_extensions":         availableRows,
		"pg_available_extension_versions": availableVersionRows,

		"pg_timezone_names":   zoneRows,
		"pg_timezone_abbrevs": abbreviationRows,

		"pg_locks":                      lockRows,
		"minidb_lock_waits":             lockWaitRows,
		"minidb_conflicts":              conflictRows,
		"minidb_progress":               progressRows,
		"minidb_reruns":                 rerunRows,
		"minidb_holds":                  holdRows,
		"pg_stat_progress_basebackup":   backupProgressRows,
		"pg_stat_progress_copy":         copyProgressRows,
		"pg_stat_progress_vacuum":       vacuumProgressRows,
		"pg_stat_progress_analyze":      analyzeProgressRows,
		"pg_stat_progress_create_index": indexProgressRows,
		"minidb_memory":                 memoryRows,
		"minidb_observers":              observerRows,
		"minidb_dead_letters":           deadLetterRows,
		"pg_stats":                      statsRows,
		"pg_stat_all_tables":            counterRows,
	}
}

// fixedRowsOf returns the functions that make the rows that are the same in every database.
func fixedRowsOf() map[string]func(emit emitter) {
	return map[string]func(emit emitter){
		"pg_class":     fixedClasses,
		"pg_attribute": fixedAttributes,
		"pg_proc":      ownFunctionRows,
	}
}

// definition is one statement of the files: kind, schema, name, columns, OID or query.
var definition = regexp.MustCompile(
	`(?s)CREATE (TABLE|VIEW) (\w+)\.(\w+) \(([^)]*)\)(?: WITH \(oid = (\d+)\);| AS\s(.*?;)|;)\n`)

// relations parses the definitions.
func relations() []relation {
	files := strings.Join([]string{catalogs, catalogViews, informationSchema, informationTypes,
		informationRoutines, informationPrivileges, activityViews, systemViews, absentRelations},
		"\n")
	rows, fixed := rowsOf(), fixedRowsOf()
	var out []relation
	for _, m := range definition.FindAllStringSubmatch(files, -1) {
		oid, _ := strconv.ParseUint(m[5], 10, 32) // none: 0
		out = append(out, relation{view: m[1] == "VIEW", schema: m[2], name: m[3], columns: m[4],
			oid: table.ID(oid), query: m[6], rows: rows[m[3]], fixed: fixed[m[3]]})
	}
	return out
}
