package types

import (
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Address is an address with the length of its network's mask, in bits.
type Address struct {
	Addr [16]byte // of an IPv4 address the first four
	Bits int
	V6   bool
}

// An inet or cidr is held as the version of its address, 4 or 6; the address of its network, which
// has zeros behind the mask; the length of the mask; and the address itself, unless that is the
// network's. So the order of the bytes is PostgreSQL's: by version, by the bits that both masks
// cover, by the lengths of the masks, by the addresses.
const (
	inetV4 = 4
	inetV6 = 6
)

// Size is the number of bytes of the address.
func (v *Address) Size() int {
	if v.V6 {
		return 16
	}
	return 4
}

// MaxBits is the length of the mask of a single address.
func (v *Address) MaxBits() int { return 8 * v.Size() }

// Network returns v with zeros behind the mask.
func (v Address) Network() Address {
	for i := range v.Addr {
		v.Addr[i] &= byte(uint(0xff00) >> min(max(v.Bits-8*i, 0), 8))
	}
	return v
}

// SameVersion reports whether both are IPv4 or both IPv6.
func (v *Address) SameVersion(w *Address) bool { return v.V6 == w.V6 }

// CommonBits returns how many of the first bits of both addresses are the same, at most limit.
func (v *Address) CommonBits(w *Address, limit int) int {
	for i, c := range v.Addr {
		if diff := c ^ w.Addr[i]; diff != 0 {
			return min(8*i+bits.LeadingZeros8(diff), limit)
		}
	}
	return limit
}

// Datum returns the value of type inet or cidr.
func (v Address) Datum() Datum {
	network, n := v.Network(), v.Size()
	out := make([]byte, 0, 2+2*n)
	if v.V6 {
		out = append(out, inetV6)
	} else {
		out = append(out, inetV4)
	}
	out = append(append(out, network.Addr[:n]...), byte(v.Bits))
	if network.Addr != v.Addr {
		out = append(out, v.Addr[:n]...)
	}
	return Datum{S: string(out)}
}

// InetAddress returns what a datum of type inet or cidr holds.
func InetAddress(d Datum) Address {
	var v Address
	if d.S == "" {
		return v
	}
	v.V6 = d.S[0] == inetV6
	n := v.Size()
	if len(d.S) < n+2 {
		return v
	}
	copy(v.Addr[:n], d.S[1:])
	v.Bits = min(int(d.S[n+1]), v.MaxBits())
	if len(d.S) >= 2*n+2 {
		copy(v.Addr[:n], d.S[n+2:])
	}
	return v
}

// AppendAddr appends the address without its mask.
func (v *Address) AppendAddr(dst []byte) []byte {
	if !v.V6 {
		return appendDotted(dst, v.Addr[:4])
	}
	words := v.words()
	base, n := longestZeros(words[:])
	embedded := base == 0 && (n == 6 || n == 7 && words[7] != 1 || n == 5 && words[5] == 0xffff)
	for i := 0; i < len(words); i++ {
		switch {
		case n >= 2 && i >= base && i < base+n:
			if i == base {
				dst = append(dst, ':')
			}
			continue
		case i != 0:
			dst = append(dst, ':')
		}
		if i == 6 && embedded {
			return appendDotted(dst, v.Addr[12:])
		}
		dst = strconv.AppendUint(dst, uint64(words[i]), 16)
	}
	if n >= 2 && base+n == len(words) {
		dst = append(dst, ':')
	}
	return dst
}

func (v *Address) words() (words [8]uint16) {
	for i := range words {
		words[i] = uint16(v.Addr[2*i])<<8 | uint16(v.Addr[2*i+1])
	}
	return words
}

// longestZeros returns the first of the longest runs of zeros.
func longestZeros(words []uint16) (base, n int) {
	for i := 0; i < len(words); {
		end := i
		for end < len(words) && words[end] == 0 {
			end++
		}
		if end-i > n {
			base, n = i, end-i
		}
		i = max(end, i+1)
	}
	return base, n
}

func appendDotted(dst, octets []byte) []byte {
	for i, o := range octets {
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = strconv.AppendUint(dst, uint64(o), 10)
	}
	return dst
}

// AppendWithMask appends the address and the length of its mask.
func (v *Address) AppendWithMask(dst []byte) []byte {
	return strconv.AppendInt(append(v.AppendAddr(dst), '/'), int64(v.Bits), 10)
}

// appendInet writes an address; of an inet without the mask when that is of a single address.
func appendInet(dst []byte, t *Type, d Datum) []byte {
	v := InetAddress(d)
	if t.OID != OIDCidr && v.Bits == v.MaxBits() {
		return v.AppendAddr(dst)
	}
	return v.AppendWithMask(dst)
}

// AppendAbbreviated appends a network as abbrev(cidr) shows it: without the octets behind the mask.
// PostgreSQL's own sometimes leaves out a word that is not zero, when a run of zeros begins behind
// two of the same length.
func (v *Address) AppendAbbreviated(dst []byte) []byte {
	if v.V6 {
		return v.abbreviatedV6(dst)
	}
	if v.Bits == 0 {
		return append(dst, "0/0"...)
	}
	network := v.Network()
	dst = appendDotted(dst, network.Addr[:(v.Bits+7)/8])
	return strconv.AppendInt(append(dst, '/'), int64(v.Bits), 10)
}

func (v *Address) abbreviatedV6(dst []byte) []byte {
	if v.Bits == 0 {
		return append(dst, "::/0"...)
	}
	network := v.Network()
	all := network.words()
	words := all[:max((v.Bits+15)/16, 2)]
	base, n := longestZeros(words)
	embedded := n != len(words) && base == 0 && (n == 6 || n == 5 && words[5] == 0xffff ||
		n == 7 && network.Addr[14] != 0 && network.Addr[15] != 1)
	from := len(dst)
	for i, w := range words {
		switch {
		case i >= base && i < base+n:
			if i == base {
				dst = append(dst, ':')
			}
			if i == len(words)-1 {
				dst = append(dst, ':')
			}
		case embedded && i > 5:
			dst = append(dst, ":."[i-6])
			octets := network.Addr[2*i : 2*i+2]
			if i == 7 && v.Bits <= 120 {
				octets = octets[:1]
			}
			dst = appendDotted(dst, octets)
		default:
			if len(dst) > from {
				dst = append(dst, ':')
			}
			dst = strconv.AppendUint(dst, uint64(w), 16)
		}
	}
	return strconv.AppendInt(append(dst, '/'), int64(v.Bits), 10)
}

func parseInet(t *Type, s string) (Datum, error) {
	v := Address{V6: strings.IndexByte(s, ':') >= 0}
	var ok bool
	switch {
	case v.V6:
		ok = v.readV6(s)
	case t.OID == OIDCidr:
		ok = v.readNetworkV4(s)
	default:
		ok = v.readV4(s)
	}
	if !ok {
		return Datum{}, errSyntaxFor(t, s)
	}
	if t.OID == OIDCidr && v.Network() != v {
		return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation,
			"invalid cidr value: \"%s\"", s).
			WithDetail("Value has bits set to right of mask.")
	}
	return v.Datum(), nil
}

// fromInet is the cast of an inet to cidr: what is behind the mask becomes zero.
func fromInet(d Datum, to *Type) (Datum, error) {
	switch to.OID {
	case OIDCidr:
		v := InetAddress(d)
		return v.Network().Datum(), nil
	case OIDInet:
		return d, nil
	}
	return Datum{}, ErrCannotCast(TInet, to)
}

// inetText is the cast to text, which always has the mask.
func inetText(d Datum) string {
	v := InetAddress(d)
	return string(v.AppendWithMask(nil))
}

// The families of PostgreSQL's binary format.
const (
	inetFamilyV4 = 2
	inetFamilyV6 = 3
)

func appendInetBinary(dst []byte, t *Type, d Datum) []byte {
	v := InetAddress(d)
	family, cidr := byte(inetFamilyV4), byte(0)
	if v.V6 {
		family = inetFamilyV6
	}
	if t.OID == OIDCidr {
		cidr = 1
	}
	n := v.Size()
	dst = append(dst, family, byte(v.Bits), cidr, byte(n))
	return append(dst, v.Addr[:n]...)
}

func parseInetBinary(t *Type, b []byte) (Datum, error) {
	if len(b) < 4 {
		return Datum{}, errShortMessage()
	}
	bad := func(what string) error {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation,
			"invalid %s in external \"%s\" value", what, t.Name)
	}
	v := Address{V6: b[0] == inetFamilyV6, Bits: int(b[1])}
	n := v.Size()
	switch {
	case b[0] != inetFamilyV4 && b[0] != inetFamilyV6:
		return Datum{}, bad("address family")
	case v.Bits > v.MaxBits():
		return Datum{}, bad("bits")
	case int(b[3]) != n:
		return Datum{}, bad("length")
	case len(b) < 4+n:
		return Datum{}, errShortMessage()
	case len(b) > 4+n:
		return Datum{}, errBinaryFormat()
	}
	copy(v.Addr[:n], b[4:])
	if t.OID == OIDCidr && v.Network() != v {
		return Datum{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation,
			"invalid external \"cidr\" value").WithDetail("Value has bits set to right of mask.")
	}
	return v.Datum(), nil
}

// Contains reports whether the network of v contains the address and network of w, which may be the
// same network unless strict.
func (v *Address) Contains(w *Address, strict bool) bool {
	if v.V6 != w.V6 || w.Bits < v.Bits || strict && w.Bits == v.Bits {
		return false
	}
	return v.CommonBits(w, v.Bits) == v.Bits
}

// AddInet returns the address n further. Addresses do not wrap around.
func (v Address) AddInet(n int64) (Address, error) {
	carry := 0
	for i := v.Size() - 1; i >= 0; i-- {
		carry += int(v.Addr[i]) + int(byte(n))
		v.Addr[i] = byte(carry)
		carry >>= 8
		n >>= 8
	}
	if n+int64(carry) != 0 {
		return v, errResultRange()
	}
	return v, nil
}

func errResultRange() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "result is out of range")
}

// SubInet returns the number of addresses from w to v. Requires: both have the same version.
func (v *Address) SubInet(w *Address) (int64, error) {
	n := v.Size()
	diff := make([]byte, n)
	borrow := 0
	for i := n - 1; i >= 0; i-- {
		d := int(v.Addr[i]) - int(w.Addr[i]) - borrow
		borrow = d >> 8 & 1
		diff[i] = byte(d)
	}
	// Differences of long addresses wrap around, as PostgreSQL's do: that of ~ ::1 and ::1 is -3.
	negative := borrow != 0
	if n > 8 {
		negative = diff[n-8]>>7 != 0
	}
	sign := byte(0)
	if negative {
		sign = 0xff
	}
	for ; n > 8; n-- {
		if diff[0] != sign {
			return 0, errResultRange()
		}
		diff = diff[1:]
	}
	r := int64(int8(sign))
	for _, c := range diff {
		r = r<<8 | int64(c)
	}
	return r, nil
}

// InetOfEnd returns the address of an end of a connection, such as 127.0.0.1:5432, as an inet; NULL
// for what is not an address of the Internet.
func InetOfEnd(end string) Datum {
	p, err := netip.ParseAddrPort(end)
	if err != nil {
		return Null
	}
	addr := p.Addr().Unmap()
	v := Address{V6: addr.Is6()}
	v.Bits = v.MaxBits()
	copy(v.Addr[:], addr.AsSlice())
	return v.Datum()
}
