package compare

import (
	"fmt"
	"math"
	"strings"
)

// worse is how much of the recorded ratio is to be left, for a work not to count as slower.
const worse = 0.85

// line prints what came of a work.
func (r *runner) line(res Result) error {
	verdict := ""
	switch {
	case res.Reach == 0:
	case res.Ratio >= res.Reach:
		verdict = fmt.Sprintf("reaches %.1f", res.Reach)
	default:
		verdict = fmt.Sprintf("misses %.1f", res.Reach)
	}
	if before := r.recorded[res.Name]; before > 0 {
		verdict += fmt.Sprintf(", recorded %.2f", before)
		if res.Ratio < worse*before {
			verdict += ": SLOWER"
		}
	}
	_, err := fmt.Fprintf(r.w, "%-42s %12s  %-10s %12s  %6.2f  %.2f-%.2f  %s\n", res.Name,
		res.show(res.Ours), res.Reference, res.show(res.Theirs), res.Ratio, res.Low, res.High,
		verdict)
	return err
}

// show prints a time or a rate.
func (r Result) show(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "refused"
	case r.PerSecond:
		return fmt.Sprintf("%.0f/s", v)
	case v < 1:
		return fmt.Sprintf("%.1f ms", 1000*v)
	}
	return fmt.Sprintf("%.2f s", v)
}

// foot sums up.
func (r *runner) foot() error {
	var slower, missed []string
	for _, res := range r.results {
		if before := r.recorded[res.Name]; before > 0 && res.Ratio < worse*before {
			slower = append(slower, res.Name)
		}
		if res.Reach > 0 && res.Ratio < res.Reach {
			missed = append(missed, res.Name)
		}
	}
	_, err := fmt.Fprintf(r.w, "%d works, %d miss what is to be reached\n", len(r.results),
		len(missed))
	if err == nil && len(slower) > 0 {
		_, err = fmt.Fprintf(r.w, "slower than recorded: %s\n", strings.Join(slower, "; "))
	}
	return err
}
