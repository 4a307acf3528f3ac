package mutants

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestOverlay applies mutants to testdata/sample: `mutant` reads one, `apply` applies all that were
// read.
func TestOverlay(t *testing.T) {
	var all []*Mutant
	datadriven.RunTest(t, "testdata/overlay", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "mutant" {
			m, err := parse(d.Input)
			if err != nil {
				return err.Error()
			}
			m.Name = d.CmdArgs[0].Key
			all = append(all, m)
			return ""
		}
		o, errs := NewOverlay("testdata", all)
		all = nil
		var b strings.Builder
		for _, err := range errs {
			b.WriteString(err.Error() + "\n")
		}
		here, err := os.Getwd()
		require.NoError(t, err)
		text := strings.ReplaceAll(o.files["sample/sample.go"], here, "…")
		if len(errs) == 0 {
			b.WriteString(text)
		}
		return b.String()
	})
}
