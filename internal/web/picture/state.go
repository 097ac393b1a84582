package picture

import (
	"cmp"
	"slices"
)

// State is what a task, an attempt or a slot is in. A word the package does
// not know is drawn as it is, in the neutral colour.
type State string

// The states of a task.
const (
	Pending   State = "pending"
	Available State = "available"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Canceled  State = "canceled"
	Skipped   State = "skipped"
)

// How an attempt ended, beside done, failed and canceled.
const (
	Retrying State = "retrying" // failed, and runs again
	Snoozed  State = "snoozed"  // asked to run later
	Expired  State = "expired"  // its worker fell silent
	Returned State = "returned" // handed back by a worker that stopped
)

// What a slot of a machine is in, beside running.
const (
	Free        State = "free"
	Draining    State = "draining"
	Quarantined State = "quarantined"
	Offline     State = "offline"
)

// States is the order in which counts of tasks are told: what needs a person first.
var States = []State{Failed, Running, Available, Pending, Done, Skipped, Canceled}

// look is how a state shows: a colour, an icon and a word, so that no one of
// them carries the meaning alone.
type look struct {
	class string // pic-… : sets --pic, the colour
	icon  string // key of icons
	word  string
}

var looks = map[State]look{
	Pending:     {"pic-pending", "clock", "pending"},
	Available:   {"pic-available", "dot", "available"},
	Running:     {"pic-running", "play", "running"},
	Done:        {"pic-done", "check", "done"},
	Failed:      {"pic-failed", "cross", "failed"},
	Canceled:    {"pic-canceled", "slash", "canceled"},
	Skipped:     {"pic-skipped", "skip", "skipped"},
	Retrying:    {"pic-failed", "again", "failed, tried again"},
	Snoozed:     {"pic-pending", "clock", "snoozed"},
	Expired:     {"pic-expired", "alarm", "expired"},
	Returned:    {"pic-canceled", "back", "handed back"},
	Free:        {"pic-free", "ring", "free"},
	Draining:    {"pic-expired", "back", "draining"},
	Quarantined: {"pic-failed", "cross", "quarantined"},
	Offline:     {"pic-canceled", "slash", "offline"},
}

func (s State) look() look {
	if l, ok := looks[s]; ok {
		return l
	}
	word := string(s)
	if word == "" {
		word = "unknown"
	}
	return look{"pic-unknown", "ring", word}
}

// rank orders states by States; unknown ones come last.
func (s State) rank() int {
	for i, k := range States {
		if k == s {
			return i
		}
	}
	return len(States)
}

// sorted lists the states that n counts, in the order of States; unknown ones by name.
func sorted(n map[State]int) []State {
	out := make([]State, 0, len(n))
	for s, k := range n {
		if k > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a, b))
	})
	return out
}
