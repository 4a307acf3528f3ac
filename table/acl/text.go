package acl

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Name returns the name of a role, or of one that is gone its number.
func (r *Roles) Name(id RoleID) string {
	if role := r.byID[id]; role != nil {
		return role.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// Text returns an item as PostgreSQL prints it: grantee=letters/grantor, where a star follows the
// letter of a privilege that the grantee may grant.
func (r *Roles) Text(it Item) string {
	var b strings.Builder
	if it.Grantee != Public {
		b.WriteString(quoted(r.Name(it.Grantee)))
	}
	b.WriteByte('=')
	for i := range letters {
		if it.Granted&(1<<i) != 0 {
			b.WriteByte(letters[i])
		}
		if it.Options&(1<<i) != 0 {
			b.WriteByte('*')
		}
	}
	b.WriteByte('/')
	b.WriteString(quoted(r.Name(it.Grantor)))
	return b.String()
}

// Texts returns the items as PostgreSQL prints them; nil for a nil list.
func (r *Roles) Texts(l List) []string {
	if l == nil {
		return nil
	}
	out := make([]string, len(l))
	for i, it := range l {
		out[i] = r.Text(it)
	}
	return out
}

// quoted is a name as it is written in an item.
func quoted(name string) string {
	plain := strings.IndexFunc(name, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c < 0x80
	}) < 0
	if plain && name != "" {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Read reads the text of an item. grantor is false when the text has none: it is the bootstrap
// superuser then.
func (r *Roles) Read(text string) (it Item, grantor bool, err error) {
	name, rest, err := readName(text)
	if err != nil {
		return it, false, err
	}
	if !strings.HasPrefix(rest, "=") {
		// "group name=…" and "user name=…"
		if name != "group" && name != "user" {
			return it, false, invalid("unrecognized key word: \"%s\"", name).
				WithHint("ACL key word must be \"group\" or \"user\".")
		}
		if name, rest, err = readName(rest); err != nil {
			return it, false, err
		}
		if name == "" {
			return it, false, invalid("missing name").
				WithHint("A name must follow the \"group\" or \"user\" key word.")
		}
	}
	if !strings.HasPrefix(rest, "=") {
		return it, false, invalid("missing \"=\" sign")
	}
	if it.Granted, it.Options, rest, err = readLetters(rest[1:]); err != nil {
		return it, false, err
	}
	if it.Grantee, err = r.known(name, Public); err != nil {
		return it, false, err
	}
	it.Grantor = Postgres
	if strings.HasPrefix(rest, "/") {
		if name, rest, err = readName(rest[1:]); err != nil {
			return it, false, err
		}
		if name == "" {
			return it, false, invalid("a name must follow the \"/\" sign")
		}
		if it.Grantor, err = r.known(name, Postgres); err != nil {
			return it, false, err
		}
		grantor = true
	}
	if strings.TrimSpace(rest) != "" {
		return it, false, invalid("extra garbage at the end of the ACL specification")
	}
	return it, grantor, nil
}

func invalid(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, format, args...)
}

func (r *Roles) known(name string, none RoleID) (RoleID, error) {
	if name == "" {
		return none, nil
	}
	role := r.byName[name]
	if role == nil {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
	}
	return role.ID, nil
}

// readName reads a name that may be quoted.
func readName(s string) (name, rest string, err error) {
	s = strings.TrimLeft(s, " \t\n\r\f\v")
	in := false
	var b strings.Builder
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			if in && i+1 < len(s) && s[i+1] == '"' {
				b.WriteByte('"')
				i++
				continue
			}
			in = !in
			continue
		}
		word := c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
		if !in && !word {
			break
		}
		b.WriteByte(c)
	}
	if b.Len() > 63 {
		return "", "", sqlerr.New(sqlerr.NameTooLong, "identifier too long").
			WithDetail("Identifier must be less than 64 characters.")
	}
	return b.String(), strings.TrimLeft(s[i:], " \t\n\r\f\v"), nil
}

// readLetters reads the privileges of an item, up to its "/" or a blank.
func readLetters(s string) (granted, options Privileges, rest string, err error) {
	var last Privileges
	for i := range len(s) {
		switch c := s[i]; {
		case c == '*':
			options |= last
		case strings.IndexByte(letters, c) >= 0:
			last = 1 << strings.IndexByte(letters, c)
			granted |= last
		case c == '/' || c == ' ' || c == '\t' || c == '\n':
			return granted, options, strings.TrimLeft(s[i:], " \t\n\r"), nil
		default:
			return 0, 0, "", invalid("invalid mode character: must be one of \"%s\"", letters)
		}
	}
	return granted, options, "", nil
}
