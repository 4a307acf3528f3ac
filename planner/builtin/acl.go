package builtin

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// aclLetters are the privileges in the order in which aclexplode lists them, by their letters.
var aclLetters = []struct {
	letter byte
	name   string
}{
	{'a', "INSERT"}, {'r', "SELECT"}, {'w', "UPDATE"}, {'d', "DELETE"}, {'D', "TRUNCATE"},
	{'x', "REFERENCES"}, {'t', "TRIGGER"}, {'X', "EXECUTE"}, {'U', "USAGE"}, {'C', "CREATE"},
	{'T', "TEMPORARY"}, {'c', "CONNECT"}, {'s', "SET"}, {'A', "ALTER SYSTEM"},
}

// defaultPrivileges are what PUBLIC and the owner may do with a kind of object before any GRANT, by
// the letter of the kind.
var defaultPrivileges = map[string]struct{ public, owner string }{
	"c": {}, "p": {},
	"r": {"", "arwdDxt"}, "s": {"", "rwU"}, "d": {"Tc", "CTc"}, "f": {"X", "X"}, "l": {"U", "U"},
	"L": {"", "rw"}, "n": {"", "UC"}, "t": {"", "C"}, "F": {"", "U"}, "S": {"", "U"},
	"T": {"U", "U"},
}

// aclDefault is acldefault: the access list of an object that has none of its own.
func aclDefault(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p, ok := defaultPrivileges[a[0].S]
	if !ok {
		return types.Null, sqlerr.New(sqlerr.InternalError,
			"unrecognized object type abbreviation: %s", a[0].S)
	}
	owner := roleText(s, types.OID(a[1].I))
	var items []types.Datum
	for _, g := range []struct{ grantee, letters string }{{"", p.public}, {owner, p.owner}} {
		if g.letters != "" {
			items = append(items, types.NewString(g.grantee+"="+g.letters+"/"+owner))
		}
	}
	return types.NewArray(items), nil
}

// roleText is a role as an access list names it.
func roleText(s expr.Session, id types.OID) string {
	name, ok := s.Describe("role", id, "")
	if !ok {
		return types.Text(types.TOid, types.NewInt(int64(id)), &types.DefaultFormat)
	}
	return sqlname.Quote(name)
}

// aclExplode is aclexplode: a row for each privilege of each item of an access list.
func aclExplode(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	for _, item := range a[0].Arr.Elems {
		if item.Null {
			return sqlerr.New(sqlerr.NullValueNotAllowed, "ACL arrays must not contain null values")
		}
		grantee, rest := cutRole(item.S, '=')
		letters, grantor, _ := strings.Cut(rest, "/")
		from, err := roleNamed(rt, grantor)
		if err != nil {
			return err
		}
		to, err := roleNamed(rt, grantee)
		if err != nil {
			return err
		}
		for _, p := range aclLetters {
			i := strings.IndexByte(letters, p.letter)
			if i < 0 {
				continue
			}
			grantable := strings.HasPrefix(letters[i+1:], "*")
			if err := emit([]types.Datum{from, to, types.NewString(p.name),
				types.NewBool(grantable)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// cutRole splits an item behind the role that it begins with, which may be quoted.
func cutRole(item string, separator byte) (role, rest string) {
	if name, rest, ok := sqlname.CutQuoted(item); ok && strings.HasPrefix(item, `"`) {
		return sqlname.Quote(name), strings.TrimPrefix(rest, string(separator))
	}
	role, rest, _ = strings.Cut(item, string(separator))
	return role, rest
}

// roleNamed is the OID of a role; PUBLIC, which has no name, is 0.
func roleNamed(rt *expr.Runtime, name string) (types.Datum, error) {
	if name == "" {
		return types.NewInt(0), nil
	}
	return types.ParseText(types.TRegRole, name, &rt.Format)
}
