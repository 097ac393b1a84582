package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/queue"
)

// queue2000 is the headline: a backlog of no-op jobs at 2,000 workers.
func queue2000(ctx context.Context, b *Bench, budget time.Duration) error {
	jobs, rounds := b.size(100_000), 3
	if b.Quick {
		jobs, rounds, budget = b.size(60_000), 2, 15*time.Second
	}
	l := load{scenario: "queue2000", workers: 2_000, jobs: jobs}
	found := map[string][]Round{}
	err := takeTurns(ctx, b.Systems, rounds, budget, func(s *System, i int) error {
		round, err := b.run(ctx, s, l, i)
		found[s.Name()] = append(found[s.Name()], round)
		return err
	})
	if err != nil {
		return err
	}
	b.section(l.scenario, fmt.Sprintf("Queue, %s no-op jobs, 2,000 workers", count(jobs)), b.settings(queue.Fast), b.summaries(found))
	return nil
}

// queue100 measures 100 workers without and with a snapshot held by another session, in
// one go, so that the two measurements are close in time.
func queue100(ctx context.Context, b *Bench, budget time.Duration) error {
	plain := load{scenario: "queue100", workers: 100, jobs: b.size(40_000)}
	held := plain
	held.scenario, held.held = "held", true
	free, blocked := map[string][]Round{}, map[string][]Round{}
	err := takeTurns(ctx, b.Systems, 2, budget, func(s *System, i int) error {
		round, err := b.run(ctx, s, plain, i)
		if err != nil {
			return err
		}
		free[s.Name()] = append(free[s.Name()], round)
		round, err = b.run(ctx, s, held, i)
		blocked[s.Name()] = append(blocked[s.Name()], round)
		return err
	})
	if err != nil {
		return err
	}
	b.section("queue100", fmt.Sprintf("Queue, %s no-op jobs, 100 workers", count(plain.jobs)), b.settings(queue.Fast), b.summaries(free))
	var notes []string
	for _, s := range b.Systems {
		loss := 1 - summarise("", blocked[s.Name()]).rate/summarise("", free[s.Name()]).rate
		b.Report.Figure("held."+s.Name()+".loss", loss)
		notes = append(notes, fmt.Sprintf("%s loses %.1f %% against the table above", s.Name(), 100*loss))
	}
	b.section("held", fmt.Sprintf("Held snapshot (REPEATABLE READ open during the round), %s no-op jobs, 100 workers", count(held.jobs)), notes, b.summaries(blocked))
	return nil
}

// floor measures how fast the bare moves are.
func floor(ctx context.Context, b *Bench, budget time.Duration) error {
	jobs := b.size(100_000)
	var rounds []Round
	err := takeTurns(ctx, []*System{b.Floor}, 2, budget, func(s *System, i int) error {
		round, err := b.run(ctx, s, load{scenario: "floor", jobs: jobs}, i)
		rounds = append(rounds, round)
		return err
	})
	if err != nil {
		return err
	}
	notes := []string{b.Floor.Settings(queue.Fast)}
	if weir := b.Report.Value("queue2000.weir.jobs_per_s"); weir > 0 {
		share := weir / summarise("", rounds).rate
		b.Report.Figure("floor.weir.share", share)
		notes = append(notes, fmt.Sprintf("Weir at 2,000 workers reaches %.0f %% of it", 100*share))
	}
	b.section("floor", fmt.Sprintf("Raw floor: the same moves as bare SQL, %s jobs", count(jobs)), notes, []summary{summarise("floor", rounds)})
	return nil
}

// summaries returns the summaries in the order of the systems.
func (b *Bench) summaries(found map[string][]Round) []summary {
	var all []summary
	for _, s := range b.Systems {
		all = append(all, summarise(s.Name(), found[s.Name()]))
	}
	return all
}

// settings returns how each system was driven.
func (b *Bench) settings(pace queue.Pace) []string {
	var notes []string
	for _, s := range b.Systems {
		notes = append(notes, s.Name()+": "+s.Settings(pace))
	}
	return notes
}
