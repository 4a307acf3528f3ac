package pgcatalog

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/minidb/minidb/table/types"
)

// viewTables are views of PostgreSQL's whose rows are no function of other tables here.
func viewTables() []relation {
	const s = "pg_catalog"
	return []relation{
		{schema: s, name: "pg_matviews", view: true,
			columns: "schemaname name, matviewname name, matviewowner name, tablespace name, " +
				"hasindexes bool, ispopulated bool, definition text"},
		{schema: s, name: "pg_settings", view: true, rows: settingsRows,
			columns: "name text, setting text, unit text, category text, short_desc text, " +
				"extra_desc text, context text, vartype text, source text, min_val text, max_val " +
				"text, enumvals text[], boot_val text, reset_val text, sourcefile text, " +
				"sourceline int4, pending_restart bool"},
		{schema: s, name: "pg_stat_activity", view: true, rows: activityRows,
			columns: "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename " +
				"name, application_name text, client_addr text, client_hostname text, " +
				"client_port int4, backend_start timestamptz, xact_start timestamptz, " +
				"query_start timestamptz, state_change timestamptz, wait_event_type text, " +
				"wait_event text, state text, backend_xid xid, backend_xmin xid, query_id int8, " +
				"query text, backend_type text"},
		{schema: s, name: "pg_prepared_statements", view: true, rows: preparedRows,
			columns: "name text, statement text, prepare_time timestamptz, parameter_types " +
				"regtype[], from_sql bool, generic_plans int8, custom_plans int8"},
		{schema: s, name: "pg_cursors", view: true, rows: cursorRows,
			columns: "name text, statement text, is_holdable bool, is_binary bool, is_scrollable " +
				"bool, creation_time timestamptz"},
		{schema: s, name: "pg_timezone_names", view: true, rows: zoneRows,
			columns: "name text, abbrev text, utc_offset interval, is_dst bool"},
		{schema: s, name: "pg_available_extensions", view: true,
			columns: "name name, default_version text, installed_version text, comment text"},
	}
}

func settingsRows(_ context.Context, r *reader, emit emitter) error {
	for _, s := range r.env.Settings() {
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
		if err := emit("name", s.Name, "setting", s.Value, "unit", orNull(s.Unit), "category",
			s.Category, "short_desc", s.Desc,
			"context", s.Context, "vartype", s.Kind, "source", s.Source, "min_val", minimum,
			"max_val", maximum, "enumvals", enum,
			"boot_val", s.Boot, "reset_val", s.Reset, "sourceline", nil); err != nil {
			return err
		}
	}
	return nil
}

func activityRows(_ context.Context, r *reader, emit emitter) error {
	waits := map[int32]string{}
	for _, l := range r.env.Locks() {
		if !l.Granted {
			waits[l.PID] = l.Type
		}
	}
	for _, a := range r.env.Activity() {
		var port, waitType any
		event := waits[a.PID]
		switch {
		case event != "":
			waitType = "Lock"
		case len(r.env.SafeSnapshotBlockers(a.PID)) > 0:
			waitType, event = "IPC", "SafeSnapshot"
		case strings.HasPrefix(a.State, "idle"):
			waitType, event = "Client", "ClientRead"
		}
		host, text, err := net.SplitHostPort(a.Client)
		if n, nerr := strconv.Atoi(text); err == nil && nerr == nil {
			port = n
		}
		if err := emit("datid", int64(a.DatabaseID), "datname", a.Database, "pid", a.PID,
			"leader_pid", nil, "usesysid", ownerID,
			"usename", a.User, "application_name", a.Application, "client_addr", orNull(host),
			"client_port", port,
			"backend_start", a.Started, "xact_start", a.TxnStarted, "query_start", a.QueryStart,
			"state_change", a.StateChanged,
			"wait_event_type", waitType, "wait_event", orNull(event), "state", a.State,
			"backend_xid", transactionID(a.Writing),
			"backend_xmin", transactionID(a.Oldest), "query_id", nil, "query", a.Query,
			"backend_type", "client backend"); err != nil {
			return err
		}
	}
	return nil
}

func preparedRows(_ context.Context, r *reader, emit emitter) error {
	for _, p := range r.env.Prepared() {
		oids := make([]int, len(p.Types))
		for i, t := range p.Types {
			oids[i] = int(t.OID)
		}
		if err := emit("name", p.Name, "statement", p.Text, "parameter_types", oids, "from_sql",
			p.FromSQL); err != nil {
			return err
		}
	}
	return nil
}

func cursorRows(_ context.Context, r *reader, emit emitter) error {
	for _, c := range r.env.Cursors() {
		if err := emit("name", c.Name, "statement", c.Text, "is_holdable", c.Hold); err != nil {
			return err
		}
	}
	return nil
}

func zoneRows(_ context.Context, _ *reader, emit emitter) error {
	for _, name := range types.ZoneNames() {
		zone, err := types.ParseZone(name)
		if err != nil {
			continue
		}
		now := statementTime().In(zone.Location)
		abbrev, offset := now.Zone()
		if err := emit("name", name, "abbrev", abbrev, "utc_offset",
			types.NewInterval(types.IntervalValue{Micros: int64(offset) * 1_000_000}), "is_dst",
			now.IsDST()); err != nil {
			return err
		}
	}
	return nil
}
