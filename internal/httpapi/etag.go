package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// etag names the content of a definition: what a person wrote, not what the
// engine counts.
func etag(definition any) string {
	text, err := json.Marshal(definition)
	if err != nil {
		return "" // our own types always become JSON
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// MatchInput says which version of a definition the client has seen.
type MatchInput struct {
	IfMatch     string `header:"If-Match" doc:"The ETag of what you have read; * takes whatever is there."`
	IfNoneMatch string `header:"If-None-Match" doc:"* : only if there is none yet."`
}

// judge compares with what is there; tag is empty if there is nothing. same says
// that the write would change nothing, which needs no leave.
func (in MatchInput) judge(kind, tag string, same bool) error {
	switch {
	case in.IfNoneMatch == "*" && tag != "":
		return stale("there is a %s of this name already", kind)
	case in.IfMatch != "" && tag == "":
		return stale("there is no %s of this name any more", kind)
	case in.IfMatch != "" && !in.matches(tag):
		return stale("the %s was changed by somebody else", kind)
	case in.IfMatch == "" && tag != "" && !same:
		return withStatus(http.StatusPreconditionRequired, &problem.Problem{
			Kind: problem.Invalid, Field: "If-Match", What: "If-Match: there is a " + kind + " of this name with another content",
			Next: "send If-Match with the ETag you have read, or If-Match: * to write over whatever is there",
		})
	}
	return nil
}

// stale says that somebody else was faster.
func stale(format string, args ...any) error {
	return withStatus(http.StatusPreconditionFailed, problem.New(problem.Conflict, "read it again, then decide", format, args...))
}

// exact says that one version is meant, and no other.
func (in MatchInput) exact() bool { return in.IfMatch != "" && !strings.Contains(in.IfMatch, "*") }

// late says so if somebody else was faster, after we had looked.
func (in MatchInput) late(err error) error {
	if in.exact() && errors.Is(err, weir.ErrConflict) {
		return stale("%s", problem.Explain(err).What)
	}
	return err
}

func (in MatchInput) matches(tag string) bool {
	for _, part := range strings.Split(in.IfMatch, ",") {
		if part = strings.TrimSpace(part); part == "*" || part == tag {
			return true
		}
	}
	return false
}

// Defined is a definition with its version.
type Defined[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"Names this version, for If-Match."`
	Body   T
}

// inTurn lets one at a time read a definition and write over it.
func (a *API) inTurn(ctx context.Context, f func() error) error {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-a.turn }()
	return f()
}

// lookup reads something that may not be there.
func lookup[T any](v T, err error) (T, bool, error) {
	if errors.Is(err, weir.ErrNotFound) {
		return v, false, nil
	}
	return v, err == nil, err
}
