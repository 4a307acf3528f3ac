package types

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A pg_lsn is held as its 64 bits with the highest one flipped, so that numbers order as it does.

const lsnFlip = math.MinInt64

// NewLSN returns the datum of a position in the log.
func NewLSN(v uint64) Datum { return Datum{I: int64(v) ^ lsnFlip} }

// LSNValue returns the position that a datum of type pg_lsn holds.
func LSNValue(d Datum) uint64 { return uint64(d.I ^ lsnFlip) }

func appendLSN(dst []byte, d Datum) []byte {
	v := LSNValue(d)
	return fmt.Appendf(dst, "%X/%X", v>>32, uint32(v))
}

func parseLSN(s string) (Datum, error) {
	high, low, ok := strings.Cut(s, "/")
	h, err1 := lsnHalf(high)
	l, err2 := lsnHalf(low)
	if !ok || err1 != nil || err2 != nil {
		return Datum{}, errSyntaxFor(TLSN, s)
	}
	return NewLSN(h<<32 | l), nil
}

// lsnHalf reads one to eight hexadecimal digits.
func lsnHalf(s string) (uint64, error) {
	if len(s) > 8 || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(s, 16, 32)
}

// LSNToNumeric returns the position as a numeric.
func LSNToNumeric(d Datum) *apd.Decimal {
	n := new(apd.Decimal)
	n.Coeff.SetUint64(LSNValue(d))
	return n
}

// LSNFromNumeric rounds a numeric to a position.
func LSNFromNumeric(v *apd.Decimal) (Datum, error) {
	if v.Form != apd.Finite {
		what := "infinity"
		if isNaN(v) {
			what = "NaN"
		}
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert %s to pg_lsn", what)
	}
	r, err := NumericRound(v, 0)
	if err != nil {
		return Datum{}, err
	}
	u, err := strconv.ParseUint(NumericString(r), 10, 64)
	if err != nil {
		return Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "pg_lsn out of range")
	}
	return NewLSN(u), nil
}

// LSNPlus adds a number of bytes to a position, or subtracts it.
func LSNPlus(d Datum, n *apd.Decimal, minus bool) (Datum, error) {
	if isNaN(n) {
		what := "cannot add NaN to pg_lsn"
		if minus {
			what = "cannot subtract NaN from pg_lsn"
		}
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "%s", what)
	}
	op := NumericAdd
	if minus {
		op = NumericSub
	}
	r, err := op(LSNToNumeric(d), n)
	if err != nil {
		return Datum{}, err
	}
	return LSNFromNumeric(r)
}
