package picture

import (
	"cmp"
	"slices"

	"github.com/weirhq/weir/internal/locale"
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
	Draining State = "draining"
	Offline  State = "offline"
)

// What a device is in, beside offline and what runs on it.
const (
	Free        State = "free"
	Reserved    State = "reserved"
	Quarantined State = "quarantined"
	Maintenance State = "maintenance"
	Retired     State = "retired"
)

// States is the order in which counts of tasks are told: what needs a person first.
var States = []State{Failed, Running, Available, Pending, Done, Skipped, Canceled}

// look is how a state shows beside its word: a colour and an icon, so that no one of
// the three carries the meaning alone.
type look struct {
	class string // pic-… : sets --pic, the colour
	icon  string // key of icons
}

var looks = map[State]look{
	Pending:   {"pic-pending", "clock"},
	Available: {"pic-available", "dot"},
	Running:   {"pic-running", "play"},
	Done:      {"pic-done", "check"},
	Failed:    {"pic-failed", "cross"},
	Canceled:  {"pic-canceled", "slash"},
	Skipped:   {"pic-skipped", "skip"},
	Retrying:  {"pic-failed", "again"},
	Snoozed:   {"pic-pending", "clock"},
	Expired:   {"pic-expired", "alarm"},
	Returned:  {"pic-canceled", "back"},
	Draining:  {"pic-expired", "back"},
	Offline:   {"pic-canceled", "slash"},

	Free:        {"pic-available", "dot"},
	Reserved:    {"pic-pending", "clock"},
	Quarantined: {"pic-failed", "cross"},
	Maintenance: {"pic-pending", "clock"},
	Retired:     {"pic-canceled", "slash"},
}

func (s State) look() look {
	if l, ok := looks[s]; ok {
		return l
	}
	return look{"pic-unknown", "ring"}
}

// word is what people call the state: one of a task, of a step, or of a drawing alone.
func (s State) word(lang *locale.Words) string {
	if s == "" {
		return lang.Say("drawn.unknown")
	}
	for _, prefix := range []string{"drawn.", "is.", "step."} {
		if lang.Has(prefix + string(s)) {
			return lang.Say(prefix + string(s))
		}
	}
	return string(s)
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
