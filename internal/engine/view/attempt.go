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
			if !open {
				began, ok := claimedAt(e)
				if !ok {
					continue // canceled before it ran
				}
				out = append(out, Attempt{Number: e.Attempt, Worker: e.Worker, StartedAt: began})
			}
			last := &out[len(out)-1]
			last.EndedAt, last.Outcome, last.Cause = e.At, e.Type, e.Message
			open = false
		}
	}
	return out
}

// claimedAt is when the lease that the event ended began, if it says so.
func claimedAt(e Event) (at time.Time, ok bool) {
	var data struct {
		ClaimedAt *time.Time `json:"claimed_at"`
	}
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil || data.ClaimedAt == nil {
		return time.Time{}, false
	}
	return *data.ClaimedAt, true
}
