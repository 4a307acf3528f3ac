//go:build !planted

package planted

// Is reports whether the bug is planted: never, in this build.
func Is(Bug) bool { return false }
