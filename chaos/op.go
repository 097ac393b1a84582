package chaos

import (
	"fmt"
	"math"
	"time"
)

// Outcome is how a call ended, as its client saw it.
type Outcome string

// Unknown is not a failure: the call may have taken effect.
const (
	OK      Outcome = "ok"
	Fail    Outcome = "fail"
	Unknown Outcome = "unknown"
)

// Never is the return time of a call whose answer did not come.
const Never = math.MaxInt64

// Item is one task in a call: a lease, or a task that is submitted.
type Item struct {
	Task    string `json:"task,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Token   string `json:"token,omitempty"`
	// Key is the idempotency key of a submission.
	Key string `json:"key,omitempty"`
	// Value is the answer for this task: ok, repeated, lease_lost, …
	Value string `json:"value,omitempty"`
}

// Call is a request of a client.
type Call struct {
	Op string `json:"op"`
	// Key is the claim_id of a claim.
	Key   string        `json:"key,omitempty"`
	Lease time.Duration `json:"lease,omitempty"`
	Items []Item        `json:"items,omitempty"`
}

// Reply is its answer.
type Reply struct {
	Out   Outcome `json:"out"`
	Err   string  `json:"err,omitempty"`
	Items []Item  `json:"items,omitempty"`
}

// Log records the calls of one client. Begin returns when the call may be made.
type Log interface {
	Begin(Call) int
	End(int, Reply)
}

// Op is one task of one call: a line of the history. Lines of the same call
// share N.
type Op struct {
	N       int           `json:"n"`
	Client  string        `json:"client"`
	Op      string        `json:"op"`
	Task    string        `json:"task,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Token   string        `json:"token,omitempty"`
	Key     string        `json:"key,omitempty"`
	Lease   time.Duration `json:"lease,omitempty"`
	Call    int64         `json:"call_ns"`
	Return  int64         `json:"return_ns"`
	Out     Outcome       `json:"out"`
	Value   string        `json:"value,omitempty"`
	Err     string        `json:"err,omitempty"`
}

// accepted reports whether the engine accepted this write.
func (o Op) accepted() bool { return o.Out == OK && (o.Value == "ok" || o.Value == "cancel") }

// lease returns the attempt that an op is about.
func (o Op) lease() lease { return lease{o.Task, o.Attempt} }

type lease struct {
	task    string
	attempt int
}

func (o Op) describe(zero int64) string {
	end := "never"
	if o.Return != Never {
		end = ms(o.Return - zero)
	}
	text := fmt.Sprintf("[%s … %s] %s %s", ms(o.Call-zero), end, o.Client, o.Op)
	if o.Attempt > 0 {
		text += fmt.Sprintf(" #%d", o.Attempt)
	}
	if o.Token != "" {
		text += " token " + short(o.Token)
	}
	text += " → " + string(o.Out)
	if o.Value != "" {
		text += " " + o.Value
	}
	if o.Err != "" {
		text += " (" + o.Err + ")"
	}
	return text
}

func ms(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) }

// short returns enough of an id to find it again: its end, because a UUIDv7 begins with
// the time.
func short(id string) string { return id[max(0, len(id)-8):] }
