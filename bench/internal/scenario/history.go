package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

// The sizes at scale 1; scale 10 is a realistic year.
const (
	historyFinished = 1_000_000
	historyFuture   = 100_000
)

// claims are the rounds of one system on one amount of history.
type claims struct {
	rate, claim []float64
}

// history compares claims from an empty system with claims among many finished
// jobs and many that are due tomorrow.
func history(ctx context.Context, b *Bench, budget time.Duration) error {
	finished, future := b.size(historyFinished), b.size(historyFuture)
	var systems []*System
	for _, s := range b.Systems {
		if _, ok := s.Queue.(queue.Preloader); ok {
			systems = append(systems, s)
		}
	}
	empty, full := map[string]*claims{}, map[string]*claims{}
	l := load{scenario: "history_empty", workers: 100, jobs: b.size(20_000)}
	if err := b.claimRounds(ctx, systems, l, budget/2, empty); err != nil {
		return err
	}
	var notes []string
	for _, s := range systems {
		start := time.Now()
		if err := s.Queue.(queue.Preloader).Preload(ctx, finished, future); err != nil {
			return err
		}
		notes = append(notes, fmt.Sprintf("%s: history written in %.0f s", s.Name(), time.Since(start).Seconds()))
	}
	l.scenario, l.keep = "history_full", true
	if err := b.claimRounds(ctx, systems, l, budget/2, full); err != nil {
		return err
	}
	for _, s := range systems {
		if err := s.Reset(ctx); err != nil {
			return err
		}
	}
	b.showHistory(systems, empty, full, fmt.Sprintf("%s finished and %s future jobs against empty, %s no-op jobs, 100 workers",
		count(finished), count(future), count(l.jobs)), notes)
	return nil
}

// claimRounds also measures the claim statement, by the server's own count, because the
// rate alone would hide it behind everything else.
func (b *Bench) claimRounds(ctx context.Context, systems []*System, l load, budget time.Duration, found map[string]*claims) error {
	return takeTurns(ctx, systems, 2, budget, func(s *System, i int) error {
		if err := meter.ResetStatements(ctx, s.Admin); err != nil {
			return err
		}
		round, err := b.run(ctx, s, l, i)
		if err != nil {
			return err
		}
		_, perRow, err := meter.StatementCost(ctx, s.Admin, s.Queue.(queue.Preloader).ClaimStatement())
		if err != nil {
			return err
		}
		if found[s.Name()] == nil {
			found[s.Name()] = &claims{}
		}
		found[s.Name()].rate = append(found[s.Name()].rate, round.JobsPerSecond)
		found[s.Name()].claim = append(found[s.Name()].claim, perRow)
		return nil
	})
}

func (b *Bench) showHistory(systems []*System, empty, full map[string]*claims, title string, notes []string) {
	table := report.Section{
		Scenario: "history", Title: title, Notes: notes,
		Header: []string{"system", "jobs/s empty", "jobs/s full", "full/empty", "claim µs/job empty", "claim µs/job full", "full/empty"},
	}
	for _, s := range systems {
		e, f := empty[s.Name()], full[s.Name()]
		rates := [2]float64{stats.Median(e.rate), stats.Median(f.rate)}
		micros := [2]float64{stats.Median(e.claim), stats.Median(f.claim)}
		prefix := "history." + s.Name() + "."
		b.Report.Figure(prefix+"empty_jobs_per_s", rates[0])
		b.Report.Figure(prefix+"full_jobs_per_s", rates[1])
		b.Report.Figure(prefix+"empty_claim_us", micros[0])
		b.Report.Figure(prefix+"full_claim_us", micros[1])
		table.Rows = append(table.Rows, []string{
			s.Name(), report.Number(rates[0], 0), report.Number(rates[1], 0), report.Number(rates[1]/rates[0], 2),
			report.Number(micros[0], 1), report.Number(micros[1], 1), report.Number(micros[1]/micros[0], 2),
		})
	}
	b.Report.Show(b.Out, table)
}
