package wire

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pgtext"
)

// Fence is the header that carries the token of a lease where the body is the
// object itself.
const Fence = "Weir-Fence"

// Most is how many leases, notes or outcomes one request may hold.
const Most = 1000

// Lease names an attempt and proves that it is one's own.
type Lease struct {
	Task    weir.ID `json:"task"`
	Attempt int     `json:"attempt" minimum:"1" maximum:"32767"`
	Token   string  `json:"token" minLength:"1" maxLength:"64"`
}

// LeaseOf is a lease as it is sent.
func LeaseOf(l node.Lease) Lease { return Lease{l.Task, l.Attempt, l.Token} }

// Node is the lease as the server knows it.
func (l Lease) Node() node.Lease { return node.Lease{Task: l.Task, Attempt: l.Attempt, Token: l.Token} }

// Leases are several.
type Leases struct {
	Leases []Lease `json:"leases" maxItems:"1000"`
}

// Renewal prolongs leases.
type Renewal struct {
	Leases
	LeaseMS int64 `json:"lease_ms,omitempty" minimum:"0" maximum:"3600000" doc:"How long they last from now on."`
}

// RenewalOf is it as it is sent.
func RenewalOf(leases []node.Lease, length time.Duration) Renewal {
	return Renewal{LeasesOf(leases), downward(length)}
}

// Length is how long the leases shall last.
func (r Renewal) Length() time.Duration { return span(r.LeaseMS) }

// LeasesOf are leases as they are sent.
func LeasesOf(leases []node.Lease) Leases { return Leases{each(leases, LeaseOf)} }

// Node are the leases as the server knows them.
func (l Leases) Node() []node.Lease { return each(l.Leases, Lease.Node) }

// Refused says that a lease is lost, unknown, or that its task shall stop.
type Refused struct {
	Task    weir.ID `json:"task"`
	Attempt int     `json:"attempt"`
	Refusal string  `json:"refusal" doc:"lease_lost, unknown, repeated or cancel."`
}

// Refusals are those of one request. None: all was taken.
type Refusals struct {
	Refusals []Refused `json:"refusals"`
}

// RefusalsOf are refusals as they are sent.
func RefusalsOf(refusals []node.Refusal) Refusals {
	return Refusals{each(refusals, func(r node.Refusal) Refused { return Refused(r) })}
}

// Node are the refusals as the agent knows them.
func (r Refusals) Node() []node.Refusal {
	return each(r.Refusals, func(r Refused) node.Refusal { return node.Refusal(r) })
}

// Note is an event that a task writes of itself.
type Note struct {
	Lease
	Type    string `json:"type" maxLength:"100"`
	Message string `json:"message,omitempty"`
	Level   string `json:"level,omitempty" maxLength:"10"`
	Data    string `json:"data,omitempty" doc:"JSON as text: nobody on the way looks into it."`
}

// Notes are several.
type Notes struct {
	Notes []Note `json:"notes" maxItems:"1000"`
}

// NotesOf are notes as they are sent.
func NotesOf(notes []node.Note) Notes {
	return Notes{each(notes, func(n node.Note) Note {
		return Note{LeaseOf(n.Lease), n.Type, pgtext.Text(n.Message), n.Level, string(n.Data)}
	})}
}

// Node are the notes as the server knows them.
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
	Quiet     bool   `json:"quiet,omitempty" doc:"Its end lets no work of others through: wake nobody."`
}

// Outcomes are several.
type Outcomes struct {
	Outcomes []Outcome `json:"outcomes" maxItems:"1000"`
}

// OutcomesOf are outcomes as they are sent.
func OutcomesOf(outcomes []node.Outcome) Outcomes {
	return Outcomes{each(outcomes, func(o node.Outcome) Outcome {
		return Outcome{LeaseOf(o.Lease), o.Verdict, string(o.Result), pgtext.Text(o.Error), o.Reason, o.Final, upward(o.RetryIn), o.Infra, o.Harmless, o.Quiet}
	})}
}

// Node are the outcomes as the server knows them.
func (o Outcomes) Node() []node.Outcome {
	return each(o.Outcomes, func(o Outcome) node.Outcome {
		return node.Outcome{Lease: o.Lease.Node(), Verdict: o.Verdict, Result: raw(o.Result), Error: o.Error, Reason: o.Reason, Final: o.Final, RetryIn: span(o.RetryInMS), Infra: o.Infra, Harmless: o.Harmless, Quiet: o.Quiet}
	})
}

// raw is JSON that came as text. What is none is for the database to refuse.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// each turns one list into another. It is never nil, so that it is sent as one.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// span is a number of milliseconds as a duration.
func span(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// upward rounds up: a wait that is told is never shorter than it is.
func upward(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// downward rounds down: a lease is never longer than it is. What is left of a
// millisecond is still something, where zero says that there is no end.
func downward(d time.Duration) int64 {
	if d > 0 {
		return max(d.Milliseconds(), 1)
	}
	return 0
}
