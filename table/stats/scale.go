package stats

import (
	"math"
	"strings"

	"github.com/minidb/minidb/table/types"
)

// inBucket returns where d lies between the bounds of its bucket, from 0 to 1.
func inBucket(t *types.Type, low, high, d types.Datum) float64 {
	l, h, v, ok := 0.0, 0.0, 0.0, true
	if t.Family.Order() == types.Str {
		l, h, v = textScale(low.S, high.S, d.S)
	} else {
		for _, x := range []struct {
			d  types.Datum
			to *float64
		}{{low, &l}, {high, &h}, {d, &v}} {
			n, fine := scale(t, x.d)
			*x.to, ok = n, ok && fine
		}
	}
	if !ok || !(h > l) {
		return 0.5
	}
	return max(0, min(1, (v-l)/(h-l)))
}

// scale converts a value to a number, if its type allows that.
func scale(t *types.Type, d types.Datum) (f float64, ok bool) {
	switch t.Family.Storage() {
	case types.I64:
		return float64(d.I), true
	case types.F64:
		f = d.F
	case types.Dec:
		n, err := types.NumericToFloat(d.Dec)
		if err != nil {
			return 0, false
		}
		f = n
	case types.Iv:
		const day = 86_400e6
		return float64(d.Iv.Months)*30*day + float64(d.Iv.Days)*day + float64(d.Iv.Micros), true
	default:
		return 0, false
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

// textScale reads texts as fractions to the base 256, after the prefix that low and high share.
func textScale(low, high, v string) (l, h, f float64) {
	n := 0
	for n < len(low) && n < len(high) && low[n] == high[n] {
		n++
	}
	cut := func(s string) float64 {
		if !strings.HasPrefix(s, low[:n]) { // v lies between the two: it has what they share
			return 0
		}
		x, weight := 0.0, 1.0
		for _, b := range []byte(s[n:min(len(s), n+8)]) {
			weight /= 256
			x += float64(b) * weight
		}
		return x
	}
	return cut(low), cut(high), cut(v)
}
