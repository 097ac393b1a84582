package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// kindWebhook is the kind of triggers that deliveries fire.
const kindWebhook = "webhook"

// runRoots are what a trigger that follows runs may read of the run that ended.
var runRoots = []string{"params", "steps", "run"}

// NamedTrigger names a trigger.
type NamedTrigger struct {
	Trigger string `path:"trigger" flag:"NAME" maxLength:"100"`
}

// TriggerSpec is the definition of a trigger.
type TriggerSpec struct {
	Workflow string          `json:"workflow" maxLength:"200" doc:"Which workflow it runs, in its newest active version."`
	Webhook  bool            `json:"webhook,omitempty" doc:"It fires by a signed POST to its path; or after."`
	After    string          `json:"after,omitempty" maxLength:"200" doc:"It fires when a run of this workflow ends."`
	On       string          `json:"on,omitempty" enum:"done,failed,always" doc:"How that run must have ended; always: however, also canceled. Default: done."`
	When     string          `json:"when,omitempty" maxLength:"4096" doc:"An expression that must hold, over params, steps and run of the run that ended, or body, headers and delivery of a webhook."`
	Params   json.RawMessage `json:"params,omitempty" doc:"Params of the run, an object; texts may be templates over the same values."`
	Paused   bool            `json:"paused,omitempty" doc:"Keeps the trigger but starts nothing."`
}

// PuttingTrigger creates a trigger or changes it.
type PuttingTrigger struct {
	NamedTrigger
	op.Matched
	Body TriggerSpec
}

// DroppingTrigger deletes a trigger.
type DroppingTrigger struct {
	NamedTrigger
	op.Matched
}

// ListingTriggers selects triggers.
type ListingTriggers struct {
	op.Paged
	Workflow string `query:"workflow" maxLength:"200" doc:"Only triggers that run this workflow, or follow it."`
}

// ListingFirings selects firings of a trigger.
type ListingFirings struct {
	NamedTrigger
	op.Paged
}

// Trigger is what starts runs of a workflow besides a time.
type Trigger struct {
	Name      string          `json:"name"`
	Kind      string          `json:"kind" enum:"after,webhook" doc:"after: it follows the runs of a workflow; webhook: a signed POST fires it."`
	Workflow  string          `json:"workflow"`
	After     string          `json:"after,omitempty"`
	On        string          `json:"on,omitempty"`
	When      string          `json:"when,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Paused    bool            `json:"paused"`
	ChangedAt time.Time       `json:"changed_at"`
	LastAt    time.Time       `json:"last_at,omitzero" doc:"When it last started a run."`
	LastJob   weir.ID         `json:"last_job,omitzero"`
	// Path and Secret are those of a webhook.
	Path        string    `json:"path,omitempty" doc:"Where to POST, below the address of the server."`
	Secret      string    `json:"secret,omitempty" doc:"What deliveries are signed with: in the answer that made it, and never again."`
	BeforeUntil time.Time `json:"before_until,omitzero" doc:"Until then deliveries may be signed with the secret before."`

	made, sealed bool
}

// Tag implements [op.Defined].
func (t Trigger) Tag() string {
	var params bytes.Buffer
	_ = json.Compact(&params, t.Params) // jsonb is always JSON
	return op.Tag(t.Workflow, t.After, t.On, t.When, params.String(), t.Paused)
}

// New implements [op.Defined].
func (t Trigger) New() bool { return t.made }

// Firing is one occasion for a trigger, and what came of it.
type Firing struct {
	Trigger string  `json:"trigger"`
	Key     string  `json:"key" doc:"What makes it one: the id of the job that ended, or of the delivery. It starts at most one run."`
	Source  weir.ID `json:"source,omitzero" doc:"The job that ended."`
	State   string  `json:"state" enum:"pending,started,ignored,failed"`
	// Reason says why it started nothing.
	Reason string       `json:"reason,omitempty"`
	Why    reason.Coded `json:"why,omitzero" doc:"The reason for programs."`
	Job    weir.ID      `json:"job,omitzero" doc:"The job that it started."`
	At     time.Time    `json:"at"`
}

// Operations on triggers.
var (
	ListTriggers = op.List(onTriggers(http.MethodGet, "list", "", auth.Read, "List triggers"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingTriggers) ([]Trigger, error) {
			return s.Triggers(ctx, in.Workflow, in.Page())
		},
		func(t Trigger) string { return t.Name })
	ShowTrigger = op.New(onTriggers(http.MethodGet, "show", "/{trigger}", auth.Read, "Show a trigger"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedTrigger) (Trigger, error) {
			return s.Trigger(ctx, in.Trigger)
		})
	PutTrigger = op.New(onTriggers(http.MethodPut, "set", "/{trigger}", auth.Manage, "Create or change a trigger"),
		func(ctx context.Context, s *Store, who auth.Subject, in *PuttingTrigger) (Trigger, error) {
			return s.putTrigger(ctx, who, in)
		})
	DropTrigger = op.New(onTriggers(http.MethodDelete, "drop", "/{trigger}", auth.Manage, "Delete a trigger; what it started stays"),
		func(ctx context.Context, s *Store, who auth.Subject, in *DroppingTrigger) (op.Nothing, error) {
			if in.IfMatch != "" {
				is, err := s.Trigger(ctx, in.Trigger)
				if err == nil {
					err = in.JudgeDrop("trigger", is.Tag())
				}
				if err != nil {
					return op.Nothing{}, err
				}
			}
			return op.Nothing{}, s.dropTrigger(ctx, in.Trigger, who.By())
		})
	PauseTrigger = op.New(onTriggers(http.MethodPost, "pause", "/{trigger}/pause", auth.Manage, "Pause a trigger"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedTrigger) (op.Nothing, error) {
			return op.Nothing{}, s.pauseTrigger(ctx, in.Trigger, true, who.By())
		})
	ResumeTrigger = op.New(onTriggers(http.MethodPost, "resume", "/{trigger}/resume", auth.Manage, "Let a trigger go on"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedTrigger) (op.Nothing, error) {
			return op.Nothing{}, s.pauseTrigger(ctx, in.Trigger, false, who.By())
		})
	ListFirings = op.List(onTriggers(http.MethodGet, "firings", "/{trigger}/firings", auth.Read,
		"List what fired a trigger, newest first, and what came of it"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingFirings) ([]Firing, error) {
			return s.Firings(ctx, in.Trigger, in.Page())
		},
		func(f Firing) string { return f.Key })
)

func onTriggers(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "trigger", Verb: verb, Method: method, Path: "/triggers" + below, Right: right, Summary: summary}
}

// putTrigger checks what each firing would refuse, and writes the trigger.
func (s *Store) putTrigger(ctx context.Context, who auth.Subject, in *PuttingTrigger) (out Trigger, err error) {
	b := in.Body
	roots := runRoots
	switch {
	case (b.After == "") != b.Webhook:
		return out, problem.Refuse("after", "name the workflow whose runs it follows, or set webhook", "a trigger is fired by one of them")
	case b.Webhook && b.On != "":
		return out, problem.Refuse("on", "leave it out", "a webhook follows no run")
	case b.Webhook && s.vault == nil:
		return out, problem.New(problem.NotFound, "start the server with a secret key: secret_key_file", "this server has no key for secrets")
	case b.Webhook:
		roots = hookRoots
	default:
		b.On = cmp.Or(b.On, "done")
	}
	b.When = strings.TrimSpace(b.When)
	if string(b.Params) == "null" {
		b.Params = nil
	}
	if _, err := definition.ParseMapping(b.When, b.Params, roots...); err != nil {
		return out, err
	}
	is, err := s.Trigger(ctx, in.Trigger)
	exists := err == nil
	if !exists && problem.Explain(err).Kind != problem.NotFound {
		return out, err
	}
	tag := ""
	if exists {
		tag = is.Tag()
	}
	if err := in.Judge("trigger", tag, exists && b.same(is)); err != nil {
		return out, err
	}
	var seen time.Time
	if in.Exact() {
		seen = is.ChangedAt // another server may change it, too
	}
	if err := in.Late(s.setTrigger(ctx, in.Trigger, b, who.By(), seen)); err != nil {
		return out, err
	}
	var made TriggerSecret
	if b.Webhook && !is.sealed {
		if made, err = s.makeSecret(ctx, who.By(), in.Trigger, overlapDefault, true); err != nil {
			return out, err
		}
	}
	out, err = s.Trigger(ctx, in.Trigger)
	out.made, out.Secret = !exists, made.Secret
	return out, err
}

// same reports whether writing the definition over the present one changes nothing.
func (b *TriggerSpec) same(is Trigger) bool {
	var x, y any
	for text, into := range map[*json.RawMessage]*any{&b.Params: &x, &is.Params: &y} {
		if len(*text) > 0 && json.Unmarshal(*text, into) != nil {
			return false
		}
	}
	return b.Webhook == (is.Kind == kindWebhook) && b.Workflow == is.Workflow && b.After == is.After && b.On == is.On && b.When == is.When && b.Paused == is.Paused && reflect.DeepEqual(x, y)
}
