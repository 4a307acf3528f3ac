package pgwire

// routines are the functions of PostgreSQL that report most errors of a code. Programs look at
// this field of an ErrorResponse to know the kind of an error; errors of other codes
// have none.
var routines = map[string]string{
	"22012": "int4div",
	"22P02": "pg_strtoint32",
	"22007": "DateTimeParseError",
	"23502": "ExecConstraints",
	"23503": "ri_ReportViolation",
	"23505": "_bt_check_unique",
	"23514": "ExecConstraints",
	"25P01": "CheckTransactionBlock",
	"25P02": "exec_simple_query",
	"26000": "FetchPreparedStatement",
	"28P01": "auth_failed",
	"2BP01": "reportDependentObjects",
	"34000": "PerformPortalFetch",
	"3D000": "InitPostgres",
	"40P01": "DeadLockReport",
	"42501": "aclcheck_error",
	"42601": "scanner_yyerror",
	"42702": "colNameToVar",
	"42703": "errorMissingColumn",
	"42803": "check_ungrouped_columns_walker",
	"42883": "ParseFuncOrColumn",
	"42P01": "parserOpenTable",
	"42P05": "StorePreparedStatement",
	"42P06": "NamespaceCreate",
	"42P07": "heap_create_with_catalog",
	"42P10": "infer_arbiter_indexes",
	"57014": "ProcessInterrupts",
	"57P01": "ProcessInterrupts",
}
