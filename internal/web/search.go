package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
)

func (w *Web) search(r *site.Request) (site.View, error) {
	ctx := r.Context()
	text := r.Query("q")
	var hits []view.Hit
	if text != "" {
		var err error
		if hits, err = w.config.Store.Search(r.Context(), text); err != nil {
			return site.View{}, err
		}
		flows, err := w.searchFlows(r, text)
		if err != nil {
			return site.View{}, err
		}
		homes, err := w.searchWorkspaces(r, text)
		if err != nil {
			return site.View{}, err
		}
		hits = append(append(flows, homes...), w.reachable(r, hits)...)
	}
	// One hit is what was meant.
	if len(hits) == 1 && !r.Live {
		return site.View{}, site.SeeOther(hitPath(hits[0]))
	}
	return site.View{Head: ui.Head{Title: ui.Say(ctx, "word.search")}, Body: searchPage(text, hits), Still: true}, nil
}

// reachable leaves out what the reader may not see. A server without rollouts or a
// fleet has no pages of them: there a rollout is the job that it is, too.
func (w *Web) reachable(r *site.Request, hits []view.Hit) []view.Hit {
	out := hits[:0]
	for _, h := range hits {
		if h.Kind == "rollout" && (w.config.Rollouts == nil || !r.Can(auth.Read, "rollout")) {
			h.Kind, h.State = "job", ""
		}
		if h.Kind == "fleet" && (w.config.Fleets == nil || !r.Can(auth.Read, "fleet")) {
			h.Kind, h.State = "job", ""
		}
		if h.Kind == "device" && (w.config.Fleets == nil || !r.Can(auth.Read, "device")) {
			continue
		}
		if h.Kind == "database" && (w.config.Rollouts == nil || !r.Can(auth.Read, "database")) {
			continue
		}
		out = append(out, h)
	}
	return out
}

// flowsFound is how many workflows a search lists.
const flowsFound = 5

// searchFlows are workflows that are called so, or begin so.
func (w *Web) searchFlows(r *site.Request, text string) ([]view.Hit, error) {
	if w.config.Workflows == nil || !r.Can(auth.Read, "workflow") {
		return nil, nil
	}
	var hits []view.Hit
	found, err := w.config.Workflows.Versions(r.Context(), text, view.Page{Limit: 1})
	if err != nil && !site.Gone(err) {
		return nil, err
	}
	more, err := w.config.Workflows.Workflows(r.Context(), view.Page{Limit: flowsFound, After: text})
	if err != nil {
		return nil, err
	}
	for _, f := range append(found, more...) {
		if strings.HasPrefix(f.Name, text) {
			hits = append(hits, view.Hit{Kind: "workflow", Name: f.Name})
		}
	}
	return hits, nil
}

// workspacesFound is how many workspaces a search lists.
const workspacesFound = 10

// searchWorkspaces are workspaces by their id or a part of their name: one's own, for an
// admin everybody's.
func (w *Web) searchWorkspaces(r *site.Request, text string) (hits []view.Hit, err error) {
	if w.config.Workspaces == nil || !auth.Can(r.Subject, auth.Read, r.Subject.Own("workspace")) || r.Subject.UserID == "" {
		return nil, nil
	}
	ctx := r.Context()
	in := &workspace.Listing{Paged: op.Paged{Limit: workspacesFound}, Search: text, All: r.Can(auth.Read, "workspace")}
	page, err := workspace.List.Call(ctx, w.config.Operations, in)
	if err != nil {
		return nil, err
	}
	// What only says it in its description was not meant.
	found := slices.DeleteFunc(page.Items, func(x workspace.View) bool { return !strings.Contains(x.Name, strings.ToLower(text)) })
	if _, bad := weir.ParseID(text); bad == nil {
		x, err := workspace.Show.Call(ctx, w.config.Operations, &workspace.Named{Workspace: text})
		if err != nil && !site.Gone(err) {
			return nil, err
		}
		if err == nil {
			found = append(found, x)
		}
	}
	for _, x := range found {
		hits = append(hits, view.Hit{Kind: "workspace", ID: x.ID, Name: x.Name, State: string(x.Phase)})
	}
	return hits, nil
}

// hitPath is the page of what was found.
func hitPath(h view.Hit) string {
	switch h.Kind {
	case "task":
		return ui.Path("tasks", h.ID.String())
	case "job":
		return ui.Path("jobs", h.ID.String())
	case "rollout":
		return site.RolloutPath(h.ID)
	case "fleet":
		return site.FleetJobPath(h.ID)
	case "workspace":
		return site.WorkspacePath(h.ID)
	case "service":
		return "/tasks?service=" + url.QueryEscape(h.Name)
	case "worker":
		return ui.Path("workers", h.Name)
	default:
		return ui.Path(h.Kind+"s", h.Name)
	}
}

// hitIcon is the icon of a kind of thing.
func hitIcon(kind string) string {
	if kind == "service" {
		return "task"
	}
	return kind
}
