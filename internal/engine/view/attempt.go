package view

import (
	"context"
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
)

// Attempt is one lease of a task, from its claim to its end.
type Attempt struct {
	Number    int       `json:"number"`
	Worker    string    `json:"worker,omitempty"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Outcome is the event that ended it: done, failed, canceled, retrying, snoozed,
	// expired or returned; running while none did.
	Outcome string `json:"outcome"`
	// Cause is why, where it is not done.
	Cause string `json:"cause,omitempty"`
	// Reason is what it failed by, for programs: timeout, start_timeout,
	// heartbeat_timeout, infrastructure, lost or refused. Empty: by itself.
	Reason string `json:"reason,omitempty"`
}

// Attempts lists the attempts of a task, oldest first, as its events tell them.
func (s *Store) Attempts(ctx context.Context, task weir.ID) ([]Attempt, error) {
	events, err := s.TaskEvents(ctx, task)
	if err != nil {
		return nil, err
	}
	return AttemptsOf(events), nil
}

// AttemptsOf folds the events of a task into its attempts. A claim begins an attempt, the next event
// that leads out of running ends it. Where the claim is no longer kept, what ended
// the attempt may say when it began.
func AttemptsOf(events []Event) []Attempt {
	out := []Attempt{}
	open := false
	for _, e := range events {
		switch e.Type {
		case "claimed":
			out = append(out, Attempt{Number: e.Attempt, Worker: e.Worker, StartedAt: e.At, Outcome: "running"})
			open = true
		case "done", "failed", "canceled", "retrying", "snoozed", "expired", "returned":
			said := endOf(e)
			if !open {
				if said.ClaimedAt == nil {
					continue // canceled before it ran
				}
				out = append(out, Attempt{Number: e.Attempt, Worker: e.Worker, StartedAt: *said.ClaimedAt})
			}
			last := &out[len(out)-1]
			last.EndedAt, last.Outcome, last.Cause, last.Reason = e.At, e.Type, e.Message, said.Reason
			open = false
		}
	}
	return out
}

// attemptEnd is what an event that ended an attempt says besides.
type attemptEnd struct {
	// ClaimedAt is when the lease began, if the event says so.
	ClaimedAt *time.Time `json:"claimed_at"`
	Reason    string     `json:"reason"`
}

func endOf(e Event) (end attemptEnd) {
	if json.Unmarshal(e.Data, &end) != nil {
		return attemptEnd{}
	}
	return end
}
