//go:build planted

package planted

import "sync/atomic"

var planted atomic.Uint64

// Is reports whether the bug is planted.
func Is(b Bug) bool { return planted.Load()&(1<<b) != 0 }

// Plant plants one bug, until the returned function is called.
func Plant(b Bug) (remove func()) {
	planted.Store(1 << b)
	return func() { planted.Store(0) }
}
