package metrics

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"time"
)

// profileSeconds is how long a profile over time takes unless the request says otherwise, and
// profileMost is the longest that can be asked for.
const profileSeconds, profileMost = 30, 600

// profiles lists the profiles.
func profiles(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/debug/pprof/" {
		http.NotFound(w, r)
		return
	}
	var b bytes.Buffer
	b.WriteString("profiles for go tool pprof; ?debug=1 or 2 gives text:\n\n")
	all := pprof.Profiles()
	slices.SortFunc(all, func(a, b *pprof.Profile) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, p := range all {
		fmt.Fprintf(&b, "%6d  /debug/pprof/%s\n", p.Count(), p.Name())
	}
	fmt.Fprintf(&b, "\nover ?seconds=N (%d, trace: 1):\n\n        "+
		"/debug/pprof/profile\n        /debug/pprof/trace\n", profileSeconds)
	writeText(w, http.StatusOK, b.String())
}

// profile serves one of them.
func profile(w http.ResponseWriter, r *http.Request) {
	switch name := r.PathValue("profile"); name {
	case "profile":
		overTime(w, r, profileSeconds, pprof.StartCPUProfile, pprof.StopCPUProfile)
	case "trace":
		overTime(w, r, 1, trace.Start, trace.Stop)
	default:
		atOnce(w, r, name)
	}
}

// overTime serves what is recorded from start to stop. Another one may be under way, since the
// process has one recorder of each kind: that is 409.
func overTime(w http.ResponseWriter, r *http.Request, seconds float64,
	start func(io.Writer) error, stop func()) {
	if text := r.FormValue("seconds"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n > 0 && n <= profileMost) {
			writeText(w, http.StatusBadRequest, fmt.Sprintf("seconds must be a number above 0 "+
				"and at most %d\n", profileMost))
			return
		}
		seconds = n
	}
	var b bytes.Buffer
	if err := start(&b); err != nil {
		writeText(w, http.StatusConflict, err.Error()+"\n")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	<-ctx.Done()
	stop()
	writeBinary(w, r.PathValue("profile"), b.Bytes())
}

// atOnce serves a profile of what there is now, or of all that has happened.
func atOnce(w http.ResponseWriter, r *http.Request, name string) {
	p := pprof.Lookup(name)
	if p == nil {
		writeText(w, http.StatusNotFound, "there is no such profile; /debug/pprof/ lists them\n")
		return
	}
	debug := 0
	if text := r.FormValue("debug"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 2 {
			writeText(w, http.StatusBadRequest, "debug must be 0, 1 or 2\n")
			return
		}
		debug = n
	}
	if r.FormValue("seconds") != "" {
		writeText(w, http.StatusBadRequest, "seconds is for profile and trace only: compare "+
			"two profiles with go tool pprof -base\n")
		return
	}
	if name == "heap" && r.FormValue("gc") == "1" {
		runtime.GC()
	}
	var b bytes.Buffer
	if err := p.WriteTo(&b, debug); err != nil {
		writeText(w, http.StatusInternalServerError, err.Error()+"\n")
		return
	}
	if debug > 0 {
		writeText(w, http.StatusOK, b.String())
		return
	}
	writeBinary(w, name, b.Bytes())
}

func writeBinary(w http.ResponseWriter, name string, content []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(content)
}
