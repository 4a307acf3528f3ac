package acl

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// The roles that there are from the beginning, with PostgreSQL's object IDs.
const (
	Postgres             RoleID = 10 // the bootstrap superuser
	Monitor              RoleID = 3373
	ReadAllSettings      RoleID = 3374
	ReadAllStats         RoleID = 3375
	StatScanTables       RoleID = 3377
	SignalBackend        RoleID = 4200
	Checkpoint           RoleID = 4544
	ReadServerFiles      RoleID = 4569
	WriteServerFiles     RoleID = 4570
	ExecuteServerProgram RoleID = 4571
	DatabaseOwner        RoleID = 6171 // its one member is the owner of the present database
	ReadAllData          RoleID = 6181
	WriteAllData         RoleID = 6182
)

// FirstRole is the first ID of a role that a user made. The roles below cannot be dropped.
const FirstRole RoleID = 16384

// Role is a user or a group of users.
type Role struct {
	ID   RoleID
	Name string

	Superuser   bool `json:",omitempty"`
	Inherit     bool `json:",omitempty"` // it has the privileges of the roles that it is in
	CreateRole  bool `json:",omitempty"`
	CreateDB    bool `json:",omitempty"`
	Login       bool `json:",omitempty"`
	Replication bool `json:",omitempty"`
	BypassRLS   bool `json:",omitempty"`
	// ConnectionLimit is how many sessions the role may have at a time; -1: any number.
	ConnectionLimit int
	// Password is the verifier of package scram, or PostgreSQL's MD5 hash; "" for none.
	Password string `json:",omitempty"`
	// ValidUntil is when the password expires, in microseconds since 1970 as a timestamptz has
	// them; nil: never.
	ValidUntil *int64         `json:",omitempty"`
	Settings   []RoleSettings `json:",omitempty"`
	Comment    string         `json:",omitempty"`
}

// RoleSettings are what a role's sessions begin with, "name=value" each.
type RoleSettings struct {
	Database uint32 // 0: in every database
	Entries  []string
}

// SettingsIn returns the settings for one database, or with 0 those for all.
func (r *Role) SettingsIn(database uint32) []string {
	for _, s := range r.Settings {
		if s.Database == database {
			return s.Entries
		}
	}
	return nil
}

// WithSettings returns the role with other settings for a database, or with 0 for all.
func (r Role) WithSettings(database uint32, entries []string) Role {
	all := slices.DeleteFunc(slices.Clone(r.Settings), func(s RoleSettings) bool {
		return s.Database == database
	})
	if len(entries) > 0 {
		all = append(all, RoleSettings{Database: database, Entries: entries})
	}
	r.Settings = all
	return r
}

// Reserved reports whether a name is one of those that only the system gives to roles.
func Reserved(name string) bool { return strings.HasPrefix(name, "pg_") }

// Membership makes a role a member of another one.
type Membership struct {
	Role    RoleID
	Member  RoleID
	Grantor RoleID
	Admin   bool `json:",omitempty"` // the member may make others members of Role
}

// Roles are all roles and memberships of one state of the catalog. It is not changed, and may be
// used from many goroutines.
type Roles struct {
	byID        map[RoleID]*Role
	byName      map[string]*Role
	memberships map[RoleID][]Membership // by member
	all         []Membership
	closures    sync.Map // closureKey → []RoleID
}

type closureKey struct {
	role, databaseOwner RoleID
	inherited           bool
}

// NewRoles returns the roles that are stored, and those that there are from the beginning unless a
// stored one with the same ID has taken their place.
func NewRoles(stored []Role, memberships []Membership) *Roles {
	r := &Roles{byID: map[RoleID]*Role{}, byName: map[string]*Role{},
		memberships: map[RoleID][]Membership{}}
	for _, group := range [][]Role{predefined(), stored} {
		for i := range group {
			if old := r.byID[group[i].ID]; old != nil {
				delete(r.byName, old.Name)
			}
			r.byID[group[i].ID], r.byName[group[i].Name] = &group[i], &group[i]
		}
	}
	for _, of := range []RoleID{ReadAllSettings, ReadAllStats, StatScanTables} {
		r.all = append(r.all, Membership{Role: of, Member: Monitor, Grantor: Postgres})
	}
	r.all = append(r.all, memberships...)
	for _, m := range r.all {
		r.memberships[m.Member] = append(r.memberships[m.Member], m)
	}
	return r
}

func predefined() []Role {
	out := []Role{{ID: Postgres, Name: "postgres", Superuser: true, Inherit: true,
		CreateRole: true, CreateDB: true, Login: true, Replication: true, BypassRLS: true,
		ConnectionLimit: -1}}
	for id, name := range map[RoleID]string{
		Monitor: "pg_monitor", ReadAllSettings: "pg_read_all_settings",
		ReadAllStats: "pg_read_all_stats", StatScanTables: "pg_stat_scan_tables",
		SignalBackend: "pg_signal_backend", Checkpoint: "pg_checkpoint",
		ReadServerFiles: "pg_read_server_files", WriteServerFiles: "pg_write_server_files",
		ExecuteServerProgram: "pg_execute_server_program", DatabaseOwner: "pg_database_owner",
		ReadAllData: "pg_read_all_data", WriteAllData: "pg_write_all_data",
	} {
		out = append(out, Role{ID: id, Name: name, Inherit: true, ConnectionLimit: -1})
	}
	return out
}

// ByName returns the role of a name, or nil.
func (r *Roles) ByName(name string) *Role { return r.byName[name] }

// ByID returns the role with an ID, or nil.
func (r *Roles) ByID(id RoleID) *Role { return r.byID[id] }

// All returns the roles in the order of their IDs.
func (r *Roles) All() []*Role {
	out := make([]*Role, 0, len(r.byID))
	for _, role := range r.byID {
		out = append(out, role)
	}
	slices.SortFunc(out, func(a, b *Role) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Memberships returns all memberships.
func (r *Roles) Memberships() []Membership { return r.all }

// Membership returns how a role is a direct member of another; false when it is not.
func (r *Roles) Membership(role, member RoleID) (Membership, bool) {
	for _, m := range r.memberships[member] {
		if m.Role == role {
			return m, true
		}
	}
	return Membership{}, false
}

// Superuser reports whether a role is a superuser. A role that is gone is none.
func (r *Roles) Superuser(id RoleID) bool {
	role := r.byID[id]
	return role != nil && role.Superuser
}

// Closure returns a role, itself first, and the roles that it is a member of, nearest first. With
// inherited they are those whose privileges it has. databaseOwner owns the present database.
func (r *Roles) Closure(role, databaseOwner RoleID, inherited bool) []RoleID {
	key := closureKey{role, databaseOwner, inherited}
	if known, ok := r.closures.Load(key); ok {
		return known.([]RoleID)
	}
	out := []RoleID{role}
	add := func(id RoleID) {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for i := 0; i < len(out); i++ {
		member := r.byID[out[i]]
		if inherited && (member == nil || !member.Inherit) {
			continue
		}
		for _, m := range r.memberships[out[i]] {
			add(m.Role)
		}
		if out[i] == databaseOwner {
			add(DatabaseOwner)
		}
	}
	r.closures.Store(key, out)
	return out
}
