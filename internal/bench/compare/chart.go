package compare

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// draw makes the drawings that were asked for.
func (r *runner) draw(ctx context.Context) error {
	if r.Plots == "" {
		return nil
	}
	var err error
	if len(r.results) > 0 {
		err = os.WriteFile(filepath.Join(r.Plots, "compare.svg"), []byte(bars(r.results)), 0o644)
	}
	if r.Growth == 0 {
		return err
	}
	lines, failed := r.growth(ctx)
	if failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(err, os.WriteFile(filepath.Join(r.Plots, "growth.svg"),
		[]byte(curves(lines)), 0o644))
}

// svg collects the elements of a drawing.
type svg struct {
	strings.Builder
	width, height int
}

func newSVG(width, height int) *svg {
	s := &svg{width: width, height: height}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(s, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	return s
}

func (s *svg) text(x, y float64, anchor, what string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor,
		html.EscapeString(what))
}

func (s *svg) line(x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2, style)
}

func (s *svg) end() string {
	s.WriteString("</svg>\n")
	return s.String()
}

const (
	grid = `stroke="#ddd"`
	axis = `stroke="#333" stroke-width="1.5"`
	goal = `stroke="#c60" stroke-width="2"`
)

// leastDrawn is the least ratio of the scale: that of a refused work is zero.
const leastDrawn = 0.05

// bars draws a bar for the ratio of each work, from 1, on a logarithmic scale, with its extremes
// and a mark at what is to be reached.
func bars(results []Result) string {
	const left, wide, row, top = 300.0, 520.0, 20.0, 40.0
	lowest, highest := 0.2, 5.0
	for _, r := range results {
		lowest, highest = min(lowest, max(r.Low, leastDrawn)), max(highest, r.High, r.Reach)
	}
	x := func(v float64) float64 {
		return left + wide*math.Log(max(v, lowest)/lowest)/math.Log(highest/lowest)
	}
	bottom := top + row*float64(len(results))
	s := newSVG(int(left+wide)+80, int(bottom)+30)
	s.text(left, 18, "start", "how many times as fast minidb is; orange: to be reached")
	for _, v := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100} {
		if v < lowest || v > highest {
			continue
		}
		s.line(x(v), top-6, x(v), bottom, grid)
		s.text(x(v), bottom+16, "middle", fmt.Sprint(v))
	}
	for i, r := range results {
		y := top + row*float64(i)
		color := "#2a7"
		if r.Ratio < 1 {
			color = "#b44"
		}
		from, to := min(x(1), x(r.Ratio)), max(x(1), x(r.Ratio))
		fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", from,
			y+3, to-from, row-8, color)
		s.line(x(r.Low), y+row/2-1, x(r.High), y+row/2-1, `stroke="#333"`)
		if r.Reach > 0 {
			s.line(x(r.Reach), y+1, x(r.Reach), y+row-3, goal)
		}
		s.text(left-8, y+row-8, "end", r.Name)
		label := fmt.Sprintf("%.2f", r.Ratio)
		if r.Ratio == 0 {
			label = "refused"
		}
		s.text(max(to, x(r.High))+5, y+row-8, "start", label)
	}
	s.line(x(1), top-6, x(1), bottom, axis)
	return s.end()
}

// curve is a line of a growth plot: the seconds that something took, by the number of rows.
type curve struct {
	name    string
	rows    []int
	seconds []float64
}

var colors = []string{"#1b6", "#36c", "#c33", "#a3a", "#e90", "#077", "#555"}

// curves draws lines on logarithmic scales.
func curves(lines []curve) string {
	const left, wide, top, high = 70.0, 520.0, 30.0, 380.0
	least, most, fewest, many := math.Inf(1), 0.0, math.MaxInt, 0
	for _, c := range lines {
		for i := range c.rows {
			least, most = min(least, c.seconds[i]), max(most, c.seconds[i])
			fewest, many = min(fewest, c.rows[i]), max(many, c.rows[i])
		}
	}
	least = math.Pow(10, math.Floor(math.Log10(least)))
	most = math.Pow(10, math.Ceil(math.Log10(most)))
	x := func(n int) float64 {
		return left + wide*math.Log(float64(n)/float64(fewest))/
			max(math.Log(float64(many)/float64(fewest)), 1e-9)
	}
	y := func(v float64) float64 { return top + high*math.Log(most/v)/math.Log(most/least) }
	s := newSVG(int(left+wide)+190, int(top+high)+40)
	for v := least; v <= most*1.01; v *= 10 {
		s.line(left, y(v), left+wide, y(v), grid)
		s.text(left-6, y(v)+4, "end", inSeconds(v))
	}
	for n := fewest; n <= many; n *= 10 {
		s.line(x(n), top, x(n), top+high, grid)
		s.text(x(n), top+high+16, "middle", fmt.Sprint(n))
	}
	s.text(left+wide/2, top+high+34, "middle", "rows")
	for i, c := range lines {
		color := colors[i%len(colors)]
		var points []string
		for k := range c.rows {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(c.rows[k]), y(c.seconds[k])))
		}
		fmt.Fprintf(s, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n",
			color, strings.Join(points, " "))
		s.line(left+wide+14, top+20*float64(i), left+wide+34, top+20*float64(i),
			`stroke-width="3" stroke="`+color+`"`)
		s.text(left+wide+40, top+20*float64(i)+4, "start", c.name)
	}
	return s.end()
}

func inSeconds(v float64) string {
	switch {
	case v < 0.99e-3:
		return fmt.Sprintf("%.0f µs", v*1e6)
	case v < 0.99:
		return fmt.Sprintf("%.0f ms", v*1e3)
	}
	return fmt.Sprintf("%.0f s", v)
}
