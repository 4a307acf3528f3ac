package tikvkv

import (
	"fmt"
	"os"
	"testing"

	"github.com/pingcap/failpoint"
	"github.com/tikv/client-go/v2/util"
)

func TestMain(m *testing.M) {
	quiet()
	// After an error of a connection client-go asks the store how it is, which no store of the mock
	// can answer.
	util.EnableFailpoints()
	if err := failpoint.Enable("tikvclient/injectLiveness", `return("reachable")`); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
