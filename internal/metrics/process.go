package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/internal/loop"
)

var (
	buildInfo = gauge(process, "weir_build_info", "Always 1; the labels say what runs", "version", "goversion")

	leader      = gauge(process, "weir_leader", "1 if this server leads, else 0; the sum over all servers is 1")
	leaderEpoch = gauge(process, "weir_leader_epoch", "Number of the term in which this server leads; 0 if it does not")

	loopTicks   = counter(process, "weir_loop_ticks_total", "Ticks of a loop of the leader", "loop")
	loopErrors  = counter(process, "weir_loop_errors_total", "Ticks of a loop that failed", "loop")
	loopSeconds = counter(process, "weir_loop_duration_seconds_total", "Time that the ticks of a loop took, together", "loop")
	loopTook    = gauge(process, "weir_loop_last_duration_seconds", "Time that the last tick of a loop took", "loop")
	loopLast    = gauge(process, "weir_loop_last_tick_timestamp_seconds", "When the last tick of a loop ended", "loop")
	loopEvery   = gauge(process, "weir_loop_interval_seconds", "Longest time there should be between two ticks of a loop", "loop")
	loopFailing = gauge(process, "weir_loop_failing", "Errors of a loop since its last tick that went well", "loop")

	connections      = gauge(process, "weir_connections", "Connections of this server to the database, by what they are for: acquired, idle or constructing", "client", "state")
	connectionsLimit = gauge(process, "weir_connections_limit", "Most connections this server opens to the database", "client")
	acquires         = counter(process, "weir_connection_acquires_total", "Connections that were asked for", "client")
	acquireWaits     = counter(process, "weir_connection_acquire_waits_total", "Connections that were asked for when none was free", "client")
	acquireSeconds   = counter(process, "weir_connection_acquire_wait_seconds_total", "Time spent waiting for a free connection", "client")
	acquireCanceled  = counter(process, "weir_connection_acquires_canceled_total", "Connections that were no longer wanted when one was free", "client")
)

// Connections is the state of a connection pool to the database. *pgxpool.Stat implements
// it.
type Connections interface {
	AcquiredConns() int32
	IdleConns() int32
	ConstructingConns() int32
	MaxConns() int32
	AcquireCount() int64
	EmptyAcquireCount() int64
	EmptyAcquireWaitTime() time.Duration
	CanceledAcquireCount() int64
}

// server collects what this process knows of itself.
type server struct{ config Config }

// Describe implements [prometheus.Collector].
func (s server) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range []*metric{
		buildInfo, leader, leaderEpoch, loopTicks, loopErrors, loopSeconds, loopTook, loopLast, loopEvery, loopFailing,
		connections, connectionsLimit, acquires, acquireWaits, acquireSeconds, acquireCanceled,
	} {
		descs <- m.desc
	}
}

// Collect implements [prometheus.Collector].
func (s server) Collect(metrics chan<- prometheus.Metric) {
	o := out(metrics)
	o.put(buildInfo, 1, s.config.Version, runtime.Version())
	if s.config.Leader != nil {
		epoch := s.config.Leader()
		o.put(leader, float64(min(epoch, 1)))
		o.put(leaderEpoch, float64(epoch))
	}
	if s.config.Loops != nil {
		for _, l := range s.config.Loops() {
			putLoop(o, l)
		}
	}
	if s.config.Connections != nil {
		for client, c := range s.config.Connections() {
			putConnections(o, client, c)
		}
	}
}

func putLoop(o out, l loop.Stats) {
	o.put(loopTicks, float64(l.Ticks), l.Name)
	o.put(loopErrors, float64(l.Errors), l.Name)
	o.put(loopSeconds, l.Took.Seconds(), l.Name)
	o.put(loopTook, l.LastTook.Seconds(), l.Name)
	if !l.Last.IsZero() {
		o.put(loopLast, float64(l.Last.UnixMilli())/1000, l.Name)
	}
	o.put(loopEvery, l.Every.Seconds(), l.Name)
	o.put(loopFailing, float64(l.Failing), l.Name)
}

func putConnections(o out, client string, c Connections) {
	o.put(connections, float64(c.AcquiredConns()), client, "acquired")
	o.put(connections, float64(c.IdleConns()), client, "idle")
	o.put(connections, float64(c.ConstructingConns()), client, "constructing")
	o.put(connectionsLimit, float64(c.MaxConns()), client)
	o.put(acquires, float64(c.AcquireCount()), client)
	o.put(acquireWaits, float64(c.EmptyAcquireCount()), client)
	o.put(acquireSeconds, c.EmptyAcquireWaitTime().Seconds(), client)
	o.put(acquireCanceled, float64(c.CanceledAcquireCount()), client)
}
