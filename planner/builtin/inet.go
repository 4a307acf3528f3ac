package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var inetFunctions = []def{
	f("abbrev(inet) text", inetShown(func(v *types.Address) []byte {
		if v.Bits == v.MaxBits() {
			return v.AppendAddr(nil)
		}
		return v.AppendWithMask(nil)
	})),
	f("abbrev(cidr) text", inetShown(func(v *types.Address) []byte {
		return v.AppendAbbreviated(nil)
	})),
	f("host(inet) text", inetShown(func(v *types.Address) []byte { return v.AppendAddr(nil) })),
	f("text(inet) text", inetShown(func(v *types.Address) []byte {
		return v.AppendWithMask(nil)
	})),
	f("family(inet) int4", inetNumber(func(v *types.Address) int {
		if v.V6 {
			return 6
		}
		return 4
	})),
	f("masklen(inet) int4", inetNumber(func(v *types.Address) int { return v.Bits })),
	f("network(inet) cidr", inetOf(types.Address.Network)),
	f("broadcast(inet) inet", inetOf(func(v types.Address) types.Address {
		return combineInet(v, hostMask(v), func(x, y byte) byte { return x | y })
	})),
	f("netmask(inet) inet", inetOf(func(v types.Address) types.Address {
		mask := invertInet(hostMask(v))
		mask.Bits = v.MaxBits()
		return mask
	})),
	f("hostmask(inet) inet", inetOf(func(v types.Address) types.Address {
		mask := hostMask(v)
		mask.Bits = v.MaxBits()
		return mask
	})),
	f("set_masklen(inet,int4) inet", setMaskLen(func(v types.Address) types.Address { return v })),
	f("set_masklen(cidr,int4) cidr", setMaskLen(types.Address.Network)),
	f("inet_same_family(inet,inet) bool", inetTest((*types.Address).SameVersion)),
	f("inet_merge(inet,inet) cidr", inetMerge),
}

var inetOperators = []def{
	f("<<(inet,inet) bool", inetTest(func(v, w *types.Address) bool {
		return w.Contains(v, true)
	})),
	f("<<=(inet,inet) bool", inetTest(func(v, w *types.Address) bool {
		return w.Contains(v, false)
	})),
	f(">>(inet,inet) bool", inetTest(func(v, w *types.Address) bool {
		return v.Contains(w, true)
	})),
	f(">>=(inet,inet) bool", inetTest(func(v, w *types.Address) bool {
		return v.Contains(w, false)
	})),
	f("&&(inet,inet) bool", inetTest(func(v, w *types.Address) bool {
		return v.Contains(w, false) || w.Contains(v, false)
	})),
	f("~(inet) inet", inetOf(invertInet)),
	f("&(inet,inet) inet", inetBitwise("AND", func(x, y byte) byte { return x & y })),
	f("|(inet,inet) inet", inetBitwise("OR", func(x, y byte) byte { return x | y })),
	f("+(inet,int8) inet", inetPlus(0, 1, 1)),
	f("+(int8,inet) inet", inetPlus(1, 0, 1)),
	f("-(inet,int8) inet", inetPlus(0, 1, -1)),
	f("-(inet,inet) int8", inetMinus),
}

func inetShown(show func(v *types.Address) []byte) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v := types.InetAddress(a[0])
		return types.NewString(string(show(&v))), nil
	}
}

func inetNumber(of func(v *types.Address) int) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v := types.InetAddress(a[0])
		return types.NewInt(int64(of(&v))), nil
	}
}

func inetOf(of func(types.Address) types.Address) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return of(types.InetAddress(a[0])).Datum(), nil
	}
}

func inetTest(holds func(v, w *types.Address) bool) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v, w := types.InetAddress(a[0]), types.InetAddress(a[1])
		return types.NewBool(holds(&v, &w)), nil
	}
}

// combineInet applies op to the bytes of two addresses. The mask is the longer one.
func combineInet(v, w types.Address, op func(x, y byte) byte) types.Address {
	for i := range v.Size() {
		v.Addr[i] = op(v.Addr[i], w.Addr[i])
	}
	v.Bits = max(v.Bits, w.Bits)
	return v
}

func invertInet(v types.Address) types.Address {
	return combineInet(v, v, func(x, _ byte) byte { return ^x })
}

// hostMask returns the address that has ones behind the mask.
func hostMask(v types.Address) types.Address {
	ones := v
	for i := range ones.Size() {
		ones.Addr[i] = 0xff
	}
	return combineInet(ones, ones.Network(), func(x, y byte) byte { return x ^ y })
}

func inetBitwise(name string, op func(x, y byte) byte) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v, w := types.InetAddress(a[0]), types.InetAddress(a[1])
		if v.V6 != w.V6 {
			return types.Null, errInvalid("cannot %s inet values of different sizes", name)
		}
		return combineInet(v, w, op).Datum(), nil
	}
}

// inetPlus adds sign times the number in one argument to the address in another.
func inetPlus(address, number int, sign int64) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v, err := types.InetAddress(a[address]).AddInet(sign * a[number].I)
		if err != nil {
			return types.Null, err
		}
		return v.Datum(), nil
	}
}

func inetMinus(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	v, w := types.InetAddress(a[0]), types.InetAddress(a[1])
	if v.V6 != w.V6 {
		return types.Null, errInvalid("cannot subtract inet values of different sizes")
	}
	n, err := v.SubInet(&w)
	return types.NewInt(n), err
}

// setMaskLen sets the length of the mask; -1 is that of a single address.
func setMaskLen(then func(types.Address) types.Address) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v, n := types.InetAddress(a[0]), a[1].I
		if n == -1 {
			n = int64(v.MaxBits())
		}
		if n < 0 || n > int64(v.MaxBits()) {
			return types.Null, errInvalid("invalid mask length: %d", n)
		}
		v.Bits = int(n)
		return then(v).Datum(), nil
	}
}

// inetMerge returns the smallest network that has both arguments.
func inetMerge(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	v, w := types.InetAddress(a[0]), types.InetAddress(a[1])
	if v.V6 != w.V6 {
		return types.Null, errInvalid("cannot merge addresses from different families")
	}
	v.Bits = v.CommonBits(&w, min(v.Bits, w.Bits))
	return v.Network().Datum(), nil
}

var macFunctions = []def{
	f("trunc(macaddr) macaddr", sure1(truncMAC)),
	f("trunc(macaddr8) macaddr8", sure1(truncMAC)),
	f("macaddr8_set7bit(macaddr8) macaddr8", sure1(func(s string) string {
		return string([]byte{s[0] | 2}) + s[1:]
	})),
}

var macOperators = macOperatorsOf("macaddr", "macaddr8")

func macOperatorsOf(names ...string) (out []def) {
	for _, t := range names {
		pair := "(" + t + "," + t + ") " + t
		out = append(out,
			f("~("+t+") "+t, sure1(func(s string) string {
				return combineBytes(s, s, func(x, _ byte) byte { return ^x })
			})),
			f("&"+pair, sure2(func(s, t string) string {
				return combineBytes(s, t, func(x, y byte) byte { return x & y })
			})),
			f("|"+pair, sure2(func(s, t string) string {
				return combineBytes(s, t, func(x, y byte) byte { return x | y })
			})))
	}
	return out
}

// truncMAC keeps the first three bytes, which are the manufacturer's.
func truncMAC(s string) string { return s[:3] + "\x00\x00\x00\x00\x00"[:len(s)-3] }

// combineBytes applies op to the bytes of two strings of the same length.
func combineBytes(s, t string, op func(x, y byte) byte) string {
	out := []byte(s)
	for i := range out {
		out[i] = op(s[i], t[i])
	}
	return string(out)
}
