package acl

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
)

// RoleID is the object ID of a role.
type RoleID uint32

// Public, as a grantee, stands for all roles.
const Public RoleID = 0

// StoredOwner is the owner of an object as it is stored: zero, which takes no bytes, is the owner
// that such an object has from the beginning. As a RoleID zero would be PUBLIC, so this is a type
// of its own, which no list and no check of rights takes.
type StoredOwner uint32

// Or returns the owner; first is that which zero means.
func (o StoredOwner) Or(first RoleID) RoleID {
	if o == 0 {
		return first
	}
	return RoleID(o)
}

// Stored returns the owner of an object that belongs to the bootstrap superuser from the beginning.
func (r RoleID) Stored() StoredOwner {
	if r == Postgres {
		return 0
	}
	return StoredOwner(r)
}

// Item gives privileges on an object to a role.
type Item struct {
	Grantee RoleID
	Grantor RoleID
	Granted Privileges
	Options Privileges `json:",omitempty"` // those that the grantee may grant further
}

// List is the privileges on one object. It is not changed in place. A nil list stands for the
// object's default; an empty one gives nothing.
type List []Item

// Default returns the list of a new object.
func Default(c Class, owner RoleID) List {
	l := List{}
	if public := classes[c].public; public != 0 {
		l = append(l, Item{Grantee: Public, Grantor: owner, Granted: public})
	}
	if c != Column {
		l = append(l, Item{Grantee: owner, Grantor: owner, Granted: c.All()})
	}
	return l
}

// Or returns the list, or the default of a nil list.
func (l List) Or(c Class, owner RoleID) List {
	if l == nil {
		return Default(c, owner)
	}
	return l
}

// Merged returns the list with the items of another one, without looking at grant options.
func (l List) Merged(with List) List {
	for _, it := range with {
		l = l.with(l.plus(it))
	}
	return l
}

// Without returns the list without the items that are all in another one.
func (l List) Without(other List) List {
	out := List{}
	for _, it := range l {
		was := other.item(it.Grantee, it.Grantor)
		it.Granted &^= was.Granted
		it.Options &^= was.Options
		if it.Granted|it.Options != 0 {
			out = append(out, it)
		}
	}
	return out
}

// Equal reports whether two lists give the same, in whatever order.
func (l List) Equal(other List) bool {
	if len(l) != len(other) {
		return false
	}
	for _, it := range l {
		if other.item(it.Grantee, it.Grantor) != it {
			return false
		}
	}
	return true
}

// Sorted returns the items in the order of their roles.
func (l List) Sorted() List {
	return slices.SortedFunc(slices.Values(l), func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Grantee, b.Grantee), cmp.Compare(a.Grantor, b.Grantor))
	})
}

// item returns the item of a grantee by a grantor, without privileges when there is none.
func (l List) item(grantee, grantor RoleID) Item {
	for _, it := range l {
		if it.Grantee == grantee && it.Grantor == grantor {
			return it
		}
	}
	return Item{Grantee: grantee, Grantor: grantor}
}

// plus returns what an item is after another one for the same pair of roles was added to it.
func (l List) plus(it Item) Item {
	now := l.item(it.Grantee, it.Grantor)
	now.Granted |= it.Granted
	now.Options |= it.Options
	return now
}

// with returns the list in which the item of a pair of roles has become now.
func (l List) with(now Item) List {
	out := slices.Clone(l)
	if out == nil {
		out = List{}
	}
	i := slices.IndexFunc(out, func(i Item) bool {
		return i.Grantee == now.Grantee && i.Grantor == now.Grantor
	})
	switch empty := now.Granted|now.Options == 0; {
	case i < 0 && !empty:
		out = append(out, now)
	case i >= 0 && empty:
		out = slices.Delete(out, i, i+1)
	case i >= 0:
		out[i] = now
	}
	return out
}

// Object is an object whose privileges are granted and revoked.
type Object struct {
	Owner RoleID
	// Has reports whether a role has the privileges of another one.
	Has func(role, of RoleID) bool
}

// Grant returns the list with what an item gives. Grant options must not go back to a role from
// which the grantor has its own (0LP01).
func (o Object) Grant(l List, it Item) (List, error) {
	if it.Grantee != Public && it.Options != 0 && it.Grantor != o.Owner {
		rest := l
		for i := 0; i < len(rest); {
			if rest[i].Grantee != it.Grantee || rest[i].Options == 0 {
				i++
				continue
			}
			var err error
			if rest, err = o.Revoke(rest, rest[i], true); err != nil {
				return nil, err
			}
			i = 0
		}
		if it.Options&^o.options(rest, it.Grantor, it.Options) != 0 {
			return nil, sqlerr.New(sqlerr.InvalidGrantOperation,
				"grant options cannot be granted back to your own grantor")
		}
	}
	return l.with(l.plus(it)), nil
}

// Revoke returns the list without what an item takes away. What was granted by the grantee alone
// goes too with cascade; else it is 2BP01.
func (o Object) Revoke(l List, it Item, cascade bool) (List, error) {
	was := l.item(it.Grantee, it.Grantor)
	now := was
	now.Granted &^= it.Granted
	now.Options &^= it.Options
	l = l.with(now)
	if lost := was.Options &^ now.Options; lost != 0 {
		return o.abandon(l, it.Grantee, lost, cascade)
	}
	return l, nil
}

// abandon takes away what a role has granted whose grant options are gone.
func (o Object) abandon(l List, role RoleID, lost Privileges, cascade bool) (List, error) {
	if role == o.Owner {
		return l, nil
	}
	lost &^= o.options(l, role, lost) // another grantor may have given it
	for lost != 0 {
		i := slices.IndexFunc(l, func(it Item) bool {
			return it.Grantor == role && it.Granted&lost != 0
		})
		if i < 0 {
			break
		}
		if !cascade {
			return nil, sqlerr.New(sqlerr.DependentObjectsStillExist,
				"dependent privileges exist").WithHint("Use CASCADE to revoke them too.")
		}
		var err error
		l, err = o.Revoke(l, Item{Grantee: l[i].Grantee, Grantor: role, Granted: lost,
			Options: lost}, true)
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Granted returns which of the wanted privileges a role has.
func (o Object) Granted(l List, role RoleID, want Privileges) (has Privileges) {
	for _, it := range l {
		if it.Granted&want&^has != 0 && o.reaches(role, it.Grantee) {
			has |= it.Granted & want
		}
	}
	return has
}

// options returns which of the wanted privileges a role may grant.
func (o Object) options(l List, role RoleID, want Privileges) (has Privileges) {
	if o.Has(role, o.Owner) {
		return want // the owner always has all
	}
	for _, it := range l {
		if it.Options&want&^has != 0 && o.reaches(role, it.Grantee) {
			has |= it.Options & want
		}
	}
	return has
}

func (o Object) reaches(role, grantee RoleID) bool {
	return grantee == Public || grantee == role || o.Has(role, grantee)
}

// Options returns which of the wanted privileges a role may grant.
func (o Object) Options(l List, role RoleID, want Privileges) Privileges {
	return o.options(l, role, want)
}

// Grantor chooses by whose right the first of the roles grants or revokes privileges: among the
// roles whose privileges it has (roles, itself first), the one with the most of the grant options.
// The result may have none of them.
func (o Object) Grantor(l List, roles []RoleID, want Privileges) (by RoleID, has Privileges) {
	by = roles[0]
	for _, role := range roles {
		var direct Privileges
		if role == o.Owner {
			direct = want
		}
		for _, it := range l {
			if it.Grantee == role {
				direct |= it.Options & want
			}
		}
		if bits.OnesCount16(uint16(direct)) > bits.OnesCount16(uint16(has)) {
			by, has = role, direct
		}
		if has == want {
			break
		}
	}
	return by, has
}

// Owned returns the list after the object got another owner: what the old one had and gave, the new
// one has and gives. Items that become the same are merged.
func (l List) Owned(was, is RoleID) List {
	if l == nil {
		return nil
	}
	out := List{}
	for _, it := range l {
		if it.Grantee == was {
			it.Grantee = is
		}
		if it.Grantor == was {
			it.Grantor = is
		}
		out = out.with(out.plus(it))
	}
	return out
}

// Roles returns the roles that the list names, without PUBLIC.
func (l List) Roles() []RoleID {
	var out []RoleID
	for _, it := range l {
		for _, r := range [...]RoleID{it.Grantee, it.Grantor} {
			if r != Public && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}
