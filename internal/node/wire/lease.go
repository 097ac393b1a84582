package wire

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pgtext"
)

// Fence is the header that carries the token of a lease if the body is the object itself.
const Fence = "Weir-Fence"

// Most is how many leases, notes or outcomes one request may contain.
const Most = 1000

// Lease names an attempt and proves that the caller holds it.
type Lease struct {
	Task    weir.ID `json:"task"`
	Attempt int     `json:"attempt" minimum:"1" maximum:"32767"`
	Token   string  `json:"token" minLength:"1" maxLength:"64"`
}

// LeaseOf converts a lease for sending.
func LeaseOf(l node.Lease) Lease { return Lease{l.Task, l.Attempt, l.Token} }

// Node converts the lease for the server.
func (l Lease) Node() node.Lease { return node.Lease{Task: l.Task, Attempt: l.Attempt, Token: l.Token} }

// Leases is a list of leases.
type Leases struct {
	Leases []Lease `json:"leases" maxItems:"1000"`
}

// Renewal extends leases.
type Renewal struct {
	Leases
	LeaseMS int64 `json:"lease_ms,omitempty" minimum:"0" maximum:"90000000" doc:"How long they last from now on."`
}

// RenewalOf converts a renewal for sending.
func RenewalOf(leases []node.Lease, length time.Duration) Renewal {
	return Renewal{LeasesOf(leases), downward(length)}
}

// Length returns how long the leases should last.
func (r Renewal) Length() time.Duration { return span(r.LeaseMS) }

// LeasesOf converts leases for sending.
func LeasesOf(leases []node.Lease) Leases { return Leases{each(leases, LeaseOf)} }

// Node converts the leases for the server.
func (l Leases) Node() []node.Lease { return each(l.Leases, Lease.Node) }

// Refused says that a lease is lost or unknown, or that its task should stop.
type Refused struct {
	Task    weir.ID `json:"task"`
	Attempt int     `json:"attempt"`
	Refusal string  `json:"refusal" doc:"lease_lost, unknown, repeated or cancel."`
}

// Refusals are those of one request. An empty list means that everything was accepted.
type Refusals struct {
	Refusals []Refused `json:"refusals"`
}

// RefusalsOf converts refusals for sending.
func RefusalsOf(refusals []node.Refusal) Refusals {
	return Refusals{each(refusals, func(r node.Refusal) Refused { return Refused(r) })}
}

// Node converts the refusals for the agent.
func (r Refusals) Node() []node.Refusal {
	return each(r.Refusals, func(r Refused) node.Refusal { return node.Refusal(r) })
}

// Note is an event that a task writes about itself.
type Note struct {
	Lease
	Type    string `json:"type" maxLength:"100"`
	Message string `json:"message,omitempty"`
	Level   string `json:"level,omitempty" maxLength:"10"`
	Data    string `json:"data,omitempty" doc:"JSON as text: nobody on the way looks into it."`
}

// Notes is a list of notes.
type Notes struct {
	Notes []Note `json:"notes" maxItems:"1000"`
}

// NotesOf converts notes for sending.
func NotesOf(notes []node.Note) Notes {
	return Notes{each(notes, func(n node.Note) Note {
		return Note{LeaseOf(n.Lease), n.Type, pgtext.Text(n.Message), n.Level, string(n.Data)}
	})}
}

// Node converts the notes for the server.
func (n Notes) Node() []node.Note {
	return each(n.Notes, func(n Note) node.Note {
		return node.Note{Lease: n.Lease.Node(), Type: n.Type, Message: n.Message, Level: n.Level, Data: raw(n.Data)}
	})
}

// Outcome is how an attempt ended.
type Outcome struct {
	Lease
	Verdict   string `json:"verdict" enum:"done,failed,returned,canceled"`
	Result    string `json:"result,omitempty" doc:"JSON as text: a result that cannot be kept fails its task, not the request."`
	Error     string `json:"error,omitempty"`
	Reason    string `json:"reason,omitempty" enum:"timeout,start_timeout,heartbeat_timeout,refused" doc:"What a failure was by, if that is known."`
	Final     bool   `json:"final,omitempty" doc:"No further attempt."`
	RetryInMS int64  `json:"retry_in_ms,omitempty" minimum:"0" doc:"When the next attempt begins, instead of the back-off."`
	Infra     bool   `json:"infra,omitempty" doc:"The device or its connection failed, and not the work."`
	Harmless  bool   `json:"harmless,omitempty" doc:"It could not be begun, which says nothing about the device."`
	Fault     string `json:"fault,omitempty" enum:"no_driver,engine_away,disk_full,folder_gone,no_memory" doc:"What is broken on the node, if the task is returned for that."`
	Begun     bool   `json:"begun,omitempty" doc:"The work had begun when its node broke."`
	Unclean   string `json:"unclean,omitempty" doc:"Why the clean-up after the work failed; the device becomes suspect."`
	Quiet     bool   `json:"quiet,omitempty" doc:"Its end lets no work of others through: wake nobody."`
}

// Outcomes is a list of outcomes.
type Outcomes struct {
	Outcomes []Outcome `json:"outcomes" maxItems:"1000"`
}

// OutcomesOf converts outcomes for sending.
func OutcomesOf(outcomes []node.Outcome) Outcomes {
	return Outcomes{each(outcomes, func(o node.Outcome) Outcome {
		return Outcome{LeaseOf(o.Lease), o.Verdict, string(o.Result), pgtext.Text(o.Error), o.Reason, o.Final, upward(o.RetryIn), o.Infra, o.Harmless, o.Fault, o.Begun, pgtext.Text(o.Unclean), o.Quiet}
	})}
}

// Node converts the outcomes for the server.
func (o Outcomes) Node() []node.Outcome {
	return each(o.Outcomes, func(o Outcome) node.Outcome {
		return node.Outcome{Lease: o.Lease.Node(), Verdict: o.Verdict, Result: raw(o.Result), Error: o.Error, Reason: o.Reason, Final: o.Final, RetryIn: span(o.RetryInMS), Infra: o.Infra, Harmless: o.Harmless, Fault: o.Fault, Begun: o.Begun, Unclean: o.Unclean, Quiet: o.Quiet}
	})
}

// raw returns JSON that was sent as text. The database refuses invalid JSON.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// each converts a list. The result is never nil, so that it is sent as a list.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// span converts milliseconds to a duration.
func span(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// upward rounds up, so that a wait is never sent as shorter than it is.
func upward(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// downward rounds down, so that a lease is never sent as longer than it is. A fraction of
// a millisecond becomes one millisecond, because zero means no end.
func downward(d time.Duration) int64 {
	if d > 0 {
		return max(d.Milliseconds(), 1)
	}
	return 0
}
