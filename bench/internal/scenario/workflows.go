package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/bench/internal/flow/temporal"
	"github.com/weirhq/weir/bench/internal/flow/weirflow"
	"github.com/weirhq/weir/bench/internal/probe"
)

const (
	workflowsDatabase = "weir_bench_workflows"
	// probedCommits is how many commits calibrate the machine.
	probedCommits = 1_000
)

// trial is one shape of work at its size.
type trial struct {
	shape flow.Shape
	// n is its size at scale 1, and least is the smallest meaningful size.
	n, least int
	// rounds are counted, after warm others that are not.
	rounds, warm int
	// within, if not zero, bounds the size by the rate at which the system does jobs: a
	// slow system does fewer of them.
	within time.Duration
}

var trials = []trial{
	{flow.Chain, 40, 5, 9, 2, 0},
	{flow.ChainResults, 40, 5, 5, 1, 0},
	{flow.ChainProcess, 40, 5, 7, 2, 0},
	{flow.FanNeeds, 400, 20, 7, 2, 0},
	{flow.FanMap, 400, 20, 7, 2, 0},
	{flow.BurstBatch, 5_000, 50, 1, 0, time.Minute},
	{flow.Burst, 5_000, 50, 1, 0, time.Minute},
	{flow.DueJobs, 1_000, 20, 1, 0, 20 * time.Second},
	{flow.DueTasks, 1_000, 20, 1, 0, 20 * time.Second},
}

// Flowed are all runs of one shape on one system, in milliseconds.
type Flowed struct {
	Scenario  string     `json:"scenario"`
	System    string     `json:"system"`
	Shape     flow.Shape `json:"shape"`
	Size      int        `json:"size"`
	Submitted []float64  `json:"submitted_ms,omitempty"`
	Done      []float64  `json:"done_ms,omitempty"`
	Late      []float64  `json:"late_ms,omitempty"`
	Made      []float64  `json:"made_ms,omitempty"`
}

// workflows runs every shape on Weir and, if available, on Temporal. They do not take
// turns, because the server and the workers of the other system would still be running.
func workflows(ctx context.Context, b *Bench, budget time.Duration) error {
	machine, err := b.probe(ctx)
	if err != nil {
		return err
	}
	if err := b.Server.CreateDatabase(ctx, workflowsDatabase); err != nil {
		return err
	}
	ours, err := weirflow.New(ctx, b.Server.URL(workflowsDatabase))
	if err != nil {
		return err
	}
	found, err := b.flows(ctx, budget, ours, func(err error) error { return err })
	if err != nil {
		return err
	}
	var notes []string
	program, err := temporal.Find(ctx, b.Temporal, b.Getenv)
	switch {
	case errors.Is(err, temporal.ErrNone):
		notes = append(notes, err.Error(), "so published figures of other machines stand here; the table of this machine below tells how it compares")
	case err != nil:
		return err
	default:
		peer, err := temporal.New(ctx, program)
		if err != nil {
			return err
		}
		peers, err := b.flows(ctx, budget, peer, func(err error) error {
			notes = append(notes, "not measured: "+err.Error())
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		found = append(found, peers...)
	}
	b.showFlows(found, notes, program == "")
	b.showBursts(found)
	b.showDue(found)
	b.showProbe(machine)
	return nil
}

// flows runs every shape on one system and closes it. Once the budget is spent, each
// shape still gets one round. failed decides about a shape that fails: its error ends the
// scenario.
func (b *Bench) flows(ctx context.Context, budget time.Duration, engine flow.Engine, failed func(error) error) (found []*Flowed, err error) {
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()
	b.Report.Environment.Systems[engine.Name()+" (workflows)"] = engine.Setting()
	fmt.Fprintf(b.Out, "\n%s (workflows): %s\n", engine.Name(), engine.Setting())
	end := time.Now().Add(budget)
	rate := math.NaN()
	for _, t := range trials {
		if !engine.Has(t.shape) {
			continue
		}
		f := &Flowed{Scenario: "workflows", System: engine.Name(), Shape: t.shape, Size: max(int(float64(t.n)*b.Scale), t.least)}
		if t.within > 0 && math.IsNaN(rate) {
			rate, err = pilot(ctx, engine)
		}
		if err == nil {
			f.Size = t.bound(f.Size, rate)
			err = f.measure(ctx, engine, t.scaled(b.Scale), end)
		}
		if err != nil {
			if err = failed(fmt.Errorf("%s: %s: %w", engine.Name(), t.shape, err)); err != nil {
				return nil, err
			}
			continue
		}
		f.record(b.Report)
		b.Report.Rounds = append(b.Report.Rounds, f)
		found = append(found, f)
	}
	return found, nil
}

// pilot measures how many jobs per second the system does, with a few of them.
func pilot(ctx context.Context, engine flow.Engine) (rate float64, err error) {
	const few = 50
	f := &Flowed{System: engine.Name(), Shape: flow.Burst, Size: few}
	if err := f.measure(ctx, engine, trial{shape: flow.Burst, rounds: 1}, time.Time{}); err != nil {
		return 0, err
	}
	return f.perSecond(f.Done), nil
}

// scaled has fewer rounds in a smaller run.
func (t trial) scaled(scale float64) trial {
	if scale < 1 {
		t.rounds, t.warm = min(max(int(float64(t.rounds)*scale), 2), t.rounds), min(t.warm, 1)
	}
	return t
}

// bound returns how many of size pieces the system does in time.
func (t trial) bound(size int, rate float64) int {
	if t.within == 0 {
		return size
	}
	return max(min(size, int(rate*t.within.Seconds())), t.least)
}

// measure runs one shape.
func (f *Flowed) measure(ctx context.Context, engine flow.Engine, t trial, end time.Time) (err error) {
	runner, err := engine.Start(ctx, t.shape, f.Size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Stop(context.WithoutCancel(ctx))) }()
	for i := range t.warm + t.rounds {
		if i > t.warm && time.Now().After(end) {
			return nil
		}
		result, err := runner.Run(ctx)
		if err != nil {
			return err
		}
		if i < t.warm {
			continue
		}
		if result.Done > 0 {
			f.Submitted = append(f.Submitted, milliseconds(result.Submitted))
			f.Done = append(f.Done, milliseconds(result.Done))
		}
		f.Late, f.Made = append(f.Late, allMilliseconds(result.Late)...), append(f.Made, allMilliseconds(result.Made)...)
	}
	return nil
}

func allMilliseconds(all []time.Duration) []float64 {
	list := make([]float64, len(all))
	for i, d := range all {
		list[i] = milliseconds(d)
	}
	return list
}

// probe measures the machine before anything else runs.
func (b *Bench) probe(ctx context.Context) (probe.Machine, error) {
	conn, err := b.Server.Connect(ctx, "")
	if err != nil {
		return probe.Machine{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return probe.Measure(ctx, conn, min(b.size(probedCommits), probedCommits))
}
