package workpages

import (
	"context"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

// foldFrom is how many items of a map on one page become one line.
const foldFrom = 6

// fold is the items of one map on a page of a list.
type fold struct {
	key string
	// first is the item in whose place the line stands.
	first  weir.ID
	n      int
	states map[string]int
}

// words tells how the items are, what needs a person first.
func (f *fold) words(ctx context.Context) string {
	var parts []string
	for _, state := range []string{"failed", "running", "available", "pending", "done", "skipped", "canceled"} {
		if n := f.states[state]; n > 0 {
			parts = append(parts, ui.Number(n)+" "+ui.Say(ctx, "is."+state))
		}
	}
	return strings.Join(parts, ", ")
}

// ended is how many of them have ended.
func (f *fold) ended() int {
	n := 0
	for state, count := range f.states {
		if weir.State(state).Ended() {
			n += count
		}
	}
	return n
}

// folds finds maps with many items among the tasks of a page. Shown is the one
// whose items are wanted, or all.
func folds(tasks []view.Task, shown string) map[string]*fold {
	out := map[string]*fold{}
	for _, t := range tasks {
		key := stem(t.Key)
		if key == t.Key || key == shown || shown == "all" {
			continue
		}
		f := out[key]
		if f == nil {
			f = &fold{key: key, first: t.ID, states: map[string]int{}}
			out[key] = f
		}
		f.n++
		f.states[string(t.State)]++
	}
	for key, f := range out {
		if f.n < foldFrom {
			delete(out, key)
		}
	}
	return out
}

// fold is the line that stands for a task, if it is the first of its items;
// hidden says that another has the line.
func (v tasksView) fold(t view.Task) (line *fold, hidden bool) {
	f := v.folded[stem(t.Key)]
	switch {
	case f == nil || stem(t.Key) == t.Key:
		return nil, false
	case f.first == t.ID:
		return f, false
	}
	return nil, true
}
