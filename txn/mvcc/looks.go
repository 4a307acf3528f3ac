package mvcc

import "context"

// keysPerLook is how many keys a walk passes between two looks at its context.
const keysPerLook = 1024

// looks counts the keys that a walk passes, those too that it does not show: deleted rows, old
// versions and locks may be many between two rows.
type looks struct{ passed int }

// pass counts a key, and returns the context's error at every keysPerLook of them.
func (l *looks) pass(ctx context.Context) error {
	if l.passed++; l.passed%keysPerLook != 0 {
		return nil
	}
	return ctx.Err()
}
