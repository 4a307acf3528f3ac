package acl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The roles of the tests: members of nothing.
const (
	owner RoleID = iota + FirstRole
	alice
	bob
	carol
)

func lone(role, of RoleID) bool { return role == of }

func TestRevokingAnOptionTakesAwayWhatWasGrantedByIt(t *testing.T) {
	o := Object{Owner: owner, Has: lone}
	l := Default(Relation, owner)
	l, err := o.Grant(l, Item{Grantee: alice, Grantor: owner, Granted: Select, Options: Select})
	require.NoError(t, err)
	l, err = o.Grant(l, Item{Grantee: bob, Grantor: alice, Granted: Select, Options: Select})
	require.NoError(t, err)
	l, err = o.Grant(l, Item{Grantee: carol, Grantor: bob, Granted: Select})
	require.NoError(t, err)
	_, err = o.Revoke(l, Item{Grantee: alice, Grantor: owner, Granted: Select, Options: Select},
		false)
	require.ErrorContains(t, err, "dependent privileges exist")
	l, err = o.Revoke(l, Item{Grantee: alice, Grantor: owner, Options: Select}, true)
	require.NoError(t, err)
	require.Equal(t, Select, o.Granted(l, alice, Select))
	require.Zero(t, o.Granted(l, bob, Select))
	require.Zero(t, o.Granted(l, carol, Select))
}

func TestOptionsDoNotGoBackToTheirGrantor(t *testing.T) {
	o := Object{Owner: owner, Has: lone}
	l, err := o.Grant(Default(Relation, owner),
		Item{Grantee: alice, Grantor: owner, Granted: Select, Options: Select})
	require.NoError(t, err)
	l, err = o.Grant(l, Item{Grantee: bob, Grantor: alice, Granted: Select, Options: Select})
	require.NoError(t, err)
	_, err = o.Grant(l, Item{Grantee: alice, Grantor: bob, Granted: Select, Options: Select})
	require.ErrorContains(t, err, "granted back to your own grantor")
}

func TestInheritanceStopsAtARoleWithoutIt(t *testing.T) {
	roles := NewRoles([]Role{{ID: alice, Name: "alice", Inherit: true},
		{ID: bob, Name: "bob"}, {ID: carol, Name: "carol", Inherit: true}},
		[]Membership{{Role: alice, Member: bob}, {Role: bob, Member: carol}})
	a := &Authority{Roles: roles, Current: carol}
	require.True(t, a.Has(bob))
	require.False(t, a.Has(alice), "bob does not inherit")
	require.True(t, a.Member(carol, alice), "but carol may become alice")
	require.False(t, a.Superuser())
	require.True(t, a.As(Postgres).Has(alice))
}

func TestAnItemIsReadAsItIsPrinted(t *testing.T) {
	roles := NewRoles([]Role{{ID: alice, Name: "alice"}, {ID: bob, Name: `b "o" b`}}, nil)
	for _, text := range []string{"alice=r*w/postgres", "=U/alice",
		`"b ""o"" b"=arwdDxtXUCTcsA/alice`} {
		it, grantor, err := roles.Read(text)
		require.NoError(t, err, text)
		require.True(t, grantor)
		require.Equal(t, text, roles.Text(it))
	}
	for _, text := range []string{"alice", "nobody=r/postgres", "alice=q/postgres", "alice=r/",
		"alice=r/postgres x"} {
		_, _, err := roles.Read(text)
		require.Error(t, err, text)
	}
}
