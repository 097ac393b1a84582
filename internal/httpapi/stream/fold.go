package stream

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/timeline"
)

// becomes is the state into which a type of event leads a task.
var becomes = func() map[string]weir.State {
	states := map[string]weir.State{}
	for _, t := range weir.Transitions {
		states[t.Event] = t.Becomes
	}
	return states
}()

// foldMost bounds what a stream remembers. Beyond it, it forgets: then a state
// may be sent again, which does no harm.
const foldMost = 2048

// fold remembers the state of each task that a stream has told of, and lives.
// Nil folds nothing.
type fold struct{ states map[weir.ID]weir.State }

// drops says that the event leaves its task in the state that was last sent.
func (f *fold) drops(e *timeline.Event) bool {
	if f == nil || e.Kind != "task" || e.Task.IsZero() {
		return false
	}
	state, moves := becomes[e.Type]
	if !moves || f.states[e.Task] == state {
		return true
	}
	if state.Ended() {
		delete(f.states, e.Task)
		return false
	}
	if len(f.states) >= foldMost {
		clear(f.states)
	}
	f.states[e.Task] = state
	return false
}
