package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/streams"
	"github.com/weirhq/weir/internal/pg"
)

const (
	streamsOpen    = 2_400
	streamsChanges = 500
	streamsLength  = time.Minute
	// streamsCuts is the share of the streams that is cut off every second.
	streamsCuts = 0.01
)

// Streamed is one run of the scenario.
type Streamed struct {
	Scenario string `json:"scenario"`
	System   string `json:"system"`
	streams.Result
}

// watch follows every change on many streams. No other system here has this feature.
func watch(ctx context.Context, b *Bench, _ time.Duration) error {
	var ours *System
	for _, s := range b.Systems {
		if s.Name() == "weir" {
			ours = s
		}
	}
	if ours == nil {
		b.skip("streams", "Streams", "Weir is not among the systems")
		return nil
	}
	if err := errors.Join(ours.Reset(ctx), ours.prepare(ctx)); err != nil {
		return err
	}
	pool, err := pg.Open(ctx, b.Server.URL(ours.Database), pg.Options{Name: "bench streams"})
	if err != nil {
		return err
	}
	defer pool.Close()
	scale := min(b.Scale, 1)
	found, err := streams.Run(ctx, streams.Config{
		DatabaseURL: b.Server.URL(ours.Database), Pool: pool, Streams: max(int(streamsOpen*b.Scale), 20), Changes: streamsChanges,
		Length: max(time.Duration(float64(streamsLength)*scale), 2*time.Second), Cuts: streamsCuts,
	})
	if err != nil {
		return err
	}
	b.Report.Rounds = append(b.Report.Rounds, Streamed{"streams", ours.Name(), found})
	b.showStreams(found)
	return ours.Reset(ctx)
}

func (b *Bench) showStreams(found streams.Result) {
	for name, value := range map[string]float64{
		"p50_ms": found.P50, "p95_ms": found.P95, "p99_ms": found.P99, "max_ms": found.Max, "changes_per_s": found.Rate,
		"lost": float64(found.Lost), "duplicated": float64(found.Duplicated), "reconnects": float64(found.Reconnects),
		"runtime_bytes_per_stream": found.HeapPerStream, "rss_bytes_per_stream": found.ResidentPerStream, "server_cores": found.ServerCores,
	} {
		b.Report.Figure("streams.weir."+name, value)
	}
	b.Report.Show(b.Out, report.Section{
		Scenario: "streams",
		Title:    fmt.Sprintf("State change → client: %s streams of everything over HTTP, %.0f s, server, database, worker and clients on this machine", count(found.Streams), found.Seconds),
		Notes: []string{
			fmt.Sprintf("%s events, %s deliveries, %s forced reconnects by Last-Event-ID", count(int(found.Events)), count(int(found.Delivered)), count(found.Reconnects)),
			"latency from the time of the event in the database to the client's read, reconnects included",
		},
		Header: []string{"system", "changes/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "lost", "duplicated", "runtime kB/stream", "RSS kB/stream", "server cores"},
		Rows: [][]string{{
			"weir", report.Number(found.Rate, 0), report.Number(found.P50, 0), report.Number(found.P95, 0), report.Number(found.P99, 0), report.Number(found.Max, 0),
			report.Number(float64(found.Lost), 0), report.Number(float64(found.Duplicated), 0),
			report.Number(found.HeapPerStream/1024, 1), report.Number(found.ResidentPerStream/1024, 1), report.Number(found.ServerCores, 2),
		}},
	})
}
