package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// Run takes all measurements and prints a line for each.
func Run(ctx context.Context, o Options, w io.Writer) error {
	fmt.Fprintf(w, "%s, %d cores, %d turns of %v each side, medians; ratio = minidb / reference, "+
		"of neighbouring turns\n",
		runtime.Version(), runtime.GOMAXPROCS(0), o.Rounds, o.Round)
	if err := printRow(w, "measurement", columns); err != nil {
		return err
	}
	for _, group := range []func(context.Context, Options) ([]measurement, func() error, error){
		timestamps, pointReads, commits, selects,
	} {
		ms, done, err := group(ctx, o)
		if err != nil {
			return err
		}
		for i := range ms {
			if !strings.Contains(ms[i].name, o.Only) {
				continue
			}
			if err := ms[i].run(ctx, o, w); err != nil {
				_ = done()
				return err
			}
		}
		if err := done(); err != nil {
			return err
		}
	}
	return nil
}
