package stream

import (
	"net/http"

	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/problem"
)

// retryAfter is how many seconds to wait when all places are taken.
const retryAfter = "5"

// refuse answers with problem+json.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	p, _ := problem.Public(err)
	if p.Kind == problem.Throttled || p.Kind == problem.Unreachable {
		w.Header().Set("Retry-After", retryAfter)
	}
	door.WriteProblem(w, r, p, p.Kind.Status())
}
