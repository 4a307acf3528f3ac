package types

// The readers below take exactly what PostgreSQL's do, which are those of ISC's libraries.

// inetBits reads the length of a mask that ends the text; -1 if there is none.
func inetBits(s string, limit int) int {
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return -1
		}
		if n = n*10 + int(s[i]-'0'); n > limit {
			return -1
		}
	}
	if s == "" {
		return -1
	}
	return n
}

// octet reads a decimal number below 256 at the start of s.
func octet(s string) (v byte, rest string, ok bool) {
	n, i := 0, 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if n = n*10 + int(s[i]-'0'); n > 255 {
			return 0, s, false
		}
	}
	return byte(n), s[i:], i > 0
}

// readV4 reads an IPv4 address of type inet: four octets, or fewer with a mask that covers no more.
func (v *Address) readV4(s string) bool {
	n := 0
	for s != "" && isDigit(s[0]) {
		o, rest, ok := octet(s)
		if !ok || n == 4 {
			return false
		}
		v.Addr[n] = o
		n++
		if s = rest; s == "" || s[0] == '/' {
			break
		}
		if s[0] != '.' {
			return false
		}
		s = s[1:]
	}
	if n == 0 {
		return false
	}
	if s == "" {
		v.Bits = 32
		return n == 4
	}
	if s[0] != '/' {
		return false
	}
	v.Bits = inetBits(s[1:], 32)
	return v.Bits >= 0 && v.Bits/8 <= n
}

// readNetworkV4 reads an IPv4 network of type cidr. Without a mask its class implies one.
func (v *Address) readNetworkV4(s string) bool {
	n, s, ok := v.networkOctets(s)
	if !ok || n == 0 {
		return false
	}
	if s == "" {
		v.Bits = v.classBits(n)
		return true
	}
	if s[0] != '/' {
		return false
	}
	v.Bits = inetBits(s[1:], 32)
	return v.Bits >= 0
}

// networkOctets reads octets, decimal with points or all hexadecimal behind 0x.
func (v *Address) networkOctets(s string) (n int, rest string, ok bool) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		if _, ok := hexDigit(s[2]); ok {
			return v.hexOctets(s[2:])
		}
	}
	for {
		o, rest, ok := octet(s)
		if !ok || n == 4 {
			return 0, s, false
		}
		v.Addr[n] = o
		n++
		if rest == "" || rest[0] == '/' {
			return n, rest, true
		}
		if rest[0] != '.' {
			return 0, s, false
		}
		s = rest[1:]
	}
}

func (v *Address) hexOctets(s string) (n int, rest string, ok bool) {
	digits := 0
	for ; s != ""; s = s[1:] {
		h, ok := hexDigit(s[0])
		if !ok {
			break
		}
		if digits == 8 {
			return 0, s, false
		}
		v.Addr[digits/2] |= h << (4 * (1 - digits%2))
		digits++
	}
	return (digits + 1) / 2, s, true
}

// classBits is the mask of the address's class, which covers at least the octets that were given.
func (v *Address) classBits(octets int) int {
	bits := 8
	switch a := v.Addr[0]; {
	case a >= 240:
		bits = 32
	case a >= 224:
	case a >= 192:
		bits = 24
	case a >= 128:
		bits = 16
	}
	if bits = max(bits, 8*octets); bits == 8 && v.Addr[0] == 224 {
		return 4
	}
	return bits
}

// readV6 reads an IPv6 address, which may end as an IPv4 one does.
func (v *Address) readV6(s string) bool {
	at, gap, word := 0, -1, 0
	digits, start := 0, 0
	v.Bits = 128
	i := 0
	if s[0] == ':' {
		if len(s) < 2 || s[1] != ':' {
			return false
		}
		i, start = 1, 1
	}
	for ; i < len(s); i++ {
		c := s[i]
		if h, ok := hexDigit(c); ok {
			if word = word<<4 | int(h); digits == 4 {
				return false
			}
			digits++
			continue
		}
		switch {
		case c == ':' && digits == 0:
			if gap >= 0 {
				return false
			}
			gap, start = at, i+1
			continue
		case c == ':':
			if i+1 == len(s) || at == 16 {
				return false
			}
			v.Addr[at], v.Addr[at+1] = byte(word>>8), byte(word)
			at, digits, word, start = at+2, 0, 0, i+1
			continue
		case c == '.' && at <= 12 && v.readTail(s[start:], at):
			at, digits = at+4, 0
		case c == '/':
			if v.Bits = maskBits(s[i+1:]); v.Bits < 0 {
				return false
			}
		default:
			return false
		}
		break
	}
	if digits > 0 {
		if at == 16 {
			return false
		}
		v.Addr[at], v.Addr[at+1] = byte(word>>8), byte(word)
		at += 2
	}
	return v.fillGap(at, gap)
}

// fillGap moves what follows "::" to the end of an address of which so many bytes were read.
func (v *Address) fillGap(at, gap int) bool {
	if gap < 0 || at == 16 {
		return gap < 0 && at == 16
	}
	tail := append([]byte(nil), v.Addr[gap:at]...)
	clear(v.Addr[gap:])
	copy(v.Addr[16-len(tail):], tail)
	return true
}

// maskBits reads the length of an IPv6 mask, without leading zeros; -1 if there is none.
func maskBits(s string) int {
	if len(s) > 1 && s[0] == '0' {
		return -1
	}
	return inetBits(s, 128)
}

// readTail reads the IPv4 address at the end of an IPv6 one, and the mask behind it.
func (v *Address) readTail(s string, at int) bool {
	for n := range 4 {
		o, rest, ok := octet(s)
		if size := len(s) - len(rest); size > 1 && s[0] == '0' || !ok && size > 0 {
			return false
		}
		v.Addr[at+n] = o
		switch {
		case rest == "":
			return ok
		case rest[0] == '/':
			v.Bits = maskBits(rest[1:])
			return v.Bits >= 0
		case rest[0] != '.':
			return false
		}
		s = rest[1:]
	}
	return false
}
