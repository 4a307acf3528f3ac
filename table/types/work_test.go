package types

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var errEnded = errors.New("the statement has ended")

// countdown ends after so many bytes.
type countdown struct{ left, most int }

func (c *countdown) Tick(n int) error {
	c.most = max(c.most, n)
	if c.left -= n; c.left < 0 {
		return errEnded
	}
	return nil
}

// TestLargeValuesEndWithTheirStatement: a value of some megabytes is given up in the middle, and at
// most a MiB passes between two looks.
func TestLargeValuesEndWithTheirStatement(t *testing.T) {
	const n = 2 << 20
	for name, v := range map[string]struct {
		t    *Type
		text string
	}{
		"jsonb of numbers": {TJSONB, "[" + strings.Repeat("1,", n/2) + "1]"},
		"jsonb of a text":  {TJSONB, `"` + strings.Repeat("x", n) + `"`},
		"jsonb of escapes": {TJSONB, `"` + strings.Repeat(`\n`, n/2) + `"`},
		"jsonb of keys":    {TJSONB, `{` + strings.Repeat(`"a":1,`, n/6) + `"a":1}`},
		"json":             {TJSON, "[" + strings.Repeat("1,", n/2) + "1]"},
		"array":            {ArrayOf(TInt4), "{" + strings.Repeat("1,", n/2) + "1}"},
	} {
		f := DefaultFormat
		w := &countdown{left: 3 * n}
		f.Work = w
		d, err := ParseText(v.t, v.text, &f)
		require.NoError(t, err, name)
		require.Positive(t, w.most, name)
		require.LessOrEqual(t, w.most, 1<<20, name)
		f.Work = &countdown{left: n / 2}
		_, err = ParseText(v.t, v.text, &f)
		require.ErrorIs(t, err, errEnded, name)
		raw := AppendBinary(nil, v.t, d)
		_, err = ParseBinary(v.t, raw, &Format{Work: &countdown{left: len(raw) / 2}})
		if len(raw) > n { // equal keys are one
			require.ErrorIs(t, err, errEnded, name)
		}
	}
}
