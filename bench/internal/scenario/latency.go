package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

// arrivals says how jobs arrive in an idle system. The gaps are longer than the cooldown
// of every system at that pace, because the system must be idle when a job arrives.
type arrivals struct {
	scenario string
	pace     queue.Pace
	// samples are taken in each of two turns.
	samples  int
	min, max time.Duration
}

var trickles = []arrivals{
	{"latency", queue.Fast, 100, 10 * time.Millisecond, 40 * time.Millisecond},
	{"latency_default", queue.Default, 25, 110 * time.Millisecond, 210 * time.Millisecond},
}

// Pickups are the latencies of one system at one pace, in milliseconds.
type Pickups struct {
	Scenario string `json:"scenario"`
	System   string `json:"system"`
	Pace     string `json:"pace"`
	// Start is the time from the call to the handler, and Insert is the part of it until
	// the commit is acknowledged.
	Start  []float64 `json:"start_ms"`
	Insert []float64 `json:"insert_ms"`
}

// warmUp jobs are not counted because they include connecting and planning.
const warmUp = 5

// latency sends one job at a time and measures the time until its handler starts.
func latency(ctx context.Context, b *Bench, budget time.Duration) error {
	table := report.Section{
		Scenario: "latency",
		Title:    "Pickup latency, idle: from the call that inserts one job to the start of its handler, 100 workers",
		Header:   []string{"system", "settings", "p50 ms", "p99 ms", "max ms", "insert p50 ms", "samples"},
	}
	for _, a := range trickles {
		found := map[string]*Pickups{}
		err := takeTurns(ctx, b.Systems, 2, budget, func(s *System, _ int) error {
			if found[s.Name()] == nil {
				found[s.Name()] = &Pickups{Scenario: a.scenario, System: s.Name(), Pace: a.pace.String()}
			}
			return s.trickle(ctx, a, found[s.Name()])
		})
		if err != nil {
			return err
		}
		table.Notes = append(table.Notes, fmt.Sprintf("%s, gaps of %s to %s:", a.pace, a.min, a.max))
		for _, note := range b.settings(a.pace) {
			table.Notes = append(table.Notes, "  "+note)
		}
		for _, s := range b.Systems {
			p := found[s.Name()]
			b.Report.Rounds = append(b.Report.Rounds, p)
			table.Rows = append(table.Rows, p.record(b.Report))
		}
	}
	b.Report.Show(b.Out, table)
	return nil
}

// record keeps the figures and returns them as a row.
func (p *Pickups) record(r *report.Report) []string {
	p50, p99 := stats.Percentile(p.Start, 50), stats.Percentile(p.Start, 99)
	r.Figure(p.Scenario+"."+p.System+".p50_ms", p50)
	r.Figure(p.Scenario+"."+p.System+".p99_ms", p99)
	return []string{
		p.System, p.Pace, report.Number(p50, 2), report.Number(p99, 2), report.Number(stats.Max(p.Start), 2),
		report.Number(stats.Percentile(p.Insert, 50), 2), count(len(p.Start)),
	}
}

// trickle adds one turn of samples.
func (s *System) trickle(ctx context.Context, a arrivals, found *Pickups) error {
	if err := s.Reset(ctx); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	started := make(chan time.Time, 1)
	stop, err := s.Start(ctx, queue.WorkerConfig{Concurrency: 100, Pace: a.pace, Handle: func(int64) { started <- time.Now() }})
	if err != nil {
		return err
	}
	// The gaps are random, but the same for every system.
	gaps := rand.New(rand.NewPCG(1, 2))
	for i := range warmUp + a.samples {
		time.Sleep(a.min + time.Duration(gaps.Int64N(int64(a.max-a.min))))
		start, insert, oneErr := s.pickup(ctx, int64(i), started)
		if oneErr != nil {
			err = oneErr
			break
		}
		if i >= warmUp {
			found.Start = append(found.Start, milliseconds(start))
			found.Insert = append(found.Insert, milliseconds(insert))
		}
	}
	return errors.Join(err, stop(ctx), s.Reset(ctx))
}

// pickup inserts one job and waits for its handler.
func (s *System) pickup(ctx context.Context, number int64, started <-chan time.Time) (start, insert time.Duration, err error) {
	before := time.Now()
	if err := s.InsertOne(ctx, number); err != nil {
		return 0, 0, err
	}
	insert = time.Since(before)
	select {
	case at := <-started:
		return at.Sub(before), insert, nil
	case <-time.After(stall):
		return 0, 0, fmt.Errorf("job %d was not picked up in %s", number, stall)
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
