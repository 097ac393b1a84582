package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

const (
	continuousFor = 5 * time.Second
	// backlog is kept filled, so that workers never wait for the inserter.
	backlog = 25_000
	// refill is how many jobs the inserter adds at a time.
	refill = 5_000
)

// Stream is one measured round of insert and work at the same time.
type Stream struct {
	Scenario      string  `json:"scenario"`
	System        string  `json:"system"`
	Round         int     `json:"round"`
	Seconds       float64 `json:"seconds"`
	Finished      int     `json:"finished"`
	JobsPerSecond float64 `json:"jobs_per_s"`
	WAL           float64 `json:"wal_per_job"`
	ClientCPU     float64 `json:"client_cpu_us_per_job"`
}

// continuous inserts and works at the same time for a fixed time.
func continuous(ctx context.Context, b *Bench, budget time.Duration) error {
	found := map[string][]Stream{}
	err := takeTurns(ctx, b.Systems, 2, budget, func(s *System, i int) error {
		stream, err := b.stream(ctx, s, i)
		found[s.Name()] = append(found[s.Name()], stream)
		return err
	})
	if err != nil {
		return err
	}
	table := report.Section{
		Scenario: "continuous",
		Title:    fmt.Sprintf("Continuous insert and work for %s, 2,000 workers, backlog kept at %s", continuousFor, count(backlog)),
		Notes:    b.settings(queue.Fast),
		Header:   []string{"system", "jobs/s median", "best", "rounds", "WAL B/job", "client CPU µs/job"},
	}
	for _, s := range b.Systems {
		var rate, wal, client []float64
		for _, stream := range found[s.Name()] {
			rate, wal, client = append(rate, stream.JobsPerSecond), append(wal, stream.WAL), append(client, stream.ClientCPU)
		}
		b.Report.Figure("continuous."+s.Name()+".jobs_per_s", stats.Median(rate))
		b.Report.Figure("continuous."+s.Name()+".wal_per_job", stats.Median(wal))
		table.Rows = append(table.Rows, []string{
			s.Name(), report.Number(stats.Median(rate), 0), report.Number(stats.Max(rate), 0),
			report.Number(float64(len(rate)), 0), report.Number(stats.Median(wal), 0), report.Number(stats.Median(client), 0),
		})
	}
	b.Report.Show(b.Out, table)
	return nil
}

func (b *Bench) stream(ctx context.Context, s *System, number int) (Stream, error) {
	if err := s.Reset(ctx); err != nil {
		return Stream{}, err
	}
	if err := s.prepare(ctx); err != nil {
		return Stream{}, err
	}
	if err := s.Insert(ctx, backlog); err != nil {
		return Stream{}, err
	}
	var finished int64
	cost, err := b.measure(ctx, func() error {
		return s.insertAndWork(ctx, continuousFor)
	})
	if err == nil {
		finished, err = s.Finished(ctx)
	}
	if err != nil {
		return Stream{}, err
	}
	if finished == 0 {
		return Stream{}, fmt.Errorf("nothing was finished in %s", continuousFor)
	}
	stream := newStream(s, number, int(finished), cost)
	b.Report.Rounds = append(b.Report.Rounds, stream)
	return stream, s.Reset(ctx)
}

func newStream(s *System, number, finished int, cost meter.Cost) Stream {
	return Stream{
		Scenario: "continuous", System: s.Name(), Round: number + 1,
		Seconds: cost.Elapsed.Seconds(), Finished: finished,
		JobsPerSecond: cost.Rate(finished), WAL: cost.WALPer(finished), ClientCPU: cost.ClientPer(finished),
	}
}

// insertAndWork keeps the backlog filled while workers drain it. Workers are stopped
// within the measured time, so that what they hold in memory is written and counted, and
// the time of stopping is included.
func (s *System) insertAndWork(ctx context.Context, length time.Duration) error {
	var handled atomic.Int64
	stop, err := s.Start(ctx, queue.WorkerConfig{Concurrency: 2_000, Handle: func(int64) { handled.Add(1) }})
	if err != nil {
		return err
	}
	inserted := int64(backlog)
	for end := time.Now().Add(length); time.Now().Before(end) && err == nil; {
		if inserted-handled.Load() >= backlog {
			time.Sleep(pollEvery)
			continue
		}
		err = s.Insert(ctx, refill)
		inserted += refill
	}
	return errors.Join(err, stop(ctx))
}
