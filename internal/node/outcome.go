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

// The verdicts of an attempt.
const (
	Done     = "done"
	Failed   = "failed"
	Returned = "returned" // handed back without spending the attempt
	Canceled = "canceled" // after a user asked for it
)

// The reasons of a failure, where known.
const (
	ByTimeout          = "timeout"
	ByStartTimeout     = "start_timeout"
	ByHeartbeatTimeout = "heartbeat_timeout"
	ByRefusal          = "refused" // the request cannot be fulfilled
)

// Outcome is how an attempt ended.
type Outcome struct {
	Lease
	Verdict string
	Result  json.RawMessage // of Done
	Error   string
	// Reason is why the attempt failed, if known: ByTimeout or another of these
	// constants.
	Reason string
	// Final marks a failure that no further attempt would fix.
	Final bool
	// Infra is set if the infrastructure failed, and not the work itself. Only work on a
	// device can end so, because it has a separate budget for that.
	Infra bool
	// Harmless is set if the work could not be started, which says nothing about the
	// device.
	Harmless bool
	// Fault is what is broken on the node, if the work is Returned for that: [NoDriver] or
	// another of those constants. Begun is set if the work had begun then.
	Fault string
	Begun bool
	// Unclean is why the clean-up after work on a device failed. It does not change the
	// verdict; the device becomes suspect. Empty means that it did not fail.
	Unclean string
	// Quiet is set if the end opens no work for others, so no worker is notified. With a
	// thousand PCs, all of them would be notified for each device.
	Quiet bool
	// RetryIn is when to retry after a failure, instead of the backoff.
	RetryIn time.Duration
}
