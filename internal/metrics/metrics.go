package metrics

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weirhq/weir/internal/loop"
)

// defaultEvery is how often the database is read at most.
const defaultEvery = 10 * time.Second

// Config says what is measured. What is nil is left out.
type Config struct {
	Source Source
	// Fleet is where devices are read. Nil: they have no metrics.
	Fleet Fleet
	// Workspaces is where workspaces are read. Nil: they have no metrics.
	Workspaces Workspaces
	// Loops are those of the leader's terms of this process.
	Loops func() []loop.Stats
	// Leader is the epoch of the term of this process; 0: it does not lead.
	Leader func() int64
	// Connections are the pools of connections of this process, by what they
	// are for.
	Connections func() map[string]Connections
	Version     string
	// Every is how often the database is read at most. Zero: 10 s.
	Every time.Duration
	Log   *slog.Logger
}

// Metrics measures one server.
type Metrics struct {
	registry *prometheus.Registry
	handler  http.Handler
	faces    faces
	streams  *Streams
}

// New makes the metrics of a server. Nothing runs in the background: a scrape
// reads.
func New(config Config) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), faces: newFaces(), streams: newStreams()}
	if config.Source != nil {
		m.registry.MustRegister(newEngine(config.Source, config.Fleet, config.Workspaces, cmp.Or(config.Every, defaultEvery)))
	}
	m.registry.MustRegister(
		server{config},
		m.faces.requests, m.faces.seconds, m.faces.inFlight,
		m.streams.open, m.streams.opened, m.streams.events, m.streams.dropped,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	options := promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, MaxRequestsInFlight: 8}
	if config.Log != nil {
		options.ErrorLog = slog.NewLogLogger(config.Log.Handler(), slog.LevelError)
	}
	m.handler = promhttp.HandlerFor(m.registry, options)
	return m
}

// Handler answers GET /metrics. Who may ask is the caller's affair.
func (m *Metrics) Handler() http.Handler { return m.handler }

// Streams counts streams of events.
func (m *Metrics) Streams() *Streams { return m.streams }
