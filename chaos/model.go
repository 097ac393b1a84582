package chaos

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// phase is a task's state as far as a client can distinguish it: layer 1 checks gates.
type phase uint8

const (
	absent phase = iota
	queued
	running
	ended
)

// taskState is one task in the model. It is comparable, as porcupine requires.
type taskState struct {
	phase   phase
	attempt int
	token   string
	outcome string
	// failed has a bit for every attempt that a client ended as failed.
	failed uint64
}

func (s taskState) holds(o Op) bool {
	return s.phase == running && s.attempt == o.Attempt && s.token == o.Token
}

func (s taskState) endedAs(outcome string) taskState {
	s.phase, s.outcome, s.token = ended, outcome, ""
	return s
}

func (s taskState) backInQueue() taskState {
	s.phase, s.token = queued, ""
	return s
}

// taskModel is a task that moves step by step. A step returns every state that the answer
// leaves possible, or none if the answer is impossible.
var taskModel = (&porcupine.NondeterministicModel{
	Init:  func() []any { return []any{taskState{}} },
	Step:  func(state, input, _ any) []any { return step(state.(taskState), input.(Op)) },
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

func step(s taskState, o Op) []any {
	effect, legal := apply(s, o)
	switch {
	case o.Out == Unknown && legal:
		return append(states(effect), s) // it happened, or it did not
	case o.Out == Unknown, o.Out == Fail:
		return []any{s}
	case legal:
		return states(effect)
	default:
		return nil
	}
}

func states(list []taskState) []any {
	out := make([]any, 0, len(list)+1)
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// apply returns what a call does to a task, and whether its answer is legal there. A
// refusal that should have been an acceptance is as illegal as the reverse. A call
// without an answer is tried as if it had been accepted.
func apply(s taskState, o Op) ([]taskState, bool) {
	if o.Out == Unknown {
		o.Value = "ok"
	}
	one := func(next taskState, legal bool) ([]taskState, bool) { return []taskState{next}, legal }
	switch o.Op {
	case "submit":
		if o.Value == "existed" {
			return one(s, s.phase != absent)
		}
		return one(taskState{phase: queued}, s.phase == absent)
	case "claim":
		next := taskState{phase: running, attempt: s.attempt + 1, token: o.Token, failed: s.failed}
		return one(next, s.phase == queued && (o.Attempt == 0 || o.Attempt == s.attempt+1))
	case "renew":
		return one(s, s.holds(o) == (o.Value != "lease_lost"))
	case "finish", "fail", "confirm_cancel":
		return report(s, o)
	case "cancel":
		if o.Value == "requested" {
			return one(s, s.phase == running)
		}
		already := s.phase == ended && s.outcome == "canceled"
		if o.Out == Unknown && s.phase == running {
			return one(s, true)
		}
		return one(s.endedAs("canceled"), s.phase == queued || already)
	case "read":
		return one(s, o.Value == s.read())
	case "expired", "retrying", "returned":
		return one(s.backInQueue(), s.phase == running && s.attempt == o.Attempt)
	case "retried":
		return one(s.backInQueue(), s.phase == ended && s.outcome != "done")
	case "skipped":
		return one(s.endedAs("skipped"), s.phase == queued)
	default: // a terminal event of the timeline
		return one(s.endedAs(o.Op), s.phase == running && s.attempt == o.Attempt)
	}
}

// report is a worker's report about the end of its attempt.
func report(s taskState, o Op) ([]taskState, bool) {
	mask := uint64(1) << (o.Attempt & 63)
	switch {
	case o.Value == "lease_lost":
		return []taskState{s}, !s.holds(o)
	case o.Value == "repeated" && o.Op == "finish":
		return []taskState{s}, s.phase == ended && s.outcome == "done" && s.attempt == o.Attempt
	case o.Value == "repeated" && o.Op == "fail":
		return []taskState{s}, s.failed&mask != 0 || s.phase == ended && s.outcome == "failed" && s.attempt == o.Attempt
	case o.Value == "repeated":
		return []taskState{s}, s.phase == ended && s.outcome == "canceled"
	case o.Value != "ok":
		return []taskState{s}, s.phase == absent
	case o.Op == "finish":
		return []taskState{s.endedAs("done")}, s.holds(o)
	case o.Op == "confirm_cancel":
		return []taskState{s.endedAs("canceled")}, s.holds(o)
	default:
		s.failed |= mask
		// The model does not know whether attempts are left, or whether cancellation was
		// requested.
		return []taskState{s.backInQueue(), s.endedAs("failed"), s.endedAs("canceled")}, s.phase == running && s.attempt == o.Attempt && s.token == o.Token
	}
}

// read returns what [Client.Read] would answer; a queue has two names.
func (s taskState) read() string {
	switch s.phase {
	case absent:
		return "none"
	case queued:
		return fmt.Sprintf("queued %d", s.attempt)
	case running:
		return fmt.Sprintf("running %d", s.attempt)
	default:
		return fmt.Sprintf("%s %d", s.outcome, s.attempt)
	}
}
