package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
)

// stall is how long the last jobs may take after the round's share of time, because a
// system that loses a job would otherwise hang the benchmark.
const stall = 2 * time.Minute

// pollEvery is the resolution of "the last job is finished in the database".
const pollEvery = 2 * time.Millisecond

// load is one round to run.
type load struct {
	scenario string
	workers  int
	jobs     int
	// insert replaces the plain Insert.
	insert func(ctx context.Context, n int) error
	// held keeps a transaction with an old snapshot open during the round.
	held bool
	// keep leaves the tables as they are before and after.
	keep bool
}

// Round is one measured round.
type Round struct {
	Scenario string `json:"scenario"`
	System   string `json:"system"`
	Round    int    `json:"round"`
	Workers  int    `json:"workers"`
	Jobs     int    `json:"jobs"`

	InsertPerSecond float64 `json:"insert_per_s"`
	JobsPerSecond   float64 `json:"jobs_per_s"`
	InsertWAL       float64 `json:"insert_wal_per_job"`
	WorkWAL         float64 `json:"work_wal_per_job"`
	// CPU times are in microseconds per job, insert and work together; Postgres is absent
	// if the server is not on this machine.
	PostgresCPU *float64 `json:"postgres_cpu_us_per_job,omitempty"`
	ClientCPU   float64  `json:"client_cpu_us_per_job"`
	Load        string   `json:"load_average"`
}

// WAL is the whole WAL of a job's life.
func (r Round) WAL() float64 { return r.InsertWAL + r.WorkWAL }

func (b *Bench) run(ctx context.Context, s *System, l load, number int) (Round, error) {
	if !l.keep {
		if err := s.Reset(ctx); err != nil {
			return Round{}, err
		}
	}
	if err := s.prepare(ctx); err != nil {
		return Round{}, err
	}
	before, err := s.Finished(ctx)
	if err != nil {
		return Round{}, err
	}
	if l.held {
		release, err := b.holdSnapshot(ctx, s)
		if err != nil {
			return Round{}, err
		}
		defer release()
	}
	inserted, err := b.measure(ctx, func() error {
		if l.insert != nil {
			return l.insert(ctx, l.jobs)
		}
		return s.Insert(ctx, l.jobs)
	})
	if err != nil {
		return Round{}, err
	}
	if _, err := s.Admin.Exec(ctx, "analyze"); err != nil {
		return Round{}, fmt.Errorf("analyse after the insert: %w", err)
	}
	worked, err := b.work(ctx, s, l)
	if err != nil {
		return Round{}, err
	}
	after, err := s.Finished(ctx)
	if err != nil {
		return Round{}, err
	}
	if after-before != int64(l.jobs) {
		return Round{}, fmt.Errorf("%d of %d jobs are finished in the database: the round does not count", after-before, l.jobs)
	}
	if !l.keep {
		if err := s.Reset(ctx); err != nil {
			return Round{}, err
		}
	}
	round := newRound(s, l, number, inserted, worked)
	b.Report.Rounds = append(b.Report.Rounds, round)
	return round, nil
}

// work runs the workers until every job is finished in the database.
func (b *Bench) work(ctx context.Context, s *System, l load) (meter.Cost, error) {
	var handled atomic.Int64
	all := make(chan struct{})
	var stop queue.Stop
	cost, err := b.measure(ctx, func() (err error) {
		stop, err = s.Start(ctx, queue.WorkerConfig{Concurrency: l.workers, Handle: func(int64) {
			if handled.Add(1) == int64(l.jobs) {
				close(all)
			}
		}})
		if err != nil {
			return err
		}
		return s.awaitFinished(ctx, all)
	})
	if stop != nil {
		err = errors.Join(err, stop(ctx))
	}
	if err != nil {
		return meter.Cost{}, fmt.Errorf("%d of %d jobs handled: %w", handled.Load(), l.jobs, err)
	}
	return cost, nil
}

// awaitFinished returns when the database has no unfinished job. It queries the database
// only after every handler ran, so that the queries cost the round nothing before its
// very end.
func (s *System) awaitFinished(ctx context.Context, all <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stall, fmt.Errorf("no end after %s", stall))
	defer cancel()
	select {
	case <-all:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		left, err := s.Left(ctx)
		if err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// measure reads the meters around f.
func (b *Bench) measure(ctx context.Context, f func() error) (meter.Cost, error) {
	before, err := b.Meter.Read(ctx)
	if err != nil {
		return meter.Cost{}, err
	}
	// The clock starts after the first reading, which takes a few milliseconds.
	before.At = time.Now()
	if err := f(); err != nil {
		return meter.Cost{}, err
	}
	after, err := b.Meter.Read(ctx)
	if err != nil {
		return meter.Cost{}, err
	}
	return after.Since(before), nil
}

// holdSnapshot opens a transaction that sees the database as it is now, and keeps vacuum
// from removing anything newer until release is called. It must be in the system's own
// database, because another one would not hold vacuum back.
func (b *Bench) holdSnapshot(ctx context.Context, s *System) (release func(), err error) {
	conn, err := b.Server.Connect(ctx, s.Database)
	if err != nil {
		return nil, err
	}
	release = func() { conn.Close(context.WithoutCancel(ctx)) }
	for _, statement := range []string{"begin isolation level repeatable read", "select count(*) from pg_class"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			release()
			return nil, fmt.Errorf("hold a snapshot: %w", err)
		}
	}
	return release, nil
}
