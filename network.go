package minidb

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"

	"github.com/minidb/minidb/table/types"
)

// networkText returns the text of a Go value for a parameter of a network type: those of packages
// net and net/netip, and whatever else prints itself. ok is false for nil pointers and for other
// types.
func networkText(t *types.Type, v any) (text string, ok bool) {
	switch t.Family {
	case types.Inet, types.MacAddr, types.MacAddr8:
	default:
		return "", false
	}
	s, ok := v.(fmt.Stringer)
	if rv := reflect.ValueOf(v); !ok || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return "", false
	}
	if p, whole := v.(netip.Prefix); whole && p.IsSingleIP() {
		return p.Addr().String(), true
	}
	return s.String(), true
}

// scanNetwork copies an inet or cidr into a type of package net or net/netip; false for others. A
// destination without a mask takes single addresses only.
func scanNetwork(t *types.Type, d types.Datum, dest any) (done bool, err error) {
	if t.Family != types.Inet {
		return false, nil
	}
	v := types.InetAddress(d)
	addr, _ := netip.AddrFromSlice(v.Addr[:v.Size()])
	single := v.Bits == v.MaxBits()
	mask := net.CIDRMask(v.Bits, v.MaxBits())
	switch p := dest.(type) {
	case *netip.Prefix:
		*p = netip.PrefixFrom(addr, v.Bits)
	case *net.IPNet:
		*p = net.IPNet{IP: addr.AsSlice(), Mask: mask}
	case *netip.Addr:
		if *p = addr; !single {
			err = fmt.Errorf("%s with a mask cannot go into %T", t, dest)
		}
	case *net.IP:
		if *p = addr.AsSlice(); !single {
			err = fmt.Errorf("%s with a mask cannot go into %T", t, dest)
		}
	default:
		return false, nil
	}
	if d.Null {
		err = errNull(t, dest)
	}
	return true, err
}
