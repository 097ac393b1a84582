package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// Wait is a duration in JSON that may be none: "20m", "0s".
type Wait time.Duration

// Schema implements [huma.SchemaProvider].
func (Wait) Schema(r huma.Registry) *huma.Schema { return Period(0).Schema(r) }

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) { return node.Span(w).MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Wait) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		if d, err := time.ParseDuration(word); err == nil && d == 0 {
			*w = 0
			return nil
		}
	}
	return (*Period)(w).UnmarshalJSON(text)
}

// FleetSpec is a fleet job as it is submitted. It is a snapshot: nothing that changes
// later changes it.
type FleetSpec struct {
	Name     string          `json:"name" maxLength:"200" doc:"For people, such as nightly."`
	Run      json.RawMessage `json:"run" doc:"What runs on each device, on its PC: argv, env, dir, secrets and so on, as a step of a workflow has it. It finds the device in WEIR_DEVICE_SERIAL, WEIR_DEVICE_TARGET, WEIR_DEVICE_HUB and WEIR_DEVICE_LABELS. Naming secrets takes the right to manage workflows."`
	Params   map[string]any  `json:"params,omitempty" doc:"Handed to what runs."`
	Target   FleetTarget     `json:"target" doc:"On which devices. All that it names must hold."`
	Any      int             `json:"any,omitempty" minimum:"0" maximum:"100000" doc:"So many runs, which any device of the target may serve. Left out: one on each."`
	Repeat   int             `json:"repeat,omitempty" minimum:"0" maximum:"10000" doc:"The number of rounds. Default: 1."`
	Attempts int             `json:"attempts,omitempty" minimum:"0" maximum:"100" doc:"How often a run is tried. Default: 3."`
	Timeout  Wait            `json:"timeout,omitzero" doc:"The longest time of an attempt. Default: 20m."`
	Backoff  *Wait           `json:"backoff,omitempty" doc:"The longest wait before the second attempt; it doubles. Default: 10s."`
	Infra    *FleetInfra     `json:"infra,omitempty" doc:"What happens to attempts that the infrastructure broke."`
	Join     string          `json:"join,omitempty" enum:"pending,running" doc:"running: a device that is new joins the job while it runs. Default: pending."`
	Breaker  *int            `json:"breaker,omitempty" minimum:"0" maximum:"100000" doc:"On how many good devices it may fail before it is stopped as bad, if it fails more than it succeeds. 0: never. Default: 5."`
	Linger   *Wait           `json:"linger,omitempty" doc:"How long it waits for devices that cannot serve it once nothing else is left. Default: 2m."`
	Priority int             `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"A higher one goes before older jobs."`
}

// FleetTarget says on which devices.
type FleetTarget struct {
	All     bool              `json:"all,omitempty"`
	Devices []string          `json:"devices,omitempty" maxItems:"100000" doc:"Serials."`
	Labels  map[string]string `json:"labels,omitempty"`
	Tag     string            `json:"tag,omitempty" maxLength:"200" doc:"The label tag."`
}

// FleetInfra is what happens to attempts that the infrastructure broke.
type FleetInfra struct {
	Attempts int    `json:"attempts,omitempty" minimum:"0" maximum:"100" doc:"How often. Default: 3."`
	Exit     []int  `json:"exit,omitempty" maxItems:"255" doc:"Exit codes that mean it."`
	Place    string `json:"place,omitempty" enum:"same,other_device,other_pc" doc:"Where the next attempt goes. Default: same."`
}

// spec is the job as the store takes it.
func (b *FleetSpec) spec() (fleet.Spec, error) {
	run, err := runOf(b.Run)
	s := fleet.Spec{
		Name: b.Name, Run: run, Params: b.Params, Target: fleet.Target(b.Target), Any: b.Any, Repeat: b.Repeat, Attempts: b.Attempts, Timeout: node.Span(b.Timeout),
		Backoff: (*node.Span)(b.Backoff), Infra: (*fleet.Infra)(b.Infra), Join: b.Join, Breaker: b.Breaker, Linger: (*node.Span)(b.Linger), Priority: b.Priority,
	}
	return s, err
}

// runOf reads how something is run. A field that nobody knows is a mistake.
func runOf(text json.RawMessage) (run node.Run, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return run, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&run); err != nil {
		return run, problem.Refuse("run", `for example {"argv": ["./test.sh"]}`, "it is not understood: %s", err)
	}
	return run, nil
}

func specOf(s fleet.Spec) *FleetSpec {
	return &FleetSpec{
		Name: s.Name, Run: textOf(s.Run), Params: s.Params, Target: FleetTarget(s.Target), Any: s.Any, Repeat: s.Repeat, Attempts: s.Attempts, Timeout: Wait(s.Timeout),
		Backoff: (*Wait)(s.Backoff), Infra: (*FleetInfra)(s.Infra), Join: s.Join, Breaker: s.Breaker, Linger: (*Wait)(s.Linger), Priority: s.Priority,
	}
}

func textOf(run node.Run) json.RawMessage {
	text, err := json.Marshal(run)
	if err != nil {
		return nil // our own types always become JSON
	}
	return text
}

// FleetPolicy is what holds for all of the fleet.
type FleetPolicy struct {
	Policy  string       `json:"policy" enum:"strict,evidence" doc:"strict: a run that failed for good puts its device out. evidence: failures of two jobs do, or a failed health task."`
	Health  *FleetHealth `json:"health" doc:"The health task; null: there is none."`
	Overlap bool         `json:"overlap" doc:"Devices that the active job does not need serve the next one."`
	Slots   int          `json:"slots" doc:"How many devices of a PC work at once unless it says otherwise."`
}

// FleetHealth is what tells whether a device is well.
type FleetHealth struct {
	Run     json.RawMessage `json:"run" doc:"As the run of a fleet job."`
	Timeout Wait            `json:"timeout,omitzero" doc:"Default: 5m."`
}

func policyOf(p fleet.Policy, err error) (*One[FleetPolicy], error) {
	out := FleetPolicy{Policy: p.Policy, Overlap: p.Overlap, Slots: p.Slots}
	if p.Health != nil {
		out.Health = &FleetHealth{Run: textOf(p.Health.Run), Timeout: Wait(p.Health.Timeout)}
	}
	return one(out, err)
}

func (a *API) showPolicy(ctx context.Context, _ *struct{}) (*One[FleetPolicy], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	return policyOf(store.Policy(ctx))
}

// PolicyInput changes the policy. What it does not name stays.
type PolicyInput struct {
	Body struct {
		Policy  *string         `json:"policy,omitempty" enum:"strict,evidence"`
		Health  json.RawMessage `json:"health,omitempty" doc:"Another health task, as run and timeout; null: there is none."`
		Overlap *bool           `json:"overlap,omitempty"`
		Slots   *int            `json:"slots,omitempty" minimum:"1" maximum:"1000"`
	}
}

func (a *API) setPolicy(ctx context.Context, in *PolicyInput) (*One[FleetPolicy], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	change := fleet.PolicyChange{Policy: b.Policy, Overlap: b.Overlap, Slots: b.Slots}
	switch text := bytes.TrimSpace(b.Health); {
	case len(text) == 0:
	case string(text) == "null":
		change.NoHealth = true
	default:
		var h FleetHealth
		if err := decode(text, &h); err != nil {
			return nil, problem.Refuse("health", `for example {"run": {"argv": ["./health.sh"]}, "timeout": "5m"}`, "it is not understood: %s", err)
		}
		run, err := runOf(h.Run)
		if err != nil {
			return nil, err
		}
		if err := mayTell(ctx, fleet.Spec{Run: run}); err != nil {
			return nil, err
		}
		change.Health = &fleet.HealthTask{Run: run, Timeout: node.Span(h.Timeout)}
	}
	return policyOf(store.SetPolicy(ctx, auth.From(ctx).By(), change))
}
