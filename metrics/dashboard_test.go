package metrics_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// metricName is a name in an expression of Prometheus.
	metricName = regexp.MustCompile(`\b(?:minidb|go|process)_\w+`)
	// grouped are the labels of a by clause, selected those of a selector.
	grouped  = regexp.MustCompile(`\bby \(([^)]*)\)`)
	selected = regexp.MustCompile(`(\w+)(?:=~|!=|=)"`)
)

// names returns what a database exports, with the labels of each.
func names(t *testing.T) map[string][]string {
	s := newScene(t)
	all := map[string][]string{}
	for _, f := range families(s) {
		all[f.Name] = append([]string{"job"}, f.Labels...)
		if f.Type == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				all[f.Name+suffix] = append([]string{"job", "le"}, f.Labels...)
			}
		}
	}
	for name := range s.scrape() {
		if all[name] == nil {
			all[name] = []string{"job"}
		}
	}
	return all
}

// checkExpression requires that an expression names what there is, with labels that it has.
func checkExpression(t *testing.T, known map[string][]string, expression string) {
	t.Helper()
	found := metricName.FindAllString(expression, -1)
	require.NotEmpty(t, found, expression)
	var labels []string
	for _, name := range found {
		require.Contains(t, known, name, expression)
		labels = append(labels, known[name]...)
	}
	for _, by := range grouped.FindAllStringSubmatch(expression, -1) {
		for _, label := range strings.Split(by[1], ", ") {
			require.Contains(t, labels, label, expression)
		}
	}
	for _, label := range selected.FindAllStringSubmatch(expression, -1) {
		require.Contains(t, labels, label[1], expression)
	}
}

// O9: the dashboard shows numbers that there are, by labels that they have.
func TestDashboardNamesWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana/minidb.json")
	require.NoError(t, err)
	var board struct {
		Templating struct {
			List []struct{ Query string }
		}
		Panels []struct {
			ID      int
			Type    string
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &board))
	known := names(t)
	ids, expressions := map[int]bool{}, 0
	for _, p := range board.Panels {
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		require.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		for _, target := range p.Targets {
			expressions++
			checkExpression(t, known, target.Expr)
			for _, label := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(
				target.LegendFormat, -1) {
				require.Regexp(t, `by \([^)]*\b`+label[1]+`\b`, target.Expr)
			}
		}
	}
	require.Greater(t, expressions, 30)
	require.Contains(t, board.Templating.List[1].Query, "minidb_build_info")
}

// O9: so do the alerts of docs/monitoring.md.
func TestAlertsNameWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("../docs/monitoring.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## What to alert on\n")
	section, _, _ = strings.Cut(section, "\n## ")
	known, alerts := names(t), 0
	for _, code := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(section, -1) {
		if metricName.MatchString(code[1]) {
			checkExpression(t, known, code[1])
			alerts++
		}
	}
	require.Greater(t, alerts, 10)
}
