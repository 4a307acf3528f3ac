package table

import (
	"slices"

	"github.com/minidb/minidb/table/acl"
)

// Policy is a row security policy: it limits the rows of its table that roles may use. A row may be
// used if one of the permissive policies says so, and all of the restrictive ones.
type Policy struct {
	OID  ID // the object ID that pg_policy shows: the same under whatever name
	Name string
	// Command is what the policy applies to: "select", "insert", "update", "delete", or "" for all.
	Command     string       `json:",omitempty"`
	Restrictive bool         `json:",omitempty"`
	Roles       []acl.RoleID // that it is for; acl.Public: all
	// Using is the source of the condition on rows that are there, Check of that on new rows; ""
	// for none.
	Using string `json:",omitempty"`
	Check string `json:",omitempty"`
	// DependsOn lists the other relations that the conditions read.
	DependsOn []ID   `json:",omitempty"`
	Comment   string `json:",omitempty"`
}

// Policy returns the policy with a name, or nil.
func (d *Desc) Policy(name string) *Policy {
	return find(d.Policies, func(p *Policy) bool { return p.Name == name })
}

// For reports whether the policy applies to a command.
func (p *Policy) For(command string) bool { return p.Command == "" || p.Command == command }

// RemovePolicies takes the policies out of the descriptor that a function is true for.
func (d *Desc) RemovePolicies(gone func(p *Policy) bool) {
	d.Policies = slices.DeleteFunc(d.Policies, func(p Policy) bool { return gone(&p) })
}

func clonePolicies(list []Policy) []Policy {
	out := slices.Clone(list)
	for i := range out {
		out[i].Roles = slices.Clone(out[i].Roles)
		out[i].DependsOn = slices.Clone(out[i].DependsOn)
	}
	return out
}
