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

// defaultEvery is the shortest interval between two readings of the database.
const defaultEvery = 10 * time.Second

// Config says what is measured. Nil fields are left out.
type Config struct {
	Source Source
	// Fleet reads devices. If it is nil, they have no metrics.
	Fleet Fleet
	// Workspaces reads workspaces. If it is nil, they have no metrics.
	Workspaces Workspaces
	// Loops are the loops of the leader's terms in this process.
	Loops func() []loop.Stats
	// Leader returns the epoch of this process's term; 0 means that it does not lead.
	Leader func() int64
	// Connections are the connection pools of this process, by purpose.
	Connections func() map[string]Connections
	Version     string
	// Every is the shortest interval between two readings of the database. Zero means 10
	// s.
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

// New returns the metrics of a server. Nothing runs in the background: a scrape reads.
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

// Handler answers GET /metrics. The caller must check who may ask.
func (m *Metrics) Handler() http.Handler { return m.handler }

// Streams counts streams of events.
func (m *Metrics) Streams() *Streams { return m.streams }
