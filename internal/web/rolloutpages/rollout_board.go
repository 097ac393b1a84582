package rolloutpages

import (
	"cmp"
	"context"
	"slices"

	"github.com/a-h/templ"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/site"
)

const (
	// cardsMost is how many tasks of a stage are cards, cardsAll how many a board
	// has. A stage shows cardsFew however many there are.
	cardsMost, cardsAll, cardsFew = 60, 600, 5
	// blockersMost is how many tasks that others wait for a page looks up.
	blockersMost = 200
)

// boardStage is a column of the board.
type boardStage struct {
	rollout.StageState
	cards []rollout.Task
	// rest counts, by status, the tasks that have no card.
	rest []site.Share
}

// more is how many tasks have no card.
func (s boardStage) more() (n int) {
	for _, p := range s.rest {
		n += p.N
	}
	return n
}

// cardsEach is how many cards each of so many stages may have.
func cardsEach(stages int) int {
	return max(cardsFew, min(cardsMost, cardsAll/max(stages, 1)))
}

func (w *pages) rolloutBoard(r *site.Request, v rolloutView) (templ.Component, error) {
	tasks, err := w.Rollouts.Board(r.Context(), v.ID, cardsEach(len(v.Stages)))
	if err != nil {
		return nil, err
	}
	names, err := w.blockers(r.Context(), tasks)
	if err != nil {
		return nil, err
	}
	return rolloutBoardTab(v, board(v.Stages, tasks), names), nil
}

// board puts tasks into the columns of their stages. A stage of which all are there
// has them in the order of statuses, and of the plan within one. Of a large one there
// are those that matter most, in that order, and the rest is counted.
func board(stages []rollout.StageState, tasks []rollout.Task) []boardStage {
	at := map[string]int{}
	out := make([]boardStage, len(stages))
	for i, s := range stages {
		at[s.Name], out[i].StageState = i, s
	}
	for _, t := range tasks {
		if i, ok := at[t.Stage]; ok {
			out[i].cards = append(out[i].cards, t)
		}
	}
	for i := range out {
		s := &out[i]
		if len(s.cards) < s.Counts.Total {
			s.rest = without(s.Counts, s.cards)
			continue
		}
		slices.SortStableFunc(s.cards, func(a, b rollout.Task) int { return cmp.Compare(statusRank(a.Status), statusRank(b.Status)) })
	}
	return out
}

func statusRank(status string) int { return slices.Index(rollout.Statuses, status) }

// without is what is left of counts without some tasks. The counts may be older than
// the tasks, so none is below zero.
func without(c rollout.Counts, tasks []rollout.Task) (out []site.Share) {
	shown := map[string]int{}
	for _, t := range tasks {
		shown[t.Status]++
	}
	for _, p := range byStatus(c) {
		if p.N -= shown[p.Status]; p.N > 0 {
			out = append(out, p)
		}
	}
	return out
}

// blockers are the tasks that others wait for, by id, as far as a page needs them.
func (w *pages) blockers(ctx context.Context, tasks []rollout.Task) (map[weir.ID]rollout.Task, error) {
	out := make(map[weir.ID]rollout.Task, len(tasks))
	for _, t := range tasks {
		out[t.ID] = t
	}
	var ask []weir.ID
	for _, t := range tasks {
		_, known := out[t.Blocker]
		if !known && !t.Blocker.IsZero() && t.Status == rollout.Pending && !slices.Contains(ask, t.Blocker) && len(ask) < blockersMost {
			ask = append(ask, t.Blocker)
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	// What is left out is a task of no rollout, or one that ended meanwhile.
	found, err := w.Rollouts.TasksByID(ctx, ask)
	for _, t := range found {
		out[t.ID] = t
	}
	return out, err
}

// tasksOfRollout is a list of the tasks of a rollout.
type tasksOfRollout struct {
	rows          []rollout.Task
	filter        rollout.TaskFilter
	stages        []string
	names         map[weir.ID]rollout.Task
	newest, older string
}

func (w *pages) rolloutTasks(r *site.Request, v rolloutView) (templ.Component, error) {
	status, err := r.OneOf("status", rollout.Statuses)
	if err != nil {
		return nil, err
	}
	list := tasksOfRollout{filter: rollout.TaskFilter{Status: status, Stage: r.Query("stage"), Database: r.Query("database")}}
	for _, s := range v.Stages {
		list.stages = append(list.stages, s.Name)
	}
	rows, err := w.Rollouts.TaskPage(r.Context(), v.ID, list.filter, site.NamesPage(r))
	if err != nil {
		return nil, err
	}
	list.rows, list.newest, list.older = site.NamesPaged(r, rows, func(t rollout.Task) string { return t.ID.String() })
	if list.names, err = w.blockers(r.Context(), list.rows); err != nil {
		return nil, err
	}
	return rolloutTasksTab(v, list), nil
}
