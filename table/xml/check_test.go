package xml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/xml"
)

// TestCheck holds Check to what PostgreSQL 15 with libxml2 2.9.14 reports. The texts are in
// brackets; \n in one is a
// newline.
func TestCheck(t *testing.T) {
	datadriven.RunTest(t, "testdata/check", func(t *testing.T, d *datadriven.TestData) string {
		text := strings.ReplaceAll(d.Input[1:len(d.Input)-1], `\n`, "\n")
		err := xml.Check(text, d.Cmd == "document", nil)
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			return "ok"
		}
		return e.Code + ": " + e.Message + "\n" + e.Detail
	})
}
