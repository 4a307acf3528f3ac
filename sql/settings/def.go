package settings

import (
	"slices"
	"strings"
	"sync"
)

// Kind is the type of a parameter, as pg_settings.vartype names it.
type Kind string

// The kinds.
const (
	Bool   Kind = "bool"
	Int    Kind = "integer"
	Real   Kind = "real"
	String Kind = "string"
	Enum   Kind = "enum"
)

// Def describes one parameter.
type Def struct {
	Name    string
	Kind    Kind
	Default string
	Min     int64 // Int
	Max     int64
	Unit    string // "ms", "s", "kB", "8kB" or ""
	Enum    []string
	// Context is pg_settings.context: "user" may be SET, "internal" never, "postmaster" only by the
	// server's own options.
	Context string
	// Fixed parameters of context user accept their default and nothing else.
	Fixed bool
	// Report is set for what ParameterStatus announces.
	Report   bool
	List     bool // several values may be given
	Quote    bool // elements of the list are identifiers
	Category string
	Desc     string
}

const (
	maxInt        = 1<<31 - 1
	statement     = "Client Connection Defaults / Statement Behavior"
	locale        = "Client Connection Defaults / Locale and Formatting"
	preset        = "Preset Options"
	compatibility = "Version and Platform Compatibility / Previous PostgreSQL Versions"
	connection    = "Connections and Authentication / Connection Settings"
	isolation     = "read committed"
)

// ServerVersion is what server_version says: drivers gate on its number.
const ServerVersion = "15.18"

var defs = slices.SortedFunc(slices.Values(append(plannerDefs, sessionDefs...)),
	func(a, b Def) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})

var sessionDefs = []Def{
	{Name: "application_name", Kind: String, Context: "user", Report: true,
		Category: "Reporting and Logging / What to Log",
		Desc:     "Sets the application name to be reported in statistics and logs."},
	{Name: "array_nulls", Kind: Bool, Default: "on", Context: "user", Fixed: true,
		Category: compatibility,
		Desc:     "Enable input of NULL elements in arrays."},
	{Name: "authentication_timeout", Kind: Int, Default: "60", Min: 1, Max: 600, Unit: "s",
		Context:  "postmaster",
		Category: "Connections and Authentication / Authentication",
		Desc:     "Sets the maximum allowed time to complete client authentication."},
	{Name: "backslash_quote", Kind: Enum, Default: "safe_encoding",
		Enum: []string{"safe_encoding", "on", "off"}, Context: "user",
		Fixed: true, Category: compatibility, Desc: "Sets whether \"\\'\" is allowed in string " +
			"literals."},
	{Name: "bytea_output", Kind: Enum, Default: "hex", Enum: []string{"escape", "hex"},
		Context: "user", Category: statement,
		Desc: "Sets the output format for bytea."},
	{Name: "check_function_bodies", Kind: Bool, Default: "on", Context: "user", Category: statement,
		Desc: "Check routine bodies during CREATE FUNCTION and CREATE PROCEDURE."},
	{Name: "client_encoding", Kind: String, Default: "UTF8", Context: "user", Report: true,
		Category: locale,
		Desc:     "Sets the client's character set encoding."},
	{Name: "client_min_messages", Kind: Enum, Default: "notice", Context: "user",
		Category: statement,
		Enum: []string{"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning",
			"error"},
		Desc: "Sets the message levels that are sent to the client."},
	{Name: "data_directory", Kind: String, Context: "postmaster", Category: "File Locations",
		Desc: "Sets the server's data directory."},
	{Name: "DateStyle", Kind: String, Default: "ISO, MDY", Context: "user", Report: true,
		List: true, Category: locale,
		Desc: "Sets the display format for date and time values."},
	{Name: "default_statistics_target", Kind: Int, Default: "100", Min: 1, Max: 10000,
		Context:  "user",
		Category: "Query Tuning / Other Planner Options",
		Desc:     "Sets the default statistics target."},
	{Name: "default_table_access_method", Kind: String, Default: "heap", Context: "user",
		Fixed: true, Category: statement,
		Desc: "Sets the default table access method for new tables."},
	{Name: "default_tablespace", Kind: String, Context: "user", Fixed: true, Category: statement,
		Desc: "Sets the default tablespace to create tables and indexes in."},
	{Name: "default_transaction_deferrable", Kind: Bool, Default: "off", Context: "user",
		Category: statement,
		Desc:     "Sets the default deferrable status of new transactions."},
	{Name: "default_transaction_isolation", Kind: Enum, Default: isolation, Enum: isolationLevels,
		Context: "user", Category: statement,
		Desc: "Sets the transaction isolation level of each new transaction."},
	{Name: "default_transaction_read_only", Kind: Bool, Default: "off", Context: "user",
		Report: true, Category: statement,
		Desc: "Sets the default read-only status of new transactions."},
	{Name: "deadlock_timeout", Kind: Int, Default: "1000", Min: 1, Max: maxInt, Unit: "ms",
		Context: "user", Category: "Lock Management",
		Desc: "Sets the time to wait on a lock before checking for deadlock."},
	{Name: "escape_string_warning", Kind: Bool, Default: "on", Context: "user",
		Category: compatibility,
		Desc:     "Warn about backslash escapes in ordinary string literals."},
	{Name: "extra_float_digits", Kind: Int, Default: "1", Min: -15, Max: 3, Context: "user",
		Category: locale,
		Desc:     "Sets the number of digits displayed for floating-point values."},
	{Name: "idle_in_transaction_session_timeout", Kind: Int, Default: "0", Max: maxInt, Unit: "ms",
		Context: "user", Category: statement,
		Desc: "Sets the maximum allowed idle time between queries, when in a transaction."},
	{Name: "idle_session_timeout", Kind: Int, Default: "0", Max: maxInt, Unit: "ms",
		Context: "user", Category: statement,
		Desc: "Sets the maximum allowed idle time between queries, when not in a transaction."},
	{Name: "in_hot_standby", Kind: Bool, Default: "off", Context: "internal", Report: true,
		Category: preset,
		Desc:     "Shows whether hot standby is currently active."},
	{Name: "integer_datetimes", Kind: Bool, Default: "on", Context: "internal", Report: true,
		Category: preset,
		Desc:     "Shows whether datetimes are integer based."},
	{Name: "IntervalStyle", Kind: Enum, Default: "postgres", Context: "user", Report: true,
		Category: locale,
		Enum:     []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"},
		Desc:     "Sets the display format for interval values."},
	{Name: "is_superuser", Kind: Bool, Default: "on", Context: "internal", Report: true,
		Category: preset,
		Desc:     "Shows whether the current user is a superuser."},
	{Name: "lc_collate", Kind: String, Default: "C", Context: "internal", Category: preset,
		Desc: "Shows the collation order locale."},
	{Name: "lc_ctype", Kind: String, Default: "C", Context: "internal", Category: preset,
		Desc: "Shows the character classification and case conversion locale."},
	{Name: "lc_messages", Kind: String, Default: "C", Context: "user", Fixed: true,
		Category: locale,
		Desc:     "Sets the language in which messages are displayed."},
	{Name: "lc_monetary", Kind: String, Default: "C", Context: "user", Fixed: true,
		Category: locale,
		Desc:     "Sets the locale for formatting monetary amounts."},
	{Name: "lc_numeric", Kind: String, Default: "C", Context: "user", Fixed: true, Category: locale,
		Desc: "Sets the locale for formatting numbers."},
	{Name: "lc_time", Kind: String, Default: "C", Context: "user", Fixed: true, Category: locale,
		Desc: "Sets the locale for formatting date and time values."},
	{Name: "listen_addresses", Kind: String, Context: "postmaster", Category: connection,
		Desc: "Sets the host name or IP address(es) to listen to."},
	{Name: "lock_timeout", Kind: Int, Default: "0", Max: maxInt, Unit: "ms", Context: "user",
		Category: statement,
		Desc:     "Sets the maximum allowed duration of any wait for a lock."},
	{Name: "max_connections", Kind: Int, Default: "100", Min: 1, Max: 262143, Context: "postmaster",
		Category: connection,
		Desc:     "Sets the maximum number of concurrent connections."},
	{Name: "max_identifier_length", Kind: Int, Default: "63", Min: 63, Max: 63, Context: "internal",
		Category: preset,
		Desc:     "Shows the maximum identifier length."},
	{Name: "minidb.memory", Kind: Int, Default: "0", Max: maxInt, Unit: "kB", Context: "internal",
		Category: "Resource Usage / Memory",
		Desc:     "Shows what the process may hold in memory."},
	{Name: "minidb.statement_memory", Kind: Int, Default: "262144", Min: 64, Max: maxInt,
		Unit: "kB", Context: "user",
		Category: "Resource Usage / Memory",
		Desc:     "Sets the memory that sorts, joins and aggregates of one statement may use."},
	{Name: "minidb.write_locks", Kind: Bool, Default: "on", Context: "user",
		Category: "Lock Management",
		Desc: "Makes the writes of a transaction block lock their rows at once, rather than find " +
			"conflicts at commit."},
	{Name: "port", Kind: Int, Default: "5433", Min: 1, Max: 65535, Context: "postmaster",
		Category: connection,
		Desc:     "Sets the TCP port the server listens on."},
	{Name: "role", Kind: String, Default: "none", Context: "user", Fixed: true, Category: preset,
		Desc: "Sets the current role."},
	{Name: "row_security", Kind: Bool, Default: "on", Context: "user", Category: statement,
		Desc: "Enable row security."},
	{Name: "search_path", Kind: String, Default: `"$user", public`, Context: "user", List: true,
		Quote: true, Category: statement,
		Desc: "Sets the schema search order for names that are not schema-qualified."},
	{Name: "server_encoding", Kind: String, Default: "UTF8", Context: "internal", Report: true,
		Category: preset,
		Desc:     "Shows the server (database) character set encoding."},
	{Name: "server_version", Kind: String, Default: ServerVersion, Context: "internal",
		Report: true, Category: preset,
		Desc: "Shows the server version."},
	{Name: "server_version_num", Kind: Int, Default: "150018", Min: 150018, Max: 150018,
		Context: "internal", Category: preset,
		Desc: "Shows the server version as an integer."},
	{Name: "session_authorization", Kind: String, Context: "internal", Report: true,
		Category: preset,
		Desc:     "Sets the current session's user name."},
	{Name: "session_replication_role", Kind: Enum, Default: "origin",
		Enum: []string{"origin", "replica", "local"}, Context: "user",
		Fixed: true, Category: statement, Desc: "Sets the session's behavior for triggers and " +
			"rewrite rules."},
	{Name: "ssl", Kind: Bool, Default: "off", Context: "postmaster",
		Category: "Connections and Authentication / SSL",
		Desc:     "Enables SSL connections."},
	{Name: "standard_conforming_strings", Kind: Bool, Default: "on", Context: "user", Fixed: true,
		Report: true, Category: compatibility,
		Desc: "Causes '...' strings to treat backslashes literally."},
	{Name: "statement_timeout", Kind: Int, Default: "0", Max: maxInt, Unit: "ms", Context: "user",
		Category: statement,
		Desc:     "Sets the maximum allowed duration of any statement."},
	{Name: "superuser_reserved_connections", Kind: Int, Default: "3", Min: 0, Max: 262143,
		Context: "postmaster", Category: connection,
		Desc: "Sets the number of connection slots reserved for superusers."},
	{Name: "synchronize_seqscans", Kind: Bool, Default: "on", Context: "user",
		Category: compatibility,
		Desc:     "Enable synchronized sequential scans."},
	{Name: "synchronous_commit", Kind: Enum, Default: "on",
		Enum:    []string{"local", "remote_write", "remote_apply", "on", "off"},
		Context: "user", Fixed: true, Category: "Write-Ahead Log / Settings",
		Desc: "Sets the current transaction's synchronization level."},
	{Name: "TimeZone", Kind: String, Default: "Etc/UTC", Context: "user", Report: true,
		Category: locale,
		Desc:     "Sets the time zone for displaying and interpreting time stamps."},
	{Name: "transaction_deferrable", Kind: Bool, Default: "off", Context: "user",
		Category: statement,
		Desc: "Whether to defer a read-only serializable transaction until it can be executed " +
			"with no possible serialization failures."},
	{Name: "transaction_isolation", Kind: Enum, Default: isolation, Enum: isolationLevels,
		Context: "user", Category: statement,
		Desc: "Sets the current transaction's isolation level."},
	{Name: "transaction_read_only", Kind: Bool, Default: "off", Context: "user",
		Category: statement,
		Desc:     "Sets the current transaction's read-only status."},
	{Name: "transform_null_equals", Kind: Bool, Default: "off", Context: "user", Fixed: true,
		Category: "Version and Platform Compatibility / Other Platforms and Clients",
		Desc:     "Treats \"expr=NULL\" as \"expr IS NULL\"."},
	{Name: "vacuum_cost_delay", Kind: Int, Default: "0", Max: 100, Unit: "ms", Context: "user",
		Fixed:    true,
		Category: "Resource Usage / Cost-Based Vacuum Delay",
		Desc:     "Vacuum cost delay in milliseconds."},
	{Name: "xmloption", Kind: Enum, Default: "content", Enum: []string{"content", "document"},
		Context: "user", Category: statement,
		Desc: "Sets whether XML data in implicit parsing and serialization operations is to be " +
			"considered as documents or content fragments."},
}

var isolationLevels = []string{"serializable", "repeatable read", "read committed",
	"read uncommitted"}

var byName = sync.OnceValue(func() map[string]*Def {
	m := make(map[string]*Def, len(defs))
	for i := range defs {
		m[strings.ToLower(defs[i].Name)] = &defs[i]
	}
	return m
})

// Lookup finds a parameter by name, case aside; nil when there is none.
func Lookup(name string) *Def {
	if d := byName()[name]; d != nil {
		return d
	}
	return byName()[strings.ToLower(name)]
}

// All lists the parameters in the order in which SHOW ALL gives them.
func All() []Def { return defs }
