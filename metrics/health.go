package metrics

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/minidb/minidb/kv"
)

var (
	errClosed   = errors.New("the database is closed")
	errDraining = errors.New("the server is draining: clients finish what they run, and no " +
		"others are accepted")
)

// check serves what a function finds wrong: 503 with the reason, or 200.
func check(wrong func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if err := wrong(); err != nil {
			writeText(w, http.StatusServiceUnavailable, err.Error()+"\n")
			return
		}
		writeText(w, http.StatusOK, "ok\n")
	}
}

// failure returns why the process has to be restarted; nil: it need not be.
func (s *Sources) failure() error {
	if err := kv.FailureOf(s.Engine); err != nil {
		return err
	}
	if !s.open() {
		return errClosed
	}
	return nil
}

// unready returns why a new client should go elsewhere; nil: it is welcome.
func (s *Sources) unready() error {
	if err := s.failure(); err != nil {
		return err
	}
	c := s.Server.Connections()
	switch {
	case c.Draining:
		return errDraining
	case c.Sessions >= c.Most-c.Reserved:
		return fmt.Errorf("%d of %d connections are taken, and the rest is reserved for "+
			"superusers", c.Sessions, c.Most)
	}
	return nil
}
