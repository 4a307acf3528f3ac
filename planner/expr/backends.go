package expr

import "time"

// Backends is what a Session may offer beside: power over the other sessions.
type Backends interface {
	// CancelBackend ends the running statement of a session; false when there is no such session.
	CancelBackend(pid int32) (bool, error)
	// TerminateBackend ends a session, and with a wait says whether it has gone by then.
	TerminateBackend(pid int32, wait time.Duration) (bool, error)
	// ReloadConf makes what ALTER SYSTEM stored the default of all sessions.
	ReloadConf() error
}
