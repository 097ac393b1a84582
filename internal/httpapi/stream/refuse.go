package stream

import (
	"encoding/json"
	"net/http"

	"github.com/weirhq/weir/internal/problem"
)

// retryAfter is how many seconds to wait when there is no room.
const retryAfter = "5"

// refuse answers with problem+json.
func refuse(w http.ResponseWriter, _ *http.Request, err error) {
	p, _ := problem.Public(err)
	status := p.Kind.Status()
	if p.Kind == problem.Throttled || p.Kind == problem.Unreachable {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // nobody is left to be told
		"type": "about:blank", "title": http.StatusText(status), "status": status, "code": p.Kind.Code(), "detail": p.What, "next": p.Next, "field": p.Field,
	})
}
