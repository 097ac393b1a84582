package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
)

const (
	idleWorkers = 100
	// idleSettle lets start-up statements pass before the count begins.
	idleSettle = 3 * time.Second
	idleWindow = 10 * time.Second
)

// idle counts the statements of waiting workers when there is nothing to do.
func idle(ctx context.Context, b *Bench, _ time.Duration) error {
	table := report.Section{
		Scenario: "idle",
		Title:    fmt.Sprintf("Idle, %d registered workers, default settings, statements counted by pg_stat_statements for %s", idleWorkers, idleWindow),
		Header:   []string{"system", "queries/s", "heartbeats/s", "together/s", "WAL B/s"},
	}
	for _, s := range b.Systems {
		idler, ok := s.Queue.(queue.Idler)
		if !ok {
			continue
		}
		if err := s.Reset(ctx); err != nil {
			return err
		}
		stop, err := idler.StartIdle(ctx, idleWorkers)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
		time.Sleep(idleSettle)
		counted, cost, err := b.countIdle(ctx, s, idler)
		if err := errors.Join(err, stop(ctx)); err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
		seconds := cost.Elapsed.Seconds()
		beats := float64(counted.Excluded) / seconds
		all := float64(counted.Calls) / seconds
		b.Report.Figure("idle."+s.Name()+".queries_per_s", all-beats)
		b.Report.Figure("idle."+s.Name()+".heartbeats_per_s", beats)
		b.Report.Figure("idle."+s.Name()+".wal_per_s", float64(cost.WAL)/seconds)
		table.Rows = append(table.Rows, []string{
			s.Name(), report.Number(all-beats, 2), report.Number(beats, 2), report.Number(all, 2),
			report.Number(float64(cost.WAL)/seconds, 0),
		})
	}
	b.Report.Show(b.Out, table)
	return nil
}

func (b *Bench) countIdle(ctx context.Context, s *System, idler queue.Idler) (meter.Statements, meter.Cost, error) {
	if err := meter.ResetStatements(ctx, s.Admin); err != nil {
		return meter.Statements{}, meter.Cost{}, err
	}
	cost, err := b.measure(ctx, func() error {
		time.Sleep(idleWindow)
		return nil
	})
	if err != nil {
		return meter.Statements{}, meter.Cost{}, err
	}
	counted, err := meter.CountStatements(ctx, s.Admin, idler.HeartbeatStatements())
	return counted, cost, err
}
