package cli

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv/pebblekv"
)

// ballastMost is memory that is reserved and never touched, so it costs address space alone. Go
// collects garbage when the heap has doubled; a server's own heap is 3 MB beside the caches, and
// would double thirty times a second under short statements.
const ballastMost = 32 << 20

// memoryUnits are the units of sizes; all are powers of 1,024, as PostgreSQL's.
var memoryUnits = []struct {
	name  string
	bytes int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40}, {"b", 1},
}

// parseMemory reads how much memory the process may hold.
func parseMemory(text string) (int64, error) {
	n, err := parseSize(text)
	if err == nil && n < memory.LeastBound {
		return 0, fmt.Errorf("%s is too little: at least %d MiB are needed", text,
			memory.LeastBound>>20)
	}
	return n, err
}

// parseSize reads a size: a number with a unit, or of bytes.
func parseSize(text string) (int64, error) {
	number, unit := strings.ToLower(strings.TrimSpace(text)), int64(1)
	for _, u := range memoryUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0) || n*float64(unit) > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is not a size; write 2GiB or 512MB", text)
	}
	return int64(n * float64(unit)), nil
}

// returnEvery is how often the server looks whether memory should go back to the system.
const returnEvery = 5 * time.Second

// governMemory makes Go keep to what the process may hold beside what lies outside of Go's heap,
// and returns memory to the system when statements have given back much. GOMEMLIMIT counts where it
// is less. The function returned ends that.
func governMemory(ctx context.Context) (end func()) {
	pool := memory.Process()
	bound, heap := pool.Bound()
	ballast := make([]byte, min(ballastMost, bound/32))
	limit := bound
	if pebblekv.OutsideGo {
		limit = heap
	}
	limit += int64(len(ballast))
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, limit))
	pool.WatchHeap(limit / 4 * 3)
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { returnMemory(ctx, memory.NewTide(pool)) })
	return func() {
		cancel()
		looking.Wait()
		pool.WatchHeap(0)
		debug.SetMemoryLimit(before)
		runtime.KeepAlive(ballast)
	}
}

// returnMemory returns memory to the system whenever the tide has ebbed.
func returnMemory(ctx context.Context, tide *memory.Tide) {
	ticker := time.NewTicker(returnEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if tide.Ebbed() {
				debug.FreeOSMemory()
			}
		}
	}
}
