package web

import (
	"net/url"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *Web) search(r *Request) (View, error) {
	text := r.Query("q")
	var hits []view.Hit
	if text != "" {
		var err error
		if hits, err = w.config.Store.Search(r.Context(), text); err != nil {
			return View{}, err
		}
		flows, err := w.searchFlows(r, text)
		if err != nil {
			return View{}, err
		}
		hits = append(flows, w.reachable(r, hits)...)
	}
	// One hit is what was meant.
	if len(hits) == 1 && liveOf(r.Context()) == nil {
		return View{}, SeeOther(hitPath(hits[0]))
	}
	return View{Head: ui.Head{Title: "Search"}, Body: searchPage(text, hits), Still: true}, nil
}

// reachable leaves out what the reader may not see. A server without rollouts or a
// fleet has no pages of them: there a rollout is the job that it is, too.
func (w *Web) reachable(r *Request, hits []view.Hit) []view.Hit {
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
func (w *Web) searchFlows(r *Request, text string) ([]view.Hit, error) {
	if w.config.Workflows == nil || !r.Can(auth.Read, "workflow") {
		return nil, nil
	}
	var hits []view.Hit
	found, err := w.config.Workflows.Versions(r.Context(), text, view.Page{Limit: 1})
	if err != nil && !gone(err) {
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

// hitPath is the page of what was found.
func hitPath(h view.Hit) string {
	switch h.Kind {
	case "task":
		return ui.Path("tasks", h.ID.String())
	case "job":
		return ui.Path("jobs", h.ID.String())
	case "rollout":
		return rolloutPath(h.ID)
	case "fleet":
		return fleetJobPath(h.ID)
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
