package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// ServerVersion is the PostgreSQL release whose behaviour minidb has. The text of version() and the
// settings server_version and server_version_num agree with it.
const (
	ServerVersion    = "15.18"
	ServerVersionNum = "150018"
)

// ask makes a stable function without arguments from a query of the session.
func ask(sig string, question func(s expr.Session) types.Datum) def {
	return f(sig, asking(func(s expr.Session, _ *expr.Runtime,
		_ []types.Datum) (types.Datum, error) {
		return question(s), nil
	})).stable()
}

// fixed makes a stable function that always returns the same value.
func fixed(sig string, d types.Datum) def { return f(sig, always(d)).stable() }

func always(d types.Datum) scalar {
	return func(*expr.Runtime, []types.Datum) (types.Datum, error) { return d, nil }
}

func systemFunctions() []def {
	user := func(s expr.Session) types.Datum { return types.NewString(s.User()) }
	sessionUser := func(s expr.Session) types.Datum { return types.NewString(s.SessionUser()) }
	database := func(s expr.Session) types.Datum { return types.NewString(s.Database()) }
	schema := func(s expr.Session) types.Datum {
		if p := s.SearchPath(); len(p) > 0 {
			return types.NewString(p[0])
		}
		return types.Null
	}
	return []def{
		fixed("version() text", types.NewString("PostgreSQL "+ServerVersion+" (minidb)")),
		ask("current_user|user|current_role|getpgusername() name", user),
		ask("session_user() name", sessionUser),
		ask("current_database|current_catalog() name", database),
		ask("current_schema() name", schema),
		f("current_schemas(bool) name[]", asking(currentSchemas)).stable(),
		ask("pg_backend_pid() int4",
			func(s expr.Session) types.Datum { return types.NewInt(int64(s.BackendPID())) }),
		n("current_query() text", answer(expr.ClientText.CurrentQuery)).volatile(),
		f("current_setting(text,bool?) text", asking(currentSetting)).stable(),
		n("set_config(text,text,bool) text", asking(setConfig)).volatile(),
		n("pg_typeof(any) regtype", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
			return types.NewInt(int64(rt.ArgTypes[0].OID)), nil
		}).stable(),
		n("pg_collation_for(any) text", collationUnknown).stable(),
		f("pg_sleep(float8) void", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return types.Datum{}, sleep(rt,
				time.Duration(min(max(a[0].F, 0), 1e9)*float64(time.Second)))
		}).volatile(),
		f("pg_sleep_for(interval) void",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				iv := a[0].Iv
				us := iv.Micros + (int64(iv.Days)+30*int64(iv.Months))*86_400_000_000
				return types.Datum{}, sleep(rt, time.Duration(max(us, 0))*time.Microsecond)
			}).volatile(),
		f("pg_sleep_until(timestamptz) void",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				return types.Datum{}, sleep(rt, time.Until(types.TimestampToTime(a[0].I)))
			}).volatile(),
		f("gen_random_uuid() uuid", randomUUID).volatile().leakproof(),
		f("pg_size_pretty(int8|numeric) text", sizePretty),
		f("pg_size_bytes(text) int8", sizeBytes),
		f("pg_column_size(any) int4", columnSize).stable(),
		fixed("pg_column_compression(any) text", types.Null), // no value is compressed by itself
		// The timestamps of the store. AS OF SYSTEM TIME accepts them and then reads at exactly
		// this timestamp.
		f("minidb_snapshot_timestamp() int8", answer(expr.Timestamps.SnapshotTimestamp)).stable(),
		f("pg_export_snapshot() text", answer(expr.Snapshots.ExportSnapshot)).volatile(),
		f("minidb_last_commit_timestamp() int8", asking(lastCommitTimestamp)).stable(),
		f("minidb_view_timestamp(regclass) int8", asking(viewTimestamp)).stable(),
		f("pg_postmaster_start_time() timestamptz", serverFact("started")).stable(),
		fixed("pg_is_in_recovery() bool", types.NewBool(false)),
		fixed("pg_trigger_depth() int4", types.NewInt(0)),
		f("pg_my_temp_schema() oid", asking(myTempSchema)).stable(),
		fixed("getdatabaseencoding|pg_client_encoding() name", types.NewString("UTF8")),
		f("pg_encoding_to_char(int4) name", encodingName).stable(),
		f("pg_char_to_encoding(name) int4", encodingNumber).stable(),
		f("pg_encoding_max_length(int4) int4",
			func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				switch a[0].I {
				case 0:
					return types.NewInt(1), nil
				case 6:
					return types.NewInt(4), nil
				}
				return types.Null, nil
			}),
	}
}

// viewTimestamp is NULL for a view without rows.
func viewTimestamp(t expr.Timestamps, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	ts, ok, err := t.ViewTimestamp(types.OID(a[0].I))
	if err != nil || !ok {
		return types.Null, err
	}
	return types.NewInt(ts), nil
}

// lastCommitTimestamp is NULL in a session that has committed nothing.
func lastCommitTimestamp(t expr.Timestamps, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	ts, ok := t.LastCommitTimestamp()
	if !ok {
		return types.Null, nil
	}
	return types.NewInt(ts), nil
}

// serverFact makes a function that returns a fact about the server or the session, an integer.
func serverFact(kind string) scalar {
	return asking(func(s expr.Session, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		text, ok := s.Describe(kind, 0, "")
		if !ok {
			return types.Null, sqlerr.Unsupported(0, "this system function")
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return types.Null, sqlerr.New(sqlerr.InternalError,
				"catalog fact \"%s\" is not a number", kind)
		}
		return types.NewInt(n), nil
	})
}

func currentSchemas(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	var out []types.Datum
	path := s.SearchPath()
	if a[0].Bool() {
		_, temp, err := temporarySchema(s)
		if err != nil {
			return types.Null, err
		}
		if temp != "" && !slices.Contains(path, temp) {
			out = append(out, types.NewString(temp))
		}
		if !slices.Contains(path, "pg_catalog") {
			out = append(out, types.NewString("pg_catalog"))
		}
	}
	for _, p := range path {
		out = append(out, types.NewString(p))
	}
	return oneDimensional(out, 1), nil
}

// temporarySchema returns the OID and name of the session's temporary schema, zero while there is
// none.
func temporarySchema(s expr.Session) (types.OID, string, error) {
	if t, ok := s.(expr.Temporaries); ok {
		return t.TemporarySchema()
	}
	return 0, "", nil
}

func myTempSchema(s expr.Session, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	oid, _, err := temporarySchema(s)
	return types.NewInt(int64(oid)), err
}

func currentSetting(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if v, ok, err := shownSetting(s, strings.ToLower(a[0].S)); ok || err != nil {
		return types.NewString(v), err
	}
	if len(a) > 1 && a[1].Bool() {
		return types.Null, nil
	}
	return types.Null, sqlerr.New(sqlerr.UndefinedObject,
		"unrecognized configuration parameter \"%s\"", a[0].S)
}

func setConfig(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed, "SET requires parameter name")
	}
	name := strings.ToLower(a[0].S)
	if err := s.SetSetting(name, a[1].S, a[2].Bool()); err != nil {
		return types.Null, err
	}
	v, _, err := shownSetting(s, name)
	return types.NewString(v), err
}

// shownSetting is the value of a setting, if the role may see it.
func shownSetting(s expr.Session, name string) (value string, ok bool, err error) {
	if g, guarded := s.(expr.SettingGuard); guarded {
		if err := g.MayShow(name); err != nil {
			return "", false, err
		}
	}
	value, ok = s.Setting(name)
	return value, ok, nil
}

// sleep waits unless the statement is cancelled.
func sleep(rt *expr.Runtime, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	if rt.Ctx == nil {
		<-t.C
		return nil
	}
	select {
	case <-t.C:
		return nil
	case <-rt.Ctx.Done():
		return rt.Ctx.Err()
	}
}

func randomUUID(*expr.Runtime, []types.Datum) (types.Datum, error) {
	var b [16]byte
	fillRandom(b[:])
	return types.NewString(string(versioned(b[:], 4))), nil
}

func columnSize(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	t := rt.ArgTypes[0]
	if t.Len > 0 {
		return types.NewInt(int64(t.Len)), nil
	}
	n := 0
	switch t.Family.Storage() {
	case types.Str:
		n = len(a[0].S)
	case types.Dec:
		digits := int(a[0].Dec.NumDigits())
		n = 2 + 2*((digits+3)/4)
	default:
		n = datumSize(a[0]) - 88
	}
	if n < 127 {
		return types.NewInt(int64(n + 1)), nil
	}
	return types.NewInt(int64(n + 4)), nil
}

// sizePretty halves the size by units, rounding once at the end as PostgreSQL does.
func sizePretty(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if rt.ArgTypes[0].Family == types.Decimal {
		return sizePrettyNumeric(a[0])
	}
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	size := a[0].I
	u := 0
	limit := int64(10 * 1024)
	for ; u < len(units)-1; u++ {
		abs := size
		if abs < 0 {
			abs = -abs
		}
		if abs < limit {
			break
		}
		limit = 20*1024 - 1
		// One bit more is kept for rounding.
		if u == 0 {
			size /= 512
		} else {
			size /= 1024
		}
	}
	if u > 0 {
		size = halfRounded(size)
	}
	return types.NewString(fmt.Sprintf("%d %s", size, units[u])), nil
}

func halfRounded(x int64) int64 {
	if x < 0 {
		return (x - 1) / 2
	}
	return (x + 1) / 2
}

func sizePrettyNumeric(d types.Datum) (types.Datum, error) {
	tenK := types.NumericFromInt(10 * 1024)
	if types.NumericCmp(types.NumericAbs(d.Dec), tenK) < 0 {
		return types.NewString(types.NumericString(d.Dec) + " bytes"), nil
	}
	whole, err := types.NumericTrunc(d.Dec, 0)
	if err != nil {
		return types.Null, err
	}
	size, ok := types.NumericToInt64(whole)
	if !ok {
		return types.Null, errIntRange(1<<63 - 1)
	}
	rt := &expr.Runtime{ArgTypes: []*types.Type{types.TInt8}}
	return sizePretty(rt, []types.Datum{types.NewInt(size)})
}

func sizeBytes(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	text := strings.TrimSpace(a[0].S)
	end := 0
	for end < len(text) && strings.IndexByte("+-.0123456789", text[end]) >= 0 {
		end++
	}
	num, err := types.ParseNumeric(text[:end])
	if err != nil {
		return types.Null, errInvalid("invalid size: \"%s\"", a[0].S)
	}
	unit := strings.ToLower(strings.TrimSpace(text[end:]))
	factors := map[string]int64{"": 1, "bytes": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20,
		"gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}
	factor, ok := factors[unit]
	if !ok {
		return types.Null, errInvalid("invalid size: \"%s\"", a[0].S).
			WithDetail("Invalid size unit: \"%s\".", strings.TrimSpace(text[end:])).
			WithHint("Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and " +
				"\"PB\".")
	}
	if num, err = types.NumericMul(num, types.NumericFromInt(factor)); err != nil {
		return types.Null, err
	}
	if num, err = types.NumericRound(num, 0); err != nil {
		return types.Null, err
	}
	v, ok := types.NumericToInt64(num)
	if !ok {
		return types.Null, errIntRange(1<<63 - 1)
	}
	return types.NewInt(v), nil
}
