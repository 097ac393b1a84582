package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// state is the state of a workspace.
type state struct{ workspace.Workspace }

// passable reports whether requests are forwarded: a running workspace is tried, also
// while it is being stopped.
func (s *state) passable() bool { return s.Phase == ladder.Running && s.DeletedAt == nil }

// rests reports whether the workspace can be woken.
func (s *state) rests() bool {
	return (s.Phase == ladder.Standby || s.Phase == ladder.Archived) && s.DeletedAt == nil
}

// over reports whether waiting for the workspace is useless.
func (s *state) over() bool { return s.Phase == ladder.Error || s.DeletedAt != nil }

const (
	retrySoon  = 3
	retryLater = 60
)

// explain answers for a workspace that does not take requests. A guest who may wake it
// does so; while an operation is under way that is not possible, and then the page tries
// again.
func (p *Proxy) explain(w http.ResponseWriter, r *http.Request, g *guest, s *state) {
	calls := wakes(r)
	if calls && s.rests() && s.Desired != ladder.Running {
		err := p.wake(r.Context(), g, s)
		if limit, over := workspace.LimitOf(err); over {
			p.show(w, r, p.overLimit(r.Context(), s, limit))
			return
		}
		if err != nil && problem.Explain(err).Kind != problem.Conflict {
			p.fail(w, r, err)
			return
		}
		if now, err := p.guests.fresh(r.Context(), s.ID); err == nil {
			s = now
		}
	}
	p.show(w, r, p.describe(r.Context(), s, calls))
}

// wakes reports whether a request starts a workspace: a person opens a page, or a program
// asks. Background requests of a page do not.
func wakes(r *http.Request) bool {
	return navigates(r) || isProgram(r) && !upgrades(r) && !prefetches(r)
}

// wake requests that the workspace runs. Of many requests at once, one changes the wanted
// phase.
func (p *Proxy) wake(ctx context.Context, g *guest, s *state) error {
	_, err := p.config.Store.WantFrom(ctx, s.ID, s.Desired, ladder.Running, g.Name, "somebody opened it")
	if err != nil {
		return fmt.Errorf("wake: %w", err)
	}
	return nil
}

// describe returns what a workspace does now and what follows. calls means that a client
// waits for it.
func (p *Proxy) describe(ctx context.Context, s *state, calls bool) view {
	v := view{status: http.StatusServiceUnavailable, retry: retrySoon, wakes: calls && s.Desired != ladder.Running, Name: s.Name, Phase: string(s.Phase), Operation: operation(s), Link: p.config.Dashboard + "/workspaces/" + s.ID.String()}
	switch {
	case s.DeletedAt != nil:
		v.status, v.retry, v.code = http.StatusGone, 0, "gone"
		v.Title, v.Says = say(ctx, "visit.deleted"), say(ctx, "visit.deleted.text")
	case s.Phase == ladder.Error:
		v.retry, v.code = retryLater, "error"
		v.Title, v.Says = say(ctx, "visit.error", s.Error), s.ErrorSays
		v.Next = say(ctx, "visit.error.next", "weir workspace recover "+s.Name)
	case s.Phase == ladder.Running:
		v.code, v.Live = "unreachable", true
		v.Title, v.Says = say(ctx, "visit.silent"), say(ctx, "visit.silent.text")
	case s.Phase == ladder.Pending:
		v.code, v.Live = "pending", true
		v.Title, v.Says = say(ctx, "visit.pending"), progress(ctx, s)
	case s.Desired == ladder.Running || calls:
		v.code, v.Live = "waking", true
		v.Title, v.Says = waking(ctx, s), progress(ctx, s)
	case s.Operation != ladder.None:
		v.code = "resting"
		v.Title, v.Says = say(ctx, "visit.putaway"), progress(ctx, s)
	default:
		v.code, v.Next = "resting", say(ctx, "visit.rests.next", "weir workspace start "+s.Name)
		v.Title, v.Says = say(ctx, "visit.rests"), say(ctx, "visit.rests.text")
	}
	return v
}

func waking(ctx context.Context, s *state) string {
	switch s.Operation {
	case ladder.Stopping, ladder.Archiving:
		return say(ctx, "visit.comesback")
	}
	return say(ctx, "visit.waking")
}

func operation(s *state) string {
	if s.Operation == ladder.None {
		return ""
	}
	return string(s.Operation)
}

// progress describes the operation under way.
func progress(ctx context.Context, s *state) string {
	if s.Operation == ladder.None {
		return say(ctx, "visit.soon")
	}
	says := []string{say(ctx, "visit.does."+string(s.Operation))}
	if s.OpSays != "" {
		says = append(says, s.OpSays+".")
	}
	if s.Error != "" {
		says = append(says, say(ctx, "visit.retried", s.Error, s.ErrorSays))
	}
	return strings.TrimSpace(strings.Join(says, " "))
}

// overLimit lists what runs.
func (p *Proxy) overLimit(ctx context.Context, s *state, limit workspace.Limit) view {
	v := p.describe(ctx, s, false)
	v.status, v.retry, v.code, v.Live, v.limit = http.StatusTooManyRequests, retryLater, "too_many", false, &limit
	v.Title = say(ctx, "visit.limit", limit.Current)
	v.Says = say(ctx, "visit.limit.user")
	if limit.Type != "user" {
		v.Says = say(ctx, "visit.limit.all")
	}
	v.Next, v.Again = "", true
	for _, one := range limit.Running {
		v.Runs = append(v.Runs, runs{Name: one.Name, Phase: string(one.Phase), Link: p.config.Dashboard + "/workspaces/" + one.ID.String()})
	}
	return v
}

// answers reports whether the workspace can be reached.
func (p *Proxy) answers(ctx context.Context, s *state) bool {
	conn, err := p.dial(ctx, s.ID, s.Provider)
	return err == nil && conn.Close() == nil
}

// liveMost is how long one stream of a waiting page lasts; then the browser reconnects.
const liveMost = 10 * time.Minute
