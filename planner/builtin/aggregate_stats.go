package builtin

import (
	"math"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func statisticAggregates() []aggDef {
	var out []aggDef
	for _, a := range []struct {
		name         string
		sample, root bool
	}{
		{"variance", true, false}, {"var_samp", true, false}, {"var_pop", false, false},
		{"stddev", true, true}, {"stddev_samp", true, true}, {"stddev_pop", false, true},
	} {
		for _, t := range []string{"int2", "int4", "int8", "numeric"} {
			out = append(out, agg(a.name+"("+t+") numeric", func([]*types.Type) expr.Accumulator {
				return &numericVariance{sample: a.sample, root: a.root, ints: t != "numeric"}
			}))
		}
		for _, t := range []string{"float4", "float8"} {
			out = append(out, agg(a.name+"("+t+") float8", func([]*types.Type) expr.Accumulator {
				return &floatVariance{sample: a.sample, root: a.root}
			}))
		}
	}
	for name, result := range regressions {
		ret := "float8"
		if name == "regr_count" {
			ret = "int8"
		}
		out = append(out, agg(name+"(float8,float8) "+ret, func([]*types.Type) expr.Accumulator {
			return &regression{result: result}
		}))
	}
	return out
}

// numericVariance is variance and standard deviation in numeric.
type numericVariance struct {
	moments            types.NumericMoments
	sample, root, ints bool
}

func (s *numericVariance) Add(_ *expr.Runtime, a []types.Datum) error {
	x := a[0].Dec
	if s.ints {
		x = types.NumericFromInt(a[0].I)
	}
	s.moments.Add(x)
	return nil
}

func (s *numericVariance) Result(*expr.Runtime) (types.Datum, error) {
	v, err := s.moments.Variance(s.sample, s.root)
	if err != nil || v == nil {
		return types.Null, err
	}
	return types.NewDecimal(v), nil
}

func (s *numericVariance) Size() int { return 200 }

// floatVariance keeps the running sums of Youngs and Cramer, which stay accurate where a sum of
// squares loses all its digits.
type floatVariance struct {
	n, sx, sxx   float64
	sample, root bool
}

func (s *floatVariance) Add(_ *expr.Runtime, a []types.Datum) error {
	x, before := a[0].F, s.sx
	s.n++
	s.sx += x
	if s.n > 1 {
		d := x*s.n - s.sx
		s.sxx += d * d / (s.n * (s.n - 1))
		if math.IsInf(s.sxx, 0) || math.IsInf(s.sx, 0) {
			if !isInf(x, before) {
				return errOverflow()
			}
			s.sxx = math.NaN()
		}
	} else if math.IsInf(x, 0) || math.IsNaN(x) {
		s.sxx = math.NaN()
	}
	return nil
}

func (s *floatVariance) Result(*expr.Runtime) (types.Datum, error) {
	n := s.n
	if s.sample {
		n--
	}
	if n <= 0 {
		return types.Null, nil
	}
	v := s.sxx / n
	if s.root {
		v = math.Sqrt(v)
	}
	return types.NewFloat(v), nil
}

func (s *floatVariance) Size() int { return 0 }

// regression is the family of aggregates over pairs (Y, X).
type regression struct {
	n, sx, sxx, sy, syy, sxy float64
	result                   func(*regression) types.Datum
}

func (s *regression) Add(_ *expr.Runtime, a []types.Datum) error {
	y, x := a[0].F, a[1].F
	infX, infY := isInf(x, s.sx), isInf(y, s.sy)
	s.n++
	s.sx += x
	s.sy += y
	if s.n > 1 {
		dx, dy := x*s.n-s.sx, y*s.n-s.sy
		scale := 1 / (s.n * (s.n - 1))
		s.sxx += dx * dx * scale
		s.syy += dy * dy * scale
		s.sxy += dx * dy * scale
		return s.checkSums(infX, infY)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		s.sxx, s.sxy = math.NaN(), math.NaN()
	}
	if math.IsInf(y, 0) || math.IsNaN(y) {
		s.syy, s.sxy = math.NaN(), math.NaN()
	}
	return nil
}

// checkSums returns an error if a sum is infinite although no X, or no Y, is: infX and infY report
// which of the two has an infinite value. If one has, the deviation is NaN.
func (s *regression) checkSums(infX, infY bool) error {
	inf := func(x float64) bool { return math.IsInf(x, 0) }
	if (inf(s.sx) || inf(s.sxx)) && !infX || (inf(s.sy) || inf(s.syy)) && !infY ||
		inf(s.sxy) && !infX && !infY {
		return errOverflow()
	}
	for _, sum := range []*float64{&s.sxx, &s.syy, &s.sxy} {
		if inf(*sum) {
			*sum = math.NaN()
		}
	}
	return nil
}

func (s *regression) Result(*expr.Runtime) (types.Datum, error) { return s.result(s), nil }

func (s *regression) Size() int { return 0 }

func floatIf(ok bool, x float64) types.Datum {
	if !ok {
		return types.Null
	}
	return types.NewFloat(x)
}

var regressions = map[string]func(*regression) types.Datum{
	"regr_count": func(s *regression) types.Datum { return types.NewInt(int64(s.n)) },
	"regr_sxx":   func(s *regression) types.Datum { return floatIf(s.n >= 1, s.sxx) },
	"regr_syy":   func(s *regression) types.Datum { return floatIf(s.n >= 1, s.syy) },
	"regr_sxy":   func(s *regression) types.Datum { return floatIf(s.n >= 1, s.sxy) },
	"regr_avgx":  func(s *regression) types.Datum { return floatIf(s.n >= 1, s.sx/s.n) },
	"regr_avgy":  func(s *regression) types.Datum { return floatIf(s.n >= 1, s.sy/s.n) },
	"covar_pop":  func(s *regression) types.Datum { return floatIf(s.n >= 1, s.sxy/s.n) },
	"covar_samp": func(s *regression) types.Datum { return floatIf(s.n >= 2, s.sxy/(s.n-1)) },
	"corr": func(s *regression) types.Datum {
		return floatIf(s.n >= 1 && s.sxx != 0 && s.syy != 0, s.sxy/math.Sqrt(s.sxx*s.syy))
	},
	"regr_r2": func(s *regression) types.Datum {
		if s.syy == 0 {
			return floatIf(s.n >= 1 && s.sxx != 0, 1)
		}
		return floatIf(s.n >= 1 && s.sxx != 0, (s.sxy*s.sxy)/(s.sxx*s.syy))
	},
	"regr_slope": func(s *regression) types.Datum {
		return floatIf(s.n >= 1 && s.sxx != 0, s.sxy/s.sxx)
	},
	"regr_intercept": func(s *regression) types.Datum {
		return floatIf(s.n >= 1 && s.sxx != 0, (s.sy-s.sx*s.sxy/s.sxx)/s.n)
	},
}
