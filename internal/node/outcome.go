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

// Outcome is how an attempt ended.
type Outcome struct {
	Lease
	Verdict string
	Result  json.RawMessage // of Done
	Error   string
	// Final: a failure that no further attempt would mend.
	Final bool
	// RetryIn is when to try again after a failure, instead of the back-off.
	RetryIn time.Duration
}
