// Package acl holds rights: roles and their memberships ([Roles]), lists of privileges on an object
// ([List]), and what a session is allowed by both ([Authority]). It is data and rules alone:
// package catalog stores it, and the layers above ask it.
//
// A list belongs to an object with an owner. Each [Item] gives privileges to a grantee, by a
// grantor: the owner, or a role that holds the privilege with grant option from the owner down. So
// the items of a privilege form a tree, and revoking one takes away what was granted through it
// (CASCADE), or is refused. A list that is nil stands for [Default].
//
//	{postgres=arwdDxt/postgres,alice=r*/postgres,bob=r/alice}    relacl of a table
//
// A role has the privileges of the roles that it is a member of, through any number of memberships,
// as far as the roles in between inherit (Roles.Inherits). It may become (SET ROLE) any role that
// it is a member of (Roles.Member). A superuser has all of it. Memberships have no cycle.
package acl
