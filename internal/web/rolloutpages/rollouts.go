package rolloutpages

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *pages) rolls() (*rollout.Store, error) {
	if w.Rollouts == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no rollouts")
	}
	return w.Rollouts, nil
}

// rolloutRights are what the reader may do with rollouts.
type rolloutRights struct{ submit, command, override bool }

func rolloutRightsOf(r *site.Request) rolloutRights {
	return rolloutRights{r.Can(auth.Submit, "rollout"), r.Can(auth.Command, "rollout"), r.Can(auth.Override, "rollout")}
}

// rolloutsView is a list of rollouts, each with its stages.
type rolloutsView struct {
	rows          []rollout.Rollout
	filter        rollout.Filter
	submit        bool
	newest, older string
}

func (v rolloutsView) filtered() bool { return v.filter != rollout.Filter{} }

func (w *pages) rollouts(r *site.Request) (site.View, error) {
	ctx := r.Context()
	submit := r.Can(auth.Submit, "rollout") && w.Rollouts != nil
	head := ui.Head{Title: ui.Say(ctx, "rollouts.title"), Actions: rolloutsActs(submit)}
	if w.Rollouts == nil {
		return site.View{Head: head, Body: ui.Empty("rollout", ui.Say(ctx, "rollouts.off"), ui.Say(ctx, "rollouts.off.text")), Still: true}, nil
	}
	state, err := r.OneOf("state", rollout.States)
	if err != nil {
		return site.View{}, err
	}
	v := rolloutsView{submit: submit, filter: rollout.Filter{State: state, Search: r.Query("search"), Database: r.Query("database")}}
	rows, err := w.Rollouts.Rollouts(ctx, v.filter, site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(x rollout.Rollout) string { return x.ID.String() })
	if err := w.staged(ctx, v.rows); err != nil {
		return site.View{}, err
	}
	return site.View{Head: head, Body: rolloutsPage(v), Follow: rolloutEvents(v.rows)}, nil
}

// rolloutEvents are those that change a list of rollouts.
func rolloutEvents(rows []rollout.Rollout) *timeline.Filter {
	shown := map[weir.ID]bool{}
	for _, x := range rows {
		shown[x.ID] = true
	}
	return &timeline.Filter{Match: func(e *timeline.Event) bool { return e.Kind == "rollout" || shown[e.Job] }}
}

// staged reads the stages of the rollouts of a list. Those of one that has ended
// are remembered: most of a list has.
func (w *pages) staged(ctx context.Context, rows []rollout.Rollout) error {
	for i := range rows {
		x := &rows[i]
		if stages, ok := w.ended.get(*x); ok {
			x.Stages = stages
			continue
		}
		full, err := w.Rollouts.Rollout(ctx, x.ID)
		if err != nil {
			if site.Gone(err) {
				continue // retention took it meanwhile
			}
			return err
		}
		x.Stages = full.Stages
		w.ended.put(*x)
	}
	return nil
}

// endedMost is how many ended rollouts are remembered.
const endedMost = 500

// endedShelf remembers the stages of rollouts that have ended. A retry makes one
// go on: then its counts or its end differ.
type endedShelf struct {
	mu    sync.Mutex
	known map[weir.ID]endedRollout
}

type endedRollout struct {
	counts rollout.Counts
	at     time.Time
	stages []rollout.StageState
}

func (s *endedShelf) get(x rollout.Rollout) ([]rollout.StageState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.known[x.ID]
	if !ok || x.FinishedAt == nil || !e.at.Equal(*x.FinishedAt) || e.counts != x.Counts {
		return nil, false
	}
	return slices.Clone(e.stages), true
}

func (s *endedShelf) put(x rollout.Rollout) {
	if x.FinishedAt == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= endedMost {
		s.known = map[weir.ID]endedRollout{}
	}
	s.known[x.ID] = endedRollout{x.Counts, *x.FinishedAt, x.Stages}
}

// shares cut a bar by status, in the order in which they are shown: what has
// ended stands left, as on a bar that fills.
func shares(c rollout.Counts) []site.Share {
	var out []site.Share
	at := 0.0
	for _, p := range slices.Backward(byStatus(c)) {
		if p.N == 0 {
			continue
		}
		p.X, p.Width = at, 100*float64(p.N)/float64(c.Total)
		at += p.Width
		out = append(out, p)
	}
	return out
}

// byStatus are the counts by status, in the order of statuses.
func byStatus(c rollout.Counts) []site.Share {
	by := map[string]int{
		rollout.NotStarted: c.NotStarted, rollout.Pending: c.Pending, rollout.Available: c.Available, rollout.Running: c.Running, rollout.Done: c.Done,
		rollout.Failed: c.Failed, rollout.Canceled: c.Canceled, rollout.Unknown: c.Unknown, rollout.Skipped: c.Skipped,
	}
	out := make([]site.Share, 0, len(by))
	for _, status := range rollout.Statuses {
		out = append(out, site.Share{Status: status, Class: site.LookOf(statusLooks, status).Class, N: by[status]})
	}
	return out
}
