package tikvkv

import (
	"github.com/pingcap/log"
	"go.uber.org/zap"
)

// quiet ends what client-go writes to the process's standard error. Its logger is one for the
// process; what matters here comes back as an error.
func quiet() {
	log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{
		Level: zap.NewAtomicLevelAt(zap.FatalLevel), // client-go asks for it
	})
}
