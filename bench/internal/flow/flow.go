package flow

import (
	"context"
	"time"
)

// Shape is the form of the work.
type Shape string

const (
	// Chain is one job whose steps follow one another, done by a function.
	Chain Shape = "chain"
	// ChainResults is a chain in which each step reads the result of the one
	// before.
	ChainResults Shape = "chain_results"
	// ChainProcess is a chain in which each step is a process.
	ChainProcess Shape = "chain_process"
	// FanNeeds is one job: a first step, many that need it, and a last one that
	// needs them all. All of them are written in the definition.
	FanNeeds Shape = "fan_needs"
	// FanMap is the same, with a map over a list that the first step returns.
	FanMap Shape = "fan_map"
	// Burst is many jobs of one step, each submitted by its own call, Submitters at once.
	Burst Shape = "burst"
	// BurstBatch is the same, submitted by one call.
	BurstBatch Shape = "burst_batch"
	// DueJobs is many schedules of workflows of one step, due at one instant.
	DueJobs Shape = "due_jobs"
	// DueTasks is many schedules of single tasks, due at one instant.
	DueTasks Shape = "due_tasks"
)

const (
	// FanWorkers is how many workers share a fan, each doing one step at a time.
	FanWorkers = 10
	// Slots is how many steps the one worker of every other shape does at once.
	Slots = 100
	// Submitters is how many calls submit jobs, or set schedules, at a time.
	Submitters = 20
	// Program is the program of a step that is a process.
	Program = "/bin/true"
)

// Engine is a system that runs workflows.
type Engine interface {
	// Name returns a word, and Setting describes the version and the setup.
	Name() string
	Setting() string
	// Has reports whether the engine can do the shape.
	Has(Shape) bool
	// Start prepares n pieces of the shape.
	Start(ctx context.Context, shape Shape, n int) (Runner, error)
	Close(ctx context.Context) error
}

// Runner does one shape of work.
type Runner interface {
	Run(ctx context.Context) (Result, error)
	Stop(ctx context.Context) error
}

// Result is the time that one run took.
type Result struct {
	// Submitted is the time until the last job was accepted, Done until all were
	// done; both from the first call.
	Submitted, Done time.Duration
	// Late is how long after the instant the work of each schedule began; Made is how
	// long after it its job or task was committed, where that is known.
	Late, Made []time.Duration
}
