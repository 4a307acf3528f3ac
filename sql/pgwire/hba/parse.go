package hba

import (
	"fmt"
	"net/netip"
	"strings"
)

// maxText bounds a file.
const maxText = 1 << 20

// ParseError is a line that cannot be a rule.
type ParseError struct {
	Line int
	What string
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Parse reads the text of a file. Its error is a *ParseError of the first line that is wrong: no
// rule of such a file is used.
func Parse(text string) (Rules, error) {
	if len(text) > maxText {
		return nil, &ParseError{1, "the file is longer than 1 MiB"}
	}
	var rules Rules
	number := 0
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		number = i + 1
		line := strings.TrimSuffix(lines[i], "\r")
		for strings.HasSuffix(line, "\\") && i+1 < len(lines) { // goes on in the next line
			i++
			line = strings.TrimSuffix(line, "\\") + strings.TrimSuffix(lines[i], "\r")
		}
		fields, err := split(line)
		if err == "" && len(fields) > 0 {
			var r Rule
			if r, err = rule(fields); err == "" {
				r.Line = number
				rules = append(rules, r)
			}
		}
		if err != "" {
			return nil, &ParseError{number, err}
		}
	}
	return rules, nil
}

// field is a list of names between blanks, joined by commas.
type field []Name

func (f field) word() string {
	if len(f) == 1 && !f[0].Quoted {
		return f[0].Text
	}
	return ""
}

// split cuts a line into fields. Quotes take away the meaning of blanks, commas, # and key words.
func split(line string) (fields []field, problem string) {
	i := 0
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) || line[i] == '#' {
			return fields, ""
		}
		var f field
		for {
			var n Name
			if n, i, problem = name(line, i); problem != "" {
				return nil, problem
			}
			f = append(f, n)
			if i == len(line) || line[i] != ',' {
				break
			}
			for i++; i < len(line) && (line[i] == ' ' || line[i] == '\t'); i++ {
			}
		}
		fields = append(fields, f)
	}
}

// name reads one name that begins at i, and returns where it ends.
func name(line string, i int) (n Name, end int, problem string) {
	var b strings.Builder
	for ; i < len(line) && !strings.ContainsRune(" \t,#", rune(line[i])); i++ {
		if line[i] != '"' {
			b.WriteByte(line[i])
			continue
		}
		n.Quoted = true
		closing := strings.IndexByte(line[i+1:], '"')
		if closing < 0 {
			return n, i, "a quote is not closed"
		}
		b.WriteString(line[i+1 : i+1+closing])
		i += closing + 1
	}
	n.Text = b.String()
	if n.Text == "" && !n.Quoted {
		return n, i, "a name is missing beside a comma"
	}
	return n, i, ""
}

// rule makes a rule of the fields of a line.
func rule(fields []field) (r Rule, problem string) {
	take := func(what string) field {
		if len(fields) == 0 {
			if problem == "" {
				problem = "the line ends before its " + what
			}
			return nil
		}
		f := fields[0]
		fields = fields[1:]
		return f
	}
	switch r.Type = take("type").word(); r.Type {
	case "local", "host", "hostssl", "hostnossl":
	case "hostgssenc", "hostnogssenc":
		return r, "connections with GSSAPI encryption are not supported: " + r.Type
	case "include", "include_if_exists", "include_dir":
		return r, "included files are not supported: " + r.Type
	default:
		return r, "invalid connection type \"" + r.Type + "\""
	}
	r.Databases, r.Users = []Name(take("database")), []Name(take("user"))
	for _, n := range append(append([]Name{}, r.Databases...), r.Users...) {
		if !n.Quoted && (strings.HasPrefix(n.Text, "@") || strings.HasPrefix(n.Text, "/")) {
			return r, "files of names and patterns are not supported: " + n.Text
		}
	}
	if r.Type != "local" {
		address := take("address").word()
		if problem == "" {
			problem = r.address(address, func() string { return take("mask").word() })
		}
	}
	method := take("method").word()
	if problem == "" {
		problem = r.method(method, fields)
	}
	return r, problem
}

// address reads the address of a rule; mask gives the next field, for an address without a length.
func (r *Rule) address(text string, mask func() string) (problem string) {
	switch text {
	case "all":
		r.Anywhere = true
		return ""
	case "samehost", "samenet":
		r.Same = text
		return ""
	}
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return "invalid CIDR mask in address \"" + text + "\""
		}
		r.Addresses = p.Masked()
		return ""
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return "names of hosts are not supported: \"" + text + "\"; give its addresses"
	}
	m := mask()
	bits, ok := maskBits(m)
	if !ok || bits > a.BitLen() {
		return "invalid IP mask \"" + m + "\""
	}
	r.Addresses = netip.PrefixFrom(a, bits).Masked()
	return ""
}

// maskBits counts the ones of a mask such as 255.255.0.0, which all come first.
func maskBits(mask string) (bits int, ok bool) {
	a, err := netip.ParseAddr(mask)
	if err != nil {
		return 0, false
	}
	for n := 0; n <= a.BitLen(); n++ {
		ones := netip.PrefixFrom(allOnes(a), n).Masked().Addr()
		if ones == a {
			return n, true
		}
	}
	return 0, false
}

func allOnes(like netip.Addr) netip.Addr {
	b := like.AsSlice()
	for i := range b {
		b[i] = 0xff
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// method reads the method and its options.
func (r *Rule) method(name string, options []field) (problem string) {
	switch name {
	case "trust", "reject", "scram-sha-256", "cert":
		r.Method = Method(name)
	case "md5":
		r.Method = Scram
	case "password", "gss", "sspi", "ident", "peer", "ldap", "radius", "pam", "bsd":
		return "authentication method \"" + name + "\" is not supported; there are trust, " +
			"reject, scram-sha-256 and cert"
	default:
		return "invalid authentication method \"" + name + "\""
	}
	if r.Method == Cert {
		if r.Type != "hostssl" {
			return "cert authentication is only supported on hostssl connections"
		}
		r.ClientCert = VerifyFull
	}
	for _, o := range options {
		key, value, ok := strings.Cut(o.word(), "=")
		switch {
		case !ok:
			return "authentication option not in name=value format: " + o.word()
		case key != "clientcert":
			return "authentication option \"" + key + "\" is not supported"
		case r.Type != "hostssl":
			return "clientcert can only be configured for \"hostssl\" rows"
		case value == "verify-full":
			r.ClientCert = VerifyFull
		case value == "verify-ca" && r.Method != Cert:
			r.ClientCert = VerifyCA
		case value == "verify-ca":
			return "clientcert only accepts \"verify-full\" when using \"cert\" authentication"
		default:
			return "invalid value for clientcert: \"" + value + "\""
		}
	}
	return ""
}
