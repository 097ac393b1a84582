package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// scope says to what a metric belongs.
type scope string

const (
	// database metrics are the same on every server.
	database scope = "database"
	// process metrics belong to this server alone.
	process scope = "process"
)

// metric is the declaration of a metric. All of them are in declared.
type metric struct {
	name, help string
	labels     []string
	kind       prometheus.ValueType
	scope      scope
	// spread is set for a histogram.
	spread bool
	desc   *prometheus.Desc
}

var declared []*metric

func declare(of scope, kind prometheus.ValueType, name, help string, labels ...string) *metric {
	m := &metric{name: name, help: help, labels: labels, kind: kind, scope: of}
	m.desc = prometheus.NewDesc(name, m.text(), labels, nil)
	declared = append(declared, m)
	return m
}

func gauge(of scope, name, help string, labels ...string) *metric {
	return declare(of, prometheus.GaugeValue, name, help, labels...)
}

func counter(of scope, name, help string, labels ...string) *metric {
	return declare(of, prometheus.CounterValue, name, help, labels...)
}

func histogram(of scope, name, help string, labels ...string) *metric {
	m := declare(of, prometheus.UntypedValue, name, help, labels...)
	m.spread = true
	return m
}

// text returns the HELP of a metric.
func (m *metric) text() string {
	if m.scope == database {
		return m.help + " (of the database: the same on every server)"
	}
	return m.help
}

// word returns the type in the words of Prometheus.
func (m *metric) word() string {
	switch {
	case m.spread:
		return "histogram"
	case m.kind == prometheus.CounterValue:
		return "counter"
	}
	return "gauge"
}

// page returns the table of docs/monitoring.md.
func page() string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | scope | meaning |\n|---|---|---|---|---|\n")
	for _, m := range declared {
		labels := "–"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		b.WriteString("| `" + m.name + "` | " + m.word() + " | " + labels + " | " + string(m.scope) + " | " + m.help + " |\n")
	}
	return b.String()
}

// out sends values of metrics to a scrape.
type out chan<- prometheus.Metric

func (o out) put(m *metric, value float64, labels ...string) {
	o <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}
