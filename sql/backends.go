package sql

import (
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// cancelPID ends the running statement of the session with that number; false when there is none.
func (e *Engine) cancelPID(pid int32) bool {
	e.mu.Lock()
	s := e.mu.sessions[pid]
	e.mu.Unlock()
	if s != nil {
		s.running.cancelByUser()
	}
	return s != nil
}

// terminate ends a session: the statement that it runs, every one that it still begins, and its
// connection. It returns when the session is gone, or after the wait.
func (e *Engine) terminate(f *accessor, pid int32, wait time.Duration) (found, gone bool) {
	e.mu.Lock()
	s := e.mu.sessions[pid]
	e.mu.Unlock()
	if s == nil {
		return false, false
	}
	s.Terminate()
	if wait <= 0 {
		return true, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		e.mu.Lock()
		there := e.mu.sessions[pid] == s
		e.mu.Unlock()
		if !there {
			return true, true
		}
		select {
		case <-poll.C:
		case <-timer.C:
			return true, false
		case <-f.ctx.Done():
			return true, false
		}
	}
}

// CancelBackend is pg_cancel_backend (expr.Backends).
func (f *accessor) CancelBackend(pid int32) (bool, error) {
	f.s.sideEffects = true
	if err := f.maySignal(pid, "cancel"); err != nil {
		return false, err
	}
	if !f.s.engine.cancelPID(pid) {
		return false, f.notBackend("pg_cancel_backend", pid)
	}
	return true, f.ctx.Err() // it may have been this very statement
}

// TerminateBackend is pg_terminate_backend.
func (f *accessor) TerminateBackend(pid int32, wait time.Duration) (bool, error) {
	f.s.sideEffects = true
	if err := f.maySignal(pid, "terminate"); err != nil {
		return false, err
	}
	found, gone := f.s.engine.terminate(f, pid, wait)
	switch {
	case !found:
		return false, f.notBackend("pg_terminate_backend", pid)
	case !gone && f.ctx.Err() == nil:
		f.s.notice("WARNING", "01000", "backend with PID %d did not terminate within %d "+
			"milliseconds", pid, wait.Milliseconds())
	}
	return gone, f.ctx.Err()
}

// notBackend warns that no session has a number. Where one of another process may have it, it
// returns an error.
func (f *accessor) notBackend(function string, pid int32) error {
	if f.s.engine.shared && pid > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s of a session of another process that "+
			"shares the store is not supported", function).
			WithDetail("PID %d is not a backend process of this one.", pid).
			WithHint("Call it in the process that the session is connected to.")
	}
	f.s.notice("WARNING", "01000", "PID %d is not a PostgreSQL backend process", pid)
	return nil
}
