package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	sseStreams = gauge(process, "weir_sse_streams", "Streams of events that are open")
	sseOpened  = counter(process, "weir_sse_streams_opened_total", "Streams of events that were opened")
	sseDropped = counter(process, "weir_sse_streams_dropped_total", "Streams that the server closed, by cause: slow, revoked or stopped", "cause")
	sseEvents  = counter(process, "weir_sse_events_sent_total", "Events sent over streams")
)

// Streams counts streams of events. It is safe for concurrent use.
type Streams struct {
	open           prometheus.Gauge
	opened, events prometheus.Counter
	dropped        *prometheus.CounterVec
}

func newStreams() *Streams {
	return &Streams{
		open:    prometheus.NewGauge(prometheus.GaugeOpts{Name: sseStreams.name, Help: sseStreams.text()}),
		opened:  prometheus.NewCounter(prometheus.CounterOpts{Name: sseOpened.name, Help: sseOpened.text()}),
		events:  prometheus.NewCounter(prometheus.CounterOpts{Name: sseEvents.name, Help: sseEvents.text()}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Name: sseDropped.name, Help: sseDropped.text()}, sseDropped.labels),
	}
}

// Opened counts a stream that begins.
func (s *Streams) Opened() {
	s.opened.Inc()
	s.open.Inc()
}

// Closed counts a stream that ends, whichever side ended it.
func (s *Streams) Closed() { s.open.Dec() }

// Dropped counts a stream that the server ended, before Closed. cause is one of a few
// words.
func (s *Streams) Dropped(cause string) { s.dropped.WithLabelValues(cause).Inc() }

// Sent counts events.
func (s *Streams) Sent(n int) { s.events.Add(float64(n)) }
