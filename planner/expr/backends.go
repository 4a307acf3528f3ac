package expr

import "time"

// Backends is an optional interface of a Session: control over other sessions.
type Backends interface {
	// CancelBackend cancels the running statement of a session. It returns false when there is no
	// such session.
	CancelBackend(pid int32) (bool, error)
	// TerminateBackend ends a session. With a wait it returns true only if the session has ended
	// within that time.
	TerminateBackend(pid int32, wait time.Duration) (bool, error)
	// ReloadConf makes the settings that ALTER SYSTEM stored the defaults of all sessions.
	ReloadConf() error
}
