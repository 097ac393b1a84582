package stream

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/timeline"
)

// becomes maps a type of event to the state into which it leads a task.
var becomes = func() map[string]weir.State {
	states := map[string]weir.State{}
	for _, t := range weir.Transitions {
		states[t.Event] = t.Becomes
	}
	return states
}()

// foldMost limits what a stream remembers. Beyond it the stream forgets: then a state may
// be sent again, which does no harm.
const foldMost = 2048

// fold remembers the last sent state of each live task of a stream. A nil fold drops
// nothing.
type fold struct{ states map[weir.ID]weir.State }

// drops reports whether the event leaves its task in the state that was last sent.
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
