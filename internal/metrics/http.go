package metrics

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/internal/requestinfo"
)

var (
	httpRequests = counter(process, "weir_http_requests_total", "HTTP requests, by the pattern of their route (other: none fits)", "method", "route", "status")
	httpSeconds  = histogram(process, "weir_http_request_duration_seconds", "Time to answer HTTP requests; streams are left out, they last", "method", "route")
	httpInFlight = gauge(process, "weir_http_requests_in_flight", "HTTP requests that are being answered, streams included")
)

// buckets are around the time that a page may take (200 ms) and that an API call takes.
var buckets = []float64{.002, .005, .01, .025, .05, .1, .2, .5, 1, 2.5, 5, 10, 30}

// faces count HTTP requests.
type faces struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newFaces() faces {
	return faces{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: httpRequests.name, Help: httpRequests.text()}, httpRequests.labels),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: httpSeconds.name, Help: httpSeconds.text(), Buckets: buckets}, httpSeconds.labels),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: httpInFlight.name, Help: httpInFlight.text()}),
	}
}

// HTTP counts the requests that next answers. It must be inside requestinfo.Wrap, because
// the label is the route, of which there are few, not the path.
func (m *Metrics) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, answer := time.Now(), requestinfo.Record(w)
		m.faces.inFlight.Inc()
		ended := false
		defer func() {
			m.faces.inFlight.Dec()
			status := answer.Status()
			if !ended { // a panic: the server closes the connection
				status = http.StatusInternalServerError
			}
			m.faces.count(r, status, time.Since(start), strings.HasPrefix(answer.Header().Get("Content-Type"), "text/event-stream"))
		}()
		next.ServeHTTP(answer, r)
		ended = true
	})
}

func (f faces) count(r *http.Request, status int, took time.Duration, stream bool) {
	method, route := requestinfo.Method(r), cmp.Or(requestinfo.Route(r.Context()), "other")
	f.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	if !stream {
		f.seconds.WithLabelValues(method, route).Observe(took.Seconds())
	}
}
