//go:build planted

package planted

import "sync/atomic"

// planted is one more than the bug that is planted, or zero.
var planted atomic.Int32

// Is reports whether the bug is planted.
func Is(b Bug) bool { return planted.Load() == int32(b)+1 }

// Plant plants one bug, until the returned function is called.
func Plant(b Bug) (remove func()) {
	planted.Store(int32(b) + 1)
	return func() { planted.Store(0) }
}
