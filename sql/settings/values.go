package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table/types"
)

// Values are the parameters of one session.
type Values struct {
	layers [layers]map[string]string
	// what RESET goes back to, where it is not the table's default: the layers, merged
	base    map[string]string
	from    map[string]Layer  // whose value is in base
	session map[string]string // by SET
	local   map[string]string // by SET LOCAL, until the transaction ends
	// custom are the custom parameters that the session has named. One stays known, empty, after
	// RESET and after the transaction that has set it, as in PostgreSQL: policies that compare
	// current_setting('app.user', true) see '' then, not NULL.
	custom map[string]bool
	undo   []change
	// reported parameters whose announced value may be out of date: the old one
	changed  map[string]string
	derived  Derived
	computed bool
}

// change is what a parameter was before it was set inside a transaction.
type change struct {
	name             string
	session, local   string
	hasSession, hasL bool
}

// Derived holds values that are asked for on every statement, parsed.
type Derived struct {
	Format            types.Format
	SearchPath        []string // as set, "$user" included
	StatementTimeout  time.Duration
	LockTimeout       time.Duration
	IdleInTransaction time.Duration
	IdleSession       time.Duration
	ClientMinMessages string
	ApplicationName   string
	ReadOnly          bool // default_transaction_read_only
	StatementMemory   int64
	WorkMemory        int64 // bytes
	TempFileLimit     int64 // bytes; 0: none
	// SessionAuthorization and Role are names of roles; Role is "none" without SET ROLE.
	SessionAuthorization   string
	Role                   string
	RowSecurity            bool   // false: a query that policies would limit is an error
	PlanKey                string // the settings that a plan may depend on
	Planner                Planner
	DefaultTransactionDefr bool
	Isolation              string // default_transaction_isolation
	DeadlockTimeout        time.Duration
	WriteLocks             bool
	// OwnWrites: incremental views show what the session has committed.
	OwnWrites        bool
	StatisticsTarget int // default_statistics_target
	Log              Log
}

// New returns the values of a new session. server overrides defaults of the table (also of
// parameters that no client may set); its values are taken as they are.
func New(server map[string]string) *Values {
	v := &Values{session: map[string]string{}, local: map[string]string{},
		custom: map[string]bool{}, changed: map[string]string{}}
	own := make(map[string]string, len(server))
	for k, s := range server {
		own[key(k)] = s
	}
	v.layers[ByServer] = own
	v.merge()
	return v
}

func key(name string) string { return strings.ToLower(name) }

// absent are PostgreSQL's parameters that are not here: no value of theirs would be true.
var absent = map[string]bool{
	"config_file": true, "debug_assertions": true, "default_text_search_config": true,
	"external_pid_file": true, "hba_file": true, "ident_file": true, "krb_server_keyfile": true,
	"log_autovacuum_min_duration": true, "log_checkpoints": true, "log_error_verbosity": true,
	"log_line_prefix":               true,
	"log_startup_progress_interval": true, "recursive_worktable_factor": true,
	"ssl_ca_file": true, "ssl_cert_file": true, "ssl_ciphers": true, "ssl_crl_dir": true,
	"ssl_crl_file": true, "ssl_dh_params_file": true, "ssl_ecdh_curve": true,
	"ssl_key_file": true, "ssl_library": true, "ssl_max_protocol_version": true,
	"ssl_min_protocol_version": true, "ssl_passphrase_command": true,
	"ssl_passphrase_command_supports_reload": true, "ssl_prefer_server_ciphers": true,
	"restrict_nonsystem_relation_kind": true, "stats_fetch_consistency": true,
	"tcp_keepalives_count": true, "tcp_keepalives_idle": true, "tcp_keepalives_interval": true,
	"tcp_user_timeout": true, "timezone_abbreviations": true,
	"unix_socket_directories": true, "unix_socket_group": true, "unix_socket_permissions": true,
}

// Unknown is the error for a name that is neither a parameter nor custom.
func Unknown(name string) error {
	if absent[key(name)] {
		return sqlerr.Unsupported(0, "parameter \""+name+"\"")
	}
	return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
}

// Custom reports whether name has the form of a custom parameter: two or more simple identifiers
// joined by dots.
func Custom(name string) bool {
	parts := strings.Split(name, ".")
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" {
			return false
		}
		for i, c := range []byte(p) {
			ok := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 || i > 0 &&
				(c >= '0' && c <= '9' || c == '$')
			if !ok {
				return false
			}
		}
	}
	return true
}

func (v *Values) raw(k string) (string, bool) {
	if s, ok := v.local[k]; ok {
		return s, true
	}
	if s, ok := v.session[k]; ok {
		return s, true
	}
	if s, ok := v.base[k]; ok {
		return s, true
	}
	if d := byName()[k]; d != nil {
		return d.Default, true
	}
	return "", v.custom[k]
}

// Raw is the value as pg_settings.setting shows it, without unit.
func (v *Values) Raw(name string) (string, bool) { return v.raw(key(name)) }

// Reset is what RESET would give.
func (v *Values) Reset(name string) string {
	k := key(name)
	if s, ok := v.base[k]; ok {
		return s
	}
	if d := byName()[k]; d != nil {
		return d.Default
	}
	return ""
}

// Get is the value as SHOW and current_setting give it; false when there is no such parameter.
func (v *Values) Get(name string) (string, bool) {
	k := key(name)
	s, ok := v.raw(k)
	if d := byName()[k]; ok && d != nil {
		s = d.Display(s)
	}
	return s, ok
}

// Show is Get with PostgreSQL's error.
func (v *Values) Show(name string) (string, error) {
	s, ok := v.Get(name)
	if !ok {
		return "", Unknown(name)
	}
	return s, nil
}

// SetList is SET name = values: lists are joined in the form of the parameter.
func (v *Values) SetList(name string, values []string, local bool) error {
	value, err := Join(name, values)
	if err != nil {
		return err
	}
	return v.Set(name, value, local)
}

// Set gives a parameter a value: SET, or SET LOCAL.
func (v *Values) Set(name, value string, local bool) error {
	value, err := v.check(name, value, bySession)
	if err == nil {
		v.put(key(name), value, local)
	}
	return err
}

// Join makes one text of the values of SET, in the form of the parameter. It looks at no value.
func Join(name string, values []string) (string, error) {
	d := Lookup(name)
	if len(values) > 1 && (d == nil || !d.List) {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "SET %s takes only one argument", name)
	}
	if d != nil && d.Quote {
		quoted := make([]string, len(values))
		for i, s := range values {
			quoted[i] = sqlname.Quote(s)
		}
		values = quoted
	}
	return strings.Join(values, ", "), nil
}

// settable reports why the parameter cannot be set in a layer; nil if it can.
func (d *Def) settable(in Layer) error {
	switch d.Context {
	case "backend", "superuser-backend":
		if in == BySystem || in == ByClient {
			return nil
		}
		return sqlerr.New(sqlerr.CantChangeRuntimeParam,
			"parameter \"%s\" cannot be set after connection start", d.Name)
	case "internal":
		return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed",
			d.Name)
	case "postmaster":
		return sqlerr.New(sqlerr.CantChangeRuntimeParam,
			"parameter \"%s\" cannot be changed without restarting the server", d.Name)
	case "sighup":
		return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed now",
			d.Name)
	}
	return nil
}

// SetDefault is SET name TO DEFAULT, and RESET.
func (v *Values) SetDefault(name string, local bool) error {
	k := key(name)
	d := byName()[k]
	if d == nil && !Custom(name) {
		return Unknown(name)
	}
	if d != nil {
		if err := d.settable(bySession); err != nil {
			return err
		}
	}
	if d == nil {
		v.custom[k] = true
	}
	if local {
		v.put(k, v.Reset(name), true)
		return nil
	}
	v.remember(k)
	delete(v.session, k)
	delete(v.local, k)
	return nil
}

// ResetAll is RESET ALL.
func (v *Values) ResetAll() {
	for _, m := range []map[string]string{v.session, v.local} {
		for k := range m {
			if strings.HasPrefix(k, "transaction_") || identity[k] {
				continue
			}
			v.remember(k)
			delete(v.session, k)
			delete(v.local, k)
		}
	}
}

// identity are the parameters that RESET ALL leaves: whose rights the session has.
var identity = map[string]bool{"role": true, "session_authorization": true, "is_superuser": true}

// PutIdentity sets one of the parameters that say whose rights the session has. The caller has
// checked that it may.
func (v *Values) PutIdentity(name, value string, local bool) error {
	if !identity[name] {
		return Unknown(name)
	}
	v.put(name, value, local)
	return nil
}

// ForgetIdentity gives such a parameter the value that the session began with.
func (v *Values) ForgetIdentity(name string) {
	v.remember(name)
	delete(v.session, name)
	delete(v.local, name)
}

func (v *Values) put(k, value string, local bool) {
	if byName()[k] == nil {
		v.custom[k] = true
	}
	v.remember(k)
	if local {
		v.local[k] = value
		return
	}
	v.session[k] = value
	delete(v.local, k)
}

// remember logs the present state of a parameter, before a change.
func (v *Values) remember(k string) {
	c := change{name: k}
	c.session, c.hasSession = v.session[k]
	c.local, c.hasL = v.local[k]
	v.undo = append(v.undo, c)
	v.touch(k)
}

func (v *Values) touch(k string) {
	v.computed = false
	if d := byName()[k]; d == nil || !d.Report {
		return
	}
	if _, ok := v.changed[k]; !ok {
		v.changed[k], _ = v.raw(k)
	}
}

// Mark is the present length of the undo log: what RollbackTo takes.
func (v *Values) Mark() int { return len(v.undo) }

// RollbackTo undoes all changes after mark.
func (v *Values) RollbackTo(mark int) {
	for i := len(v.undo) - 1; i >= mark; i-- {
		c := &v.undo[i]
		v.touch(c.name)
		restore(v.session, c.name, c.session, c.hasSession)
		restore(v.local, c.name, c.local, c.hasL)
	}
	v.undo = v.undo[:min(mark, len(v.undo))]
}

func restore(m map[string]string, k, value string, has bool) {
	if has {
		m[k] = value
		return
	}
	delete(m, k)
}

// Commit ends a transaction: what SET LOCAL set is gone, the rest stays.
func (v *Values) Commit() {
	for k := range v.local {
		v.touch(k)
		delete(v.local, k)
	}
	v.undo = v.undo[:0]
}

// Rollback ends a transaction and undoes all its changes.
func (v *Values) Rollback() {
	v.RollbackTo(0)
	v.Commit()
}

// Report is a parameter with its new value, for ParameterStatus.
type Report struct{ Name, Value string }

// Changed lists the reported parameters that changed since the last call, sorted by name.
func (v *Values) Changed() []Report {
	if len(v.changed) == 0 {
		return nil
	}
	var out []Report
	for k, old := range v.changed {
		if now, _ := v.raw(k); now != old {
			out = append(out, Report{byName()[k].Name, now})
		}
	}
	clear(v.changed)
	slices.SortFunc(out, func(a, b Report) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Initial lists all reported parameters, in the order in which PostgreSQL sends them at the start.
func (v *Values) Initial() []Report {
	out := make([]Report, 0, len(reported()))
	for _, d := range reported() {
		s, _ := v.raw(d.key)
		out = append(out, Report{d.Name, s})
	}
	clear(v.changed)
	return out
}

// CustomNames lists the custom parameters that have a value, sorted.
func (v *Values) CustomNames() []string {
	var out []string
	for _, m := range []map[string]string{v.base, v.session, v.local} {
		for k := range m {
			if byName()[k] == nil && !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Derived returns the parsed values; they are valid until the next change.
func (v *Values) Derived() *Derived {
	if !v.computed {
		v.derive()
	}
	return &v.derived
}

func (v *Values) derive() {
	text := func(name string) string { s, _ := v.raw(name); return s }
	number := func(name string) int64 { n, _ := strconv.ParseInt(text(name), 10, 64); return n }
	millis := func(name string) time.Duration {
		return time.Duration(number(name)) * time.Millisecond
	}
	style, order, _ := strings.Cut(text("datestyle"), ", ")
	loc, _, err := types.ParseZoneSetting(text("timezone"))
	if err != nil {
		loc = time.UTC
	}
	path, _ := sqlname.SplitList(text("search_path"))
	planner, plannerKey := derivePlanner(text)
	v.derived = Derived{
		Planner: planner,
		Format: types.Format{DateStyle: style, DateOrder: order,
			IntervalStyle:    text("intervalstyle"),
			ByteaOutput:      text("bytea_output"),
			ExtraFloatDigits: int(number("extra_float_digits")),
			XMLDocument:      text("xmloption") == "document",
			XMLHex:           text("xmlbinary") == "hex",
			QuoteAll:         text("quote_all_identifiers") == "on",
			Location:         loc},
		SearchPath:             path,
		StatementTimeout:       millis("statement_timeout"),
		LockTimeout:            millis("lock_timeout"),
		IdleInTransaction:      millis("idle_in_transaction_session_timeout"),
		IdleSession:            millis("idle_session_timeout"),
		ClientMinMessages:      text("client_min_messages"),
		ApplicationName:        text("application_name"),
		ReadOnly:               text("default_transaction_read_only") == "on",
		DefaultTransactionDefr: text("default_transaction_deferrable") == "on",
		Isolation:              text("default_transaction_isolation"),
		DeadlockTimeout:        millis("deadlock_timeout"),
		WriteLocks:             text("minidb.write_locks") == "on",
		OwnWrites:              text("minidb.view_freshness") == "own writes",
		StatisticsTarget:       int(number("default_statistics_target")),
		StatementMemory:        number("minidb.statement_memory") << 10,
		WorkMemory:             number("work_mem") << 10,
		TempFileLimit:          tempFileLimit(number("temp_file_limit")),
		SessionAuthorization:   text("session_authorization"),
		Role:                   text("role"),
		RowSecurity:            text("row_security") == "on",
		Log:                    deriveLog(text),
		PlanKey: strings.Join([]string{text("search_path"), text("timezone"), text("datestyle"),
			text("intervalstyle"),
			text("bytea_output"), text("extra_float_digits"), text("xmloption"),
			text("xmlbinary"), text("quote_all_identifiers"), text("session_authorization"),
			text("role"), text("row_security"), plannerKey}, "\x00"),
	}
	v.computed = true
}

// tempFileLimit returns temp_file_limit in bytes, 0 for no limit. One byte is less than any file
// has.
func tempFileLimit(kB int64) int64 {
	switch {
	case kB < 0:
		return 0
	case kB == 0:
		return 1
	}
	return kB << 10
}

// Pristine reports whether no parameter has been set.
func (v *Values) Pristine() bool { return len(v.session) == 0 && len(v.local) == 0 }
