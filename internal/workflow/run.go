package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// runTries is how often a run is planned again because the newest version changed in
	// the meantime.
	runTries = 5
	// runBatch is how many jobs one transaction submits.
	runBatch = 250
)

// RunRequest asks for a job of a workflow.
type RunRequest struct {
	Workflow string
	// Version 0 is the newest active one.
	Version int
	Options definition.Options
	// At is when the job is due. Zero means now.
	At time.Time
	// Schedule is the schedule that the run belongs to, if any: its policy on overlaps
	// applies.
	Schedule string
	// Zone is that of the job's dates. Empty means the workflow's.
	Zone string
	// Priority is the job's priority. Nil means that of the definition.
	Priority       *int
	IdempotencyKey string
	Trace          string
	// By is the user who asks; it is stored with the job's options.
	By string
	// MaySkip is called before a step is left out. Nil means that the caller may.
	MaySkip MaySkip
}

// MaySkip returns nil if the caller may leave out a step, or why not. It requires the
// same right as skipping a task.
type MaySkip func() error

// Judge calls may if the options leave out a step.
func (may MaySkip) Judge(o definition.Options) error {
	for _, key := range slices.Sorted(maps.Keys(o.Steps)) {
		if may == nil || !o.Steps[key].Skip {
			continue
		}
		if err := may(); err != nil {
			return problem.Explain(err).At("steps." + key + ".skip")
		}
	}
	return nil
}

// Run makes a job of a workflow and returns its id. A job that may start at once is
// submitted completely, in one round trip to the database; a job that is due later, or
// that may have to wait for others of its workflow, is queued and built by the leader.
func (s *Store) Run(ctx context.Context, r RunRequest) (weir.ID, error) {
	ids, err := s.RunMany(ctx, r, []definition.Options{r.Options})
	if err != nil {
		return weir.ID{}, err
	}
	return ids[0], nil
}

// RunMany makes one job for each of the options. An idempotency key is for a single job.
// If it fails in the middle, the jobs before that exist.
func (s *Store) RunMany(ctx context.Context, r RunRequest, options []definition.Options) (ids []weir.ID, err error) {
	if r.IdempotencyKey != "" && len(options) > 1 {
		return nil, problem.Refuse("idempotency_key", "run them one by one", "it can stand for one job only")
	}
	if r.Priority != nil && (*r.Priority < -100 || *r.Priority > 100) {
		return nil, problem.Refuse("priority", "", "%d is outside -100 .. 100", *r.Priority)
	}
	if r.Zone != "" {
		if _, err := momentIn("at", "2026-01-01", r.Zone); err != nil {
			return nil, err
		}
	}
	for _, o := range options {
		if err := r.MaySkip.Judge(o); err != nil {
			return nil, err
		}
	}
	for part := range slices.Chunk(options, runBatch) {
		some, err := s.runSome(ctx, r, part)
		if err != nil {
			return ids, fmt.Errorf("run workflow %s: %w", r.Workflow, err)
		}
		ids = append(ids, some...)
	}
	return ids, nil
}

func (s *Store) runSome(ctx context.Context, r RunRequest, options []definition.Options) ([]weir.ID, error) {
	for range runTries {
		b, err := s.find(ctx, r.Workflow, r.Version)
		if err != nil {
			return nil, err
		}
		if !r.At.IsZero() || b.MaxRunning > 0 || r.Schedule != "" {
			return s.queue(ctx, r, options)
		}
		ids, err := s.runNow(ctx, b, r, options)
		if err != nil || !slices.Contains(ids, weir.ID{}) {
			return ids, err
		}
		s.known.forget(r.Workflow) // another process stored a newer one
	}
	return nil, problem.New(problem.Conflict, "try again", "the versions of %q change faster than it can be run", r.Workflow)
}

// runNow plans jobs here and submits them.
func (s *Store) runNow(ctx context.Context, b *parsed, r RunRequest, options []definition.Options) ([]weir.ID, error) {
	list := make([]submission, len(options))
	now := time.Now().UTC()
	for i, o := range options {
		params, err := b.Input(o)
		if err != nil {
			return nil, err
		}
		tasks, err := b.Plan(definition.Input{Params: params, Options: o, Job: definition.Job{Name: b.name, ScheduledAt: now, Zone: r.Zone}})
		if err != nil {
			return nil, err
		}
		x := &list[i]
		*x = submission{definition: b.id, newest: r.Version == 0, patience: patienceOf(tasks), priority: b.Priority, at: now, key: r.IdempotencyKey, trace: r.Trace}
		if r.Priority != nil {
			x.priority = *r.Priority
		}
		x.hint = i == len(options)-1 // one hint for all, because they wake the same workers
		if x.tasks, err = json.Marshal(tasks); err != nil {
			return nil, err
		}
		if x.params, x.options, err = encodeOptions(params, jobOptions{Options: o, By: r.By, Zone: r.Zone}); err != nil {
			return nil, err
		}
	}
	return s.submit(ctx, list)
}

// queue opens jobs that the leader builds.
func (s *Store) queue(ctx context.Context, r RunRequest, options []definition.Options) ([]weir.ID, error) {
	s.known.forget(r.Workflow) // no later check finds out whether it is the newest
	b, err := s.find(ctx, r.Workflow, r.Version)
	if err != nil {
		return nil, err
	}
	list := make([]opening, len(options))
	for i, o := range options {
		if list[i], err = b.opening(jobOptions{Options: o, By: r.By, Zone: r.Zone}); err != nil {
			return nil, err
		}
		x := &list[i]
		x.ScheduledAt, x.Schedule, x.Key, x.Trace = r.At, r.Schedule, r.IdempotencyKey, r.Trace
		if r.At.After(time.Now()) {
			x.Due = r.At
		}
		if r.Priority != nil {
			x.Priority = *r.Priority
		}
	}
	return s.open(ctx, list)
}

// opening returns a job of the workflow with these options, which are checked here so
// that the caller gets the error.
func (b *parsed) opening(o jobOptions) (opening, error) {
	params, err := b.Input(o.Options)
	if err != nil {
		return opening{}, err
	}
	x := opening{Name: b.name, Definition: b.id, Priority: b.Priority}
	x.Params, x.Options, err = encodeOptions(params, o)
	return x, err
}

// jobOptions is the JSON in weir.jobs.options.
type jobOptions struct {
	definition.Options
	// Rerun says which steps of the origin are run again.
	Rerun *RerunBody `json:"rerun,omitempty"`
	// By is the user who asked for the job.
	By string `json:"by,omitempty"`
	// Zone is that of the schedule the job is of. Empty means the workflow's.
	Zone string `json:"zone,omitempty"`
	// StartedBy says which trigger started the job, if one did.
	StartedBy *StartedBy `json:"started_by,omitempty"`
	// free are the other fields, which plain SQL may write and steps read as .job.options.
	free map[string]any
}

// freeOptions returns the fields of options that Weir gives no meaning to.
func freeOptions(options json.RawMessage) map[string]any {
	var free map[string]any
	if json.Unmarshal(options, &free) != nil {
		return nil // optionsOf refuses it
	}
	for _, known := range []string{"params", "steps", "labels", "rerun", "by", "zone", "started_by"} {
		delete(free, known)
	}
	return free
}

func encodeOptions(params map[string]any, o jobOptions) (text, options json.RawMessage, err error) {
	if text, err = json.Marshal(params); err != nil {
		return nil, nil, err
	}
	if options, err = json.Marshal(o); err != nil {
		return nil, nil, err
	}
	if len(o.free) > 0 { // a rerun keeps them
		all := maps.Clone(o.free)
		if err := json.Unmarshal(options, &all); err != nil {
			return nil, nil, err
		}
		if options, err = json.Marshal(all); err != nil {
			return nil, nil, err
		}
	}
	if string(options) == "{}" {
		options = nil
	}
	return text, options, nil
}

// optionsOf reads the options of a job. They may have been written by plain SQL, or may
// contain only its params.
func (j *jobRow) optionsOf() (o jobOptions, err error) {
	switch {
	case len(j.Options) > 0:
		if err := json.Unmarshal(j.Options, &o); err != nil {
			return o, problem.Refuse("options", `write {"params": {…}, "steps": {"key": {"params": {…}}}}`, "%s", err)
		}
		o.free = freeOptions(j.Options)
	case len(j.Params) > 0:
		if err := json.Unmarshal(j.Params, &o.Params); err != nil {
			return o, problem.Refuse("params", "write an object", "%s", err)
		}
	}
	return o, nil
}
