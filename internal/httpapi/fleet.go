package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// Fleets keeps fleet jobs, devices and PCs. [*fleet.Store] does.
type Fleets interface {
	Submit(ctx context.Context, by string, spec fleet.Spec, idempotencyKey string) (fleet.Job, error)
	Preview(ctx context.Context, spec fleet.Spec, most int) (fleet.Preview, error)
	Again(ctx context.Context, id weir.ID, which string) (fleet.Spec, error)
	Jobs(ctx context.Context, f fleet.JobFilter, page view.Page) ([]fleet.Job, error)
	Job(ctx context.Context, id weir.ID) (fleet.Job, error)
	Units(ctx context.Context, id weir.ID, f fleet.UnitFilter, page view.Page) ([]fleet.Unit, error)
	Cancel(ctx context.Context, by string, id weir.ID, reason string) (fleet.Canceled, error)
	Why(ctx context.Context, id weir.ID, most int) (fleet.Why, error)

	Devices(ctx context.Context, f fleet.DeviceFilter, page view.Page) ([]fleet.Device, error)
	Device(ctx context.Context, serial string) (fleet.Device, error)
	DeviceLog(ctx context.Context, serial string, most int) ([]fleet.DeviceEvent, error)
	DeviceUnits(ctx context.Context, serial string, most int) ([]fleet.Unit, error)
	Maintain(ctx context.Context, by, serial, reason string) (changed bool, err error)
	Release(ctx context.Context, by, serial, reason string) (changed bool, err error)
	Retire(ctx context.Context, by, serial, reason string) (changed bool, err error)
	Quarantine(ctx context.Context, by, serial, reason string) (changed bool, err error)

	PCs(ctx context.Context) ([]fleet.PC, error)
	PC(ctx context.Context, name string) (fleet.PC, error)
	Slots(ctx context.Context, pc string) ([]fleet.Slot, error)
	SetSlots(ctx context.Context, by, pc string, slots *int) (changed bool, err error)

	Policy(ctx context.Context) (fleet.Policy, error)
	SetPolicy(ctx context.Context, by string, c fleet.PolicyChange) (fleet.Policy, error)
}

// fleets are those of this server.
func (a *API) fleets() (Fleets, error) {
	if a.config.Fleets == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server has no fleet")
	}
	return a.config.Fleets, nil
}

// FleetJob is a fleet job with its spec in the words of the API.
type FleetJob struct {
	fleet.Job
	Spec *FleetSpec `json:"spec,omitempty" doc:"Shown with one job, not in lists."`
}

func fleetJob(j fleet.Job) FleetJob {
	out := FleetJob{Job: j}
	if j.Spec != nil {
		out.Spec = specOf(*j.Spec)
	}
	out.Job.Spec = nil
	return out
}

// SubmitFleetInput is a fleet job.
type SubmitFleetInput struct {
	op.Keyed
	Body struct {
		FleetSpec
		IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same job."`
	}
}

func (a *API) submitFleet(ctx context.Context, in *SubmitFleetInput) (*Made[FleetJob], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	key, err := in.Key(auth.From(ctx), in.Body.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	spec, err := in.Body.spec()
	if err != nil {
		return nil, err
	}
	if err := mayTell(ctx, spec); err != nil {
		return nil, err
	}
	return madeFleet(store.Submit(ctx, auth.From(ctx).By(), spec, key))
}

// madeFleet answers who submitted a fleet job.
func madeFleet(j fleet.Job, err error) (*Made[FleetJob], error) {
	if err != nil {
		return nil, err
	}
	out := &Made[FleetJob]{Status: http.StatusCreated, Location: location("fleet", "jobs", j.ID.String()), Body: fleetJob(j)}
	if j.Existed {
		out.Status = http.StatusOK
	}
	return out, nil
}

// RerunFleetInput asks for a fleet job once more. The body may be left out.
type RerunFleetInput struct {
	FleetJobInput
	op.Keyed
	Body *struct {
		Which          string `json:"which,omitempty" enum:"rest,failed,missed,all" doc:"On which devices: rest is those on which it was not done (failed, missed or canceled), all is the same target again. Default: rest."`
		IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same job."`
	}
}

// rerunFleet asks for the right to tell secrets again: who runs it may be another than
// who submitted it.
func (a *API) rerunFleet(ctx context.Context, in *RerunFleetInput) (*Made[FleetJob], error) {
	store, id, err := a.fleetID(ctx, in.FleetJobInput)
	if err != nil {
		return nil, err
	}
	body := op.Given(in.Body)
	key, err := in.Key(auth.From(ctx), body.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	spec, err := store.Again(ctx, id, body.Which)
	if err != nil {
		return nil, err
	}
	if err := mayTell(ctx, spec); err != nil {
		return nil, err
	}
	return madeFleet(store.Submit(ctx, auth.From(ctx).By(), spec, key))
}

// mayTell asks a token for one more right if a fleet job names secrets: they are told
// to what it runs. That takes what storing a definition takes; see mayRun.
func mayTell(ctx context.Context, spec fleet.Spec) error {
	if len(spec.Run.Secrets)+len(spec.Run.Files) == 0 {
		return nil
	}
	return auth.Allow(auth.From(ctx), auth.Manage, auth.Object{Kind: "workflow"})
}

// PreviewFleetInput is a fleet job that is not submitted.
type PreviewFleetInput struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many devices it names at most that would take the job, and how many that would not."`
	Body  FleetSpec
}

func (a *API) previewFleet(ctx context.Context, in *PreviewFleetInput) (*One[fleet.Preview], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	spec, err := in.Body.spec()
	if err != nil {
		return nil, err
	}
	return one(store.Preview(ctx, spec, in.Limit))
}

// ListFleetInput narrows the list.
type ListFleetInput struct {
	op.Paged
	State  string `query:"state" enum:"active,waiting,canceling,done,failed,canceled" doc:"Only jobs in this state."`
	Search string `query:"search" maxLength:"200" doc:"Only jobs with this in their name."`
}

func (a *API) listFleet(ctx context.Context, in *ListFleetInput) (*Listed[FleetJob], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	list, err := store.Jobs(ctx, fleet.JobFilter{State: in.State, Search: in.Search}, in.Page())
	if err != nil {
		return nil, err
	}
	jobs := make([]FleetJob, len(list))
	for i, j := range list {
		jobs[i] = fleetJob(j)
	}
	return listed(ctx, jobs, in.Limit, func(j FleetJob) string { return j.ID.String() }), nil
}

// FleetJobInput names a fleet job.
type FleetJobInput struct {
	Job string `path:"job" maxLength:"64" doc:"The id, whole or its end."`
}

// fleetID reads which fleet job is meant. It is a job of the engine.
func (a *API) fleetID(ctx context.Context, in FleetJobInput) (Fleets, weir.ID, error) {
	store, err := a.fleets()
	if err != nil {
		return nil, weir.ID{}, err
	}
	id, err := a.named(ctx, "job", a.config.Store.JobID, in.Job)
	return store, id, err
}

func (a *API) showFleet(ctx context.Context, in *FleetJobInput) (*One[FleetJob], error) {
	store, id, err := a.fleetID(ctx, *in)
	if err != nil {
		return nil, err
	}
	j, err := store.Job(ctx, id)
	return one(fleetJob(j), err)
}

// FleetUnitsInput narrows the units of a fleet job.
type FleetUnitsInput struct {
	FleetJobInput
	op.Paged
	State  string `query:"state" enum:"running,retrying,waiting,failed,missed,canceled,done" doc:"Only units in this state."`
	Device string `query:"device" maxLength:"128" doc:"Only units of the device with this serial."`
	PC     string `query:"pc" maxLength:"200" doc:"Only units of devices of this PC."`
}

// fleetUnits reads the job first: that it is not there is no empty list.
func (a *API) fleetUnits(ctx context.Context, in *FleetUnitsInput) (*Listed[fleet.Unit], error) {
	store, id, err := a.fleetID(ctx, in.FleetJobInput)
	if err != nil {
		return nil, err
	}
	if _, err := store.Job(ctx, id); err != nil {
		return nil, err
	}
	units, err := store.Units(ctx, id, fleet.UnitFilter{State: in.State, Device: in.Device, PC: in.PC}, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, units, in.Limit, func(u fleet.Unit) string { return strconv.Itoa(u.Unit) }), nil
}

// FleetCommandInput is a command on a fleet job. The body may be left out.
type FleetCommandInput struct {
	FleetJobInput
	Body *DecisionBody
}

func (a *API) cancelFleet(ctx context.Context, in *FleetCommandInput) (*One[fleet.Canceled], error) {
	store, id, err := a.fleetID(ctx, in.FleetJobInput)
	if err != nil {
		return nil, err
	}
	return one(store.Cancel(ctx, auth.From(ctx).By(), id, op.Given(in.Body).Reason))
}

// FleetWhyInput asks why a fleet job is not further.
type FleetWhyInput struct {
	FleetJobInput
	Limit int `query:"limit" minimum:"1" maximum:"10000" default:"500" doc:"Of how many devices at most."`
}

func (a *API) whyFleet(ctx context.Context, in *FleetWhyInput) (*One[fleet.Why], error) {
	store, id, err := a.fleetID(ctx, in.FleetJobInput)
	if err != nil {
		return nil, err
	}
	return one(store.Why(ctx, id, in.Limit))
}
