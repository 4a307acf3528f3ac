package exec

import (
	"math"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// offsetKey moves a key by the offset of a RANGE frame and returns it with its type. Beyond the
// ends of integers it stays at the end: no key lies there.
func offsetKey(t *types.Type, key types.Datum, b *frameBound, minus bool,
	loc *time.Location) (types.Datum, *types.Type, error) {
	switch {
	case t.Family == types.Int && b.t.Family == types.Int:
		return types.NewInt(saturate(key.I, b.offset.I, minus)), types.TInt8, nil
	case t.Family == types.Float && b.t.Family == types.Float:
		if minus {
			return types.NewFloat(key.F - b.offset.F), types.TFloat8, nil
		}
		return types.NewFloat(key.F + b.offset.F), types.TFloat8, nil
	case t.Family == types.Decimal && b.t.Family == types.Decimal:
		op := types.NumericAdd
		if minus {
			op = types.NumericSub
		}
		d, err := op(key.Dec, b.offset.Dec)
		return types.NewDecimal(d), types.TNumeric, err
	case t.Family == types.Time && b.t.Family == types.Interval:
		return types.NewInt(moveTime(key.I, b.offset.Iv, minus)), t, nil
	case t.Family == types.TimeTZ && b.t.Family == types.Interval:
		z := types.ZonedTimeOf(key)
		z.Micros = moveTime(z.Micros, b.offset.Iv, minus)
		return z.Datum(), t, nil
	case t.Family == types.Interval && b.t.Family == types.Interval:
		move := types.IntervalAdd
		if minus {
			move = types.IntervalSub
		}
		iv, err := move(key.Iv, b.offset.Iv)
		return types.NewInterval(iv), t, err
	case b.t.Family == types.Interval:
		return offsetTime(t, key, b.offset.Iv, minus, loc)
	}
	return types.Null, nil, sqlerr.New(sqlerr.FeatureNotSupported,
		"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset "+
			"type %s",
		t.Name, b.t.Name)
}

// moveTime moves a time of day by an interval's time. It does not wrap at midnight: no key lies
// beyond it.
func moveTime(us int64, iv types.IntervalValue, minus bool) int64 {
	return saturate(us, iv.Micros, minus)
}

func saturate(a, b int64, minus bool) int64 {
	if minus {
		if b > 0 && a < math.MinInt64+b {
			return math.MinInt64
		}
		return a - b
	}
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func offsetTime(t *types.Type, key types.Datum, iv types.IntervalValue, minus bool,
	loc *time.Location) (types.Datum, *types.Type, error) {
	if loc == nil {
		loc = time.UTC
	}
	var ts int64
	var err error
	switch {
	case t.OID == types.OIDDate:
		if ts, err = types.DateToTimestamp(key.I); err != nil {
			return types.Null, nil, err
		}
		if minus {
			ts, err = types.TimestampMinusInterval(ts, iv)
		} else {
			ts, err = types.TimestampPlusInterval(ts, iv)
		}
		return types.NewInt(ts), types.TTimestamp, err
	case t.OID == types.OIDTimestampTZ && minus:
		ts, err = types.TimestampTZMinusInterval(key.I, iv, loc)
	case t.OID == types.OIDTimestampTZ:
		ts, err = types.TimestampTZPlusInterval(key.I, iv, loc)
	case t.OID == types.OIDTimestamp && minus:
		ts, err = types.TimestampMinusInterval(key.I, iv)
	case t.OID == types.OIDTimestamp:
		ts, err = types.TimestampPlusInterval(key.I, iv)
	default:
		err = sqlerr.Unsupported(0, "RANGE with an interval offset over "+t.Name)
	}
	return types.NewInt(ts), t, err
}

// withoutNaN replaces a target that is NaN though the row's key is not: the key is infinite, and
// the offset leads back from it. All keys but NaN are in range then, as in PostgreSQL, so the
// target is the greatest or the least of them.
func withoutNaN(t *types.Type, key, target types.Datum, greatest bool) types.Datum {
	switch t.Family {
	case types.Float:
		if math.IsNaN(target.F) && !math.IsNaN(key.F) {
			if greatest {
				return types.NewFloat(math.Inf(1))
			}
			return types.NewFloat(math.Inf(-1))
		}
	case types.Decimal:
		if target.Dec.Form == apd.NaN && key.Dec.Form != apd.NaN {
			return types.NewDecimal(&apd.Decimal{Form: apd.Infinite, Negative: !greatest})
		}
	}
	return target
}
