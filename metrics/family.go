package metrics

import (
	"context"

	"github.com/minidb/minidb/sql"
	"github.com/prometheus/client_golang/prometheus"
)

// Family is a number that is exported, or several that differ in the values of labels.
type Family struct {
	Name, Type string // a type of Prometheus: "counter", "gauge", "histogram"
	Help       string // what to do or to think when it is high
	Labels     []string
}

// family is a Family with what reads it.
type family struct {
	Family
	// read adds each number with the values of its labels. Of a histogram it is nil.
	read func(ctx context.Context, add add)
	// histograms returns those of a histogram's family, by the value of its label.
	histograms func() map[string]sql.Latencies
	desc       *prometheus.Desc
}

// add takes a number of a family, with the values of its labels.
type add func(number float64, labels ...string)

func gauge(name, help string, read func(ctx context.Context, add add), labels ...string) family {
	return family{Family: Family{name, "gauge", help, labels}, read: read}
}

func counter(name, help string, read func(ctx context.Context, add add), labels ...string) family {
	return family{Family: Family{name, "counter", help, labels}, read: read}
}

func histogram(name, help string, read func() map[string]sql.Latencies, label string) family {
	return family{Family: Family{name, "histogram", help, []string{label}}, histograms: read}
}

// collector is the table of families as Prometheus' registry wants it.
type collector struct {
	families []family
	// open reports whether the database can be read.
	open func() bool
}

func newCollector(families []family, open func() bool) *collector {
	for i := range families {
		f := &families[i]
		f.desc = prometheus.NewDesc(f.Name, f.Help, f.Labels, nil)
	}
	return &collector{families: families, open: open}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for i := range c.families {
		to <- c.families[i].desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	if !c.open() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	for i := range c.families {
		f := &c.families[i]
		if f.histograms != nil {
			for value, l := range f.histograms() {
				to <- &latencies{desc: f.desc, label: f.Labels[0], value: value, counted: l}
			}
			continue
		}
		kind := prometheus.GaugeValue
		if f.Type == "counter" {
			kind = prometheus.CounterValue
		}
		f.read(ctx, func(number float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(f.desc, kind, number, labels...)
		})
	}
}
