package node

import (
	"encoding/json"
	"time"
)

// Note is an event in the timeline of a leased task. Progress has the type
// "progress" and the data {"percent": 40}.
type Note struct {
	Lease
	Type, Message, Level string
	Data                 json.RawMessage
}

// How an attempt can end.
const (
	Done     = "done"
	Failed   = "failed"
	Returned = "returned" // handed back without spending the attempt
	Canceled = "canceled" // after somebody asked for it
)

// What an attempt can fail by, where that is known.
const (
	ByTimeout          = "timeout"
	ByStartTimeout     = "start_timeout"
	ByHeartbeatTimeout = "heartbeat_timeout"
	ByRefusal          = "refused" // what was asked cannot be done
)

// Outcome is how an attempt ended.
type Outcome struct {
	Lease
	Verdict string
	Result  json.RawMessage // of Done
	Error   string
	// Reason is what a failure was by, if that is known: ByTimeout and its kin.
	Reason string
	// Final: a failure that no further attempt would mend.
	Final bool
	// Infra: what the work ran on failed, and not the work itself. Only work on a
	// device can end so: it has a budget of its own for that.
	Infra bool
	// Harmless: it could not be begun, which says nothing about the device.
	Harmless bool
	// Quiet: its end lets no work of others through, so nobody is woken for it. With a
	// thousand PCs, all of them would be for each device.
	Quiet bool
	// RetryIn is when to try again after a failure, instead of the back-off.
	RetryIn time.Duration
}
