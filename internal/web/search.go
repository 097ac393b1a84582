package web

import (
	"net/url"

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
	}
	// One hit is what was meant.
	if len(hits) == 1 && liveOf(r.Context()) == nil {
		return View{}, SeeOther(hitPath(hits[0]))
	}
	return View{Head: ui.Head{Title: "Search"}, Body: searchPage(text, hits), Still: true}, nil
}

// hitPath is the page of what was found.
func hitPath(h view.Hit) string {
	switch h.Kind {
	case "task":
		return ui.Path("tasks", h.ID.String())
	case "job":
		return ui.Path("jobs", h.ID.String())
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
