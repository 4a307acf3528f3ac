package pgcatalog

import (
	"net"
	"strconv"
	"strings"

	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

func settingsRows(r *reader, emit emitter) {
	for _, s := range r.env.Settings(r.ctx) {
		var minimum, maximum, enum any
		switch s.Kind {
		case "real":
			minimum, maximum = "0", "1.79769e+308"
		case "integer":
			minimum, maximum = strconv.FormatInt(s.Min, 10), strconv.FormatInt(s.Max, 10)
		}
		if s.Enum != nil {
			enum = s.Enum
		}
		emit("name", s.Name, "setting", s.Value, "unit", orNull(s.Unit), "category", s.Category,
			"short_desc", s.Desc, "context", s.Context, "vartype", s.Kind, "source", s.Source,
			"min_val", minimum, "max_val", maximum, "enumvals", enum, "boot_val", s.Boot,
			"reset_val", s.Reset, "sourceline", nil)
	}
}

func activityRows(r *reader, emit emitter) {
	waits := map[int32]string{}
	for _, l := range r.env.Locks() {
		if !l.Granted {
			waits[l.PID] = l.Type
		}
	}
	who, err := r.env.Authority(r.ctx)
	if r.fail(err); err != nil {
		return
	}
	for _, a := range r.env.Activity() {
		// What others do is for superusers and for those with their rights.
		if !who.Has(a.Role) && !who.Has(acl.ReadAllStats) {
			emit("datid", int64(a.DatabaseID), "datname", a.Database, "pid", a.PID,
				"usesysid", int64(a.Role), "usename", a.User, "application_name", a.Application,
				"query", concealed)
			continue
		}
		var port, waitType any
		event := waits[a.PID]
		switch {
		case event != "":
			waitType = "Lock"
		case len(r.env.SafeSnapshotBlockers(a.PID)) > 0:
			waitType, event = "IPC", "SafeSnapshot"
		case a.Wait != "":
			waitType, event = "IPC", a.Wait
		case strings.HasPrefix(a.State, "idle"):
			waitType, event = "Client", "ClientRead"
		}
		if n, known := a.port(); known {
			port = n
		}
		emit("datid", int64(a.DatabaseID), "datname", a.Database, "pid", a.PID, "leader_pid", nil,
			"usesysid", int64(a.Role), "usename", a.User, "application_name", a.Application,
			"client_addr", types.InetOfEnd(a.Client),
			"client_port", port, "backend_start", a.Started,
			"xact_start", a.TxnStarted, "query_start", a.QueryStart, "state_change", a.StateChanged,
			"wait_event_type", waitType, "wait_event", orNull(event), "state", a.State,
			"backend_xid", transactionID(a.Writing), "backend_xmin", horizon(a.Oldest),
			"query_id", nil, "query", a.Query, "backend_type", "client backend")
	}
}

// port is that of a client which has connected by TCP.
func (a *Activity) port() (n int, known bool) {
	_, text, err := net.SplitHostPort(a.Client)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(text)
	return n, err == nil
}

// encryptionRows are those of pg_stat_ssl.
func encryptionRows(r *reader, emit emitter) {
	r.connections(func(a *Activity) {
		if e := a.TLS; e != nil {
			emit("pid", a.PID, "ssl", true, "version", e.Version, "cipher", e.Cipher,
				"bits", e.Bits, "client_dn", orNull(e.Client), "client_serial", e.Serial,
				"issuer_dn", orNull(e.Issuer))
			return
		}
		emit("pid", a.PID, "ssl", false, "bits", nil, "client_serial", nil)
	})
}

// unauthenticatedRows are those of pg_stat_gssapi.
func unauthenticatedRows(r *reader, emit emitter) {
	r.connections(func(a *Activity) {
		emit("pid", a.PID, "gss_authenticated", false, "encrypted", false)
	})
}

// connections calls emit with the sessions whose clients have connected by TCP, of those that the
// session sees.
func (r *reader) connections(emit func(a *Activity)) {
	who := r.authority()
	if who == nil {
		return
	}
	for _, a := range r.env.Activity() {
		if _, known := a.port(); known && sees(who, a.Role) {
			emit(&a)
		}
	}
}

func preparedRows(r *reader, emit emitter) {
	for _, p := range r.env.Prepared() {
		oids := make([]int, len(p.Types))
		for i, t := range p.Types {
			oids[i] = int(t.OID)
		}
		emit("name", p.Name, "statement", p.Text, "parameter_types", oids, "from_sql", p.FromSQL)
	}
}

func cursorRows(r *reader, emit emitter) {
	for _, c := range r.env.Cursors() {
		emit("name", c.Name, "statement", c.Text, "is_holdable", c.Hold,
			"is_scrollable", c.Scroll)
	}
}

func zoneRows(_ *reader, emit emitter) {
	for _, name := range types.ZoneNames() {
		zone, err := types.ParseZone(name)
		if err != nil {
			continue
		}
		now := statementTime().In(zone.Location)
		abbrev, offset := now.Zone()
		emit("name", name, "abbrev", abbrev,
			"utc_offset", types.NewInterval(types.IntervalValue{Micros: int64(offset) * 1_000_000}),
			"is_dst", now.IsDST())
	}
}

func abbreviationRows(_ *reader, emit emitter) {
	for _, a := range types.ZoneAbbreviations(statementTime()) {
		offset := types.IntervalValue{Micros: int64(a.Offset) * 1_000_000}
		emit("abbrev", a.Name, "utc_offset", types.NewInterval(offset), "is_dst", a.Daylight)
	}
}
