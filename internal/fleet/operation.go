package fleet

import (
	"context"
	"net/http"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
)

// Listing narrows the list of fleet jobs.
type Listing struct {
	op.Paged
	JobFilter
}

// Creating submits a fleet job.
type Creating struct {
	op.Keyed
	Body CreateBody
}

// CreateBody is a fleet job.
type CreateBody struct {
	Spec
	IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same job."`
}

// Planning asks what a fleet job would do.
type Planning struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many devices it names at most that would take the job, and how many that would not."`
	Body  Spec
}

// Named names a fleet job.
type Named struct {
	Job string `path:"job" flag:"ID" maxLength:"200" doc:"The id, whole or its end, or the name."`
}

// ListingUnits narrows the units of a fleet job.
type ListingUnits struct {
	Named
	op.Paged
	UnitFilter
}

// Asking asks why a fleet job makes no progress.
type Asking struct {
	Named
	Limit int `query:"limit" minimum:"1" maximum:"10000" default:"500" doc:"Of how many devices at most."`
}

// Decision is a command on a fleet job that may have a reason.
type Decision struct {
	Named
	Body *op.DecisionBody
}

// Repeating asks to run a fleet job again.
type Repeating struct {
	Named
	op.Keyed
	Body *RerunBody
}

// RerunBody says which part of it.
type RerunBody struct {
	Which          string `json:"which,omitempty" enum:"rest,failed,missed,all" doc:"On which devices: rest is those on which it was not done (failed, missed or canceled), all is the same target again. Default: rest."`
	IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same job."`
}

// Changing changes the policy. Parts that it does not name stay.
type Changing struct {
	Body PolicyChange
}

// Operations on fleet jobs, and on the policy of the fleet. The user who runs a job again
// may be another than the one who submitted it, so the right to use secrets is checked
// again.
var (
	List = op.List(onFleet(http.MethodGet, "list", "/jobs", auth.Read, "List fleet jobs, newest first"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Listing) ([]Job, error) {
			if in.After != "" {
				id, err := view.New(s.pool).JobID(ctx, in.After)
				if err != nil {
					return nil, view.Blamed("after", err)
				}
				in.After = id.String()
			}
			return s.Jobs(ctx, in.JobFilter, in.Page())
		},
		func(j Job) string { return j.ID.String() })
	Create = op.New(large(onFleet(http.MethodPost, "run", "/jobs", auth.Submit, "Submit a fleet job. It waits until it is the oldest")),
		func(ctx context.Context, s *Store, who auth.Subject, in *Creating) (Job, error) {
			return s.create(ctx, who, in.Keyed, in.Body.IdempotencyKey, in.Body.Spec)
		})
	Foresee = op.New(large(onFleet(http.MethodPost, "plan", "/preview", auth.Submit,
		"Say which devices a fleet job would take, and which not and why; nothing is submitted")),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Planning) (Preview, error) {
			return s.Preview(ctx, in.Body, in.Limit)
		})
	Show = op.New(onFleet(http.MethodGet, "show", "/jobs/{job}", auth.Read, "Show a fleet job with its spec"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Named) (Job, error) {
			return s.named(ctx, in.Job)
		})
	ListUnits = op.List(onFleet(http.MethodGet, "units", "/jobs/{job}/units", auth.Read,
		"List the runs that a fleet job wants, by device and round"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingUnits) ([]Unit, error) {
			j, err := s.named(ctx, in.Job) // so that an unknown job is an error and not an empty list
			if err != nil {
				return nil, err
			}
			return s.Units(ctx, j.ID, in.UnitFilter, in.Page())
		},
		func(u Unit) string { return strconv.Itoa(u.Unit) })
	Explain = op.New(onFleet(http.MethodGet, "why", "/jobs/{job}/why", auth.Read, "Say why a fleet job is not further, device by device"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Asking) (why Why, err error) {
			id, err := s.Find(ctx, in.Job)
			if err != nil {
				return why, err
			}
			return s.Why(ctx, id, in.Limit)
		})
	Cancel = op.New(onFleet(http.MethodPost, "cancel", "/jobs/{job}/cancel", auth.Command,
		"Cancel what is left of a fleet job; what runs is asked to stop"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Decision) (done Canceled, err error) {
			id, err := s.Find(ctx, in.Job)
			if err != nil {
				return done, err
			}
			return s.Cancel(ctx, who.By(), id, op.Given(in.Body).Reason)
		})
	Rerun = op.New(onFleet(http.MethodPost, "rerun", "/jobs/{job}/rerun", auth.Submit,
		"Run a fleet job again, as a new one: on the devices on which it was not done, or on all"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Repeating) (j Job, err error) {
			id, err := s.Find(ctx, in.Job)
			if err != nil {
				return j, err
			}
			body := op.Given(in.Body)
			spec, err := s.Again(ctx, id, body.Which)
			if err != nil {
				return j, err
			}
			return s.create(ctx, who, in.Keyed, body.IdempotencyKey, spec)
		})
	ListResults = op.List(onFleet(http.MethodGet, "results", "/jobs/{job}/results", auth.Read,
		"List what the runs of a fleet job left, by device and round: the result, and the tests of its JUnit files"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingUnits) ([]Result, error) {
			j, err := s.named(ctx, in.Job)
			if err != nil {
				return nil, err
			}
			return s.Results(ctx, j.ID, in.UnitFilter, in.Page())
		},
		func(r Result) string { return strconv.Itoa(r.Unit) })
	ListCases = op.New(onFleet(http.MethodGet, "cases", "/jobs/{job}/cases", auth.Read,
		"List the cases that failed in the JUnit files of a fleet job, those of most devices first"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Asking) (page op.Page[FailedCase], err error) {
			j, err := s.named(ctx, in.Job)
			if err != nil {
				return page, err
			}
			return whole(s.Cases(ctx, j.ID, in.Limit))
		})
	ListSlots = op.New(onFleet(http.MethodGet, "slots", "/slots", auth.Read, "List what devices do now, by PC"),
		func(ctx context.Context, s *Store, _ auth.Subject, _ *struct{}) (op.Page[Slot], error) {
			return whole(s.Slots(ctx, ""))
		})
	ShowPolicy = op.New(onFleet(http.MethodGet, "policy", "/policy", auth.Read, "Show what holds for all of the fleet"),
		func(ctx context.Context, s *Store, _ auth.Subject, _ *struct{}) (Policy, error) { return s.Policy(ctx) })
	ChangePolicy = op.New(onFleet(http.MethodPut, "policy", "/policy", auth.Manage,
		"Change it: how devices are judged, the health task, overlap, slots"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Changing) (p Policy, err error) {
			health, err := in.Body.health()
			if err != nil {
				return p, err
			}
			for _, run := range health.runs() {
				if err := mayTell(who, run); err != nil {
					return p, err
				}
				if p := node.CheckArguments("health.run.argv", run.Argv); p != nil {
					return Policy{}, p
				}
			}
			return s.SetPolicy(ctx, who.By(), in.Body)
		})
)

// onFleet describes an operation on fleet jobs.
func onFleet(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "fleet", Verb: verb, Method: method, Path: "/fleet" + below, Right: right, Summary: summary}
}

func large(o op.Operation) op.Operation { o.Large = true; return o }

// whole returns a list that has no pages.
func whole[T any](rows []T, err error) (op.Page[T], error) { return op.PageOf(rows, ""), err }

// mayTell requires one more right of a token if the run names secrets, because the run
// gets to know them. It is the right that storing a definition takes.
func mayTell(who auth.Subject, run node.Run) error {
	if len(run.Secrets)+len(run.Files) == 0 {
		return nil
	}
	return auth.Allow(who, auth.Manage, auth.Object{Kind: "workflow"})
}

func (s *Store) create(ctx context.Context, who auth.Subject, keyed op.Keyed, said string, spec Spec) (Job, error) {
	key, err := keyed.Key(who, said)
	if err != nil {
		return Job{}, err
	}
	if err := mayTell(who, spec.Run); err != nil {
		return Job{}, err
	}
	return s.Submit(ctx, who.By(), spec, key)
}

// Find resolves a fleet job: its id or the end of it, or its name if it is unique among
// the jobs that have not ended, or else the newest ended job of that name.
func (s *Store) Find(ctx context.Context, text string) (weir.ID, error) {
	return view.Find(ctx, view.New(s.pool), "fleet job", "job", "weir fleet list", text, func() (called []view.Called, _ error) {
		found, err := s.Jobs(ctx, JobFilter{Search: text}, view.Page{Limit: 1000})
		for _, j := range found {
			called = append(called, view.Called{ID: j.ID, Name: j.Name, Ended: j.EndedAt != nil})
		}
		return called, err
	})
}

func (s *Store) named(ctx context.Context, text string) (Job, error) {
	id, err := s.Find(ctx, text)
	if err != nil {
		return Job{}, err
	}
	return s.Job(ctx, id)
}
