package bulk

import (
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// What can be done.
const (
	Cancel   = "cancel"
	Retry    = "retry"
	Skip     = "skip"
	Hold     = "hold"
	Release  = "release"
	Priority = "priority"
)

// TaskActions and JobActions are what can be done to each.
var (
	TaskActions = []string{Cancel, Retry, Skip, Hold, Release, Priority}
	JobActions  = []string{Cancel, Retry}
)

const (
	// LimitMost is how many things one call may change.
	LimitMost = 1000
	// usual is how many it changes if nobody says.
	usual = 500
	// within is how long one call goes on taking further things.
	within = 10 * time.Second
	// shown is how many things a look shows.
	shown = 5
)

// Order is what to do to all of them.
type Order struct {
	Action string
	weir.Decision
	// Priority is the new one, for that action.
	Priority int
	// Limit is how many at most, up to [LimitMost]. Zero: 500.
	Limit int
	// After is the Next of the call before.
	After string
	// DryRun counts and shows some, and changes nothing.
	DryRun bool
}

// Result is what became of it.
type Result struct {
	// Matched is how many things were found: by this call, or by a look up to
	// [view.CountMost].
	Matched int `json:"matched" doc:"How many were found by this call; with dry_run, all of them up to 10,000."`
	// Changed is how many changed. Moved are those that had got into another state
	// by themselves before it was their turn.
	Changed int `json:"changed"`
	Moved   int `json:"moved" doc:"Those that had got into another state by themselves before it was their turn."`
	// Refused are those that stayed as they are, and why.
	Refused []Refusal `json:"refused" doc:"Those that stayed as they are."`
	// Sample shows some of those that a look found.
	Sample []Item `json:"sample,omitempty" doc:"With dry_run: some of them."`
	// Next is where to go on, empty if that was all. After a look it only says that
	// there may be more than were counted.
	Next string `json:"next,omitempty"`
}

// Refusal is a thing that did not change.
type Refusal struct {
	ID  weir.ID `json:"id"`
	Why string  `json:"why"`
}

// Item is a thing in a few words.
type Item struct {
	ID    weir.ID `json:"id"`
	Name  string  `json:"name"`
	State string  `json:"state"`
}

// check refuses an order that cannot be meant.
func (o *Order) check(actions []string, empty bool) error {
	switch {
	case !slices.Contains(actions, o.Action):
		return problem.Refuse("action", "choose one of "+strings.Join(actions, ", "), "%q is none", o.Action)
	case empty:
		return problem.Refuse("filter", "say which are meant, such as those in a state: state=failed", "is empty: all there are would be meant")
	case o.Action == Skip && strings.TrimSpace(o.Reason) == "" && !o.DryRun:
		return problem.Refuse("reason", "it goes to the timeline", "say why they need not run")
	case o.Action == Priority && (o.Priority < -100 || o.Priority > 100):
		return problem.Refuse("priority", "give a number from -100 to 100", "%d is outside", o.Priority)
	}
	if o.Limit <= 0 {
		o.Limit = usual
	}
	o.Limit = min(o.Limit, LimitMost)
	return nil
}

func taskItem(t view.Task) Item {
	name := t.Key
	if name == "" {
		name = t.Service
	}
	return Item{t.ID, name, string(t.State)}
}

func jobItem(j view.Job) Item {
	name := j.Name
	if name == "" {
		name = j.Kind
	}
	return Item{j.ID, name, j.State}
}
