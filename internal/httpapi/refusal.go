package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/refusal"
	"github.com/weirhq/weir/internal/requestinfo"
)

// retryAfter is how many seconds to wait when the database does not answer.
const retryAfter = 2

// Refusal is a problem as it is sent: RFC 9457 with a code that programs branch on,
// advice, and the field that was refused.
type Refusal struct {
	Type   string `json:"type" doc:"Where the code is explained."`
	Title  string `json:"title" doc:"The status in words."`
	Status int    `json:"status" doc:"The HTTP status."`
	Code   string `json:"code" doc:"What programs branch on. It never changes its meaning."`
	Detail string `json:"detail" doc:"What is wrong, for people."`
	Next   string `json:"next,omitempty" doc:"What to do about it."`
	Field  string `json:"field,omitempty" doc:"The part of the input that was refused."`
	// Args are the values in the places of the pattern.
	Args     []string `json:"args,omitempty" doc:"What the sentence in detail speaks of, in its order: names and numbers."`
	Instance string   `json:"instance,omitempty" doc:"The id of the request, which the log knows too."`
	// Data is further information for programs; its form depends on the code.
	Data json.RawMessage `json:"data,omitempty" doc:"More about it for programs; with code too_many the limit, and what runs."`

	// retry is the number of seconds after which to try again; zero sets no header.
	retry int
}

// Error implements error.
func (r *Refusal) Error() string { return r.Detail }

// GetStatus implements [huma.StatusError].
func (r *Refusal) GetStatus() int { return r.Status }

// GetHeaders implements [huma.HeadersError].
func (r *Refusal) GetHeaders() http.Header {
	h := http.Header{}
	if r.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retry))
	}
	return h
}

// ContentType implements [huma.ContentTypeFilter].
func (*Refusal) ContentType(string) string { return "application/problem+json" }

// statusError is a problem with a more specific status than its kind.
type statusError struct {
	status int
	*problem.Problem
}

// Unwrap returns the problem.
func (e *statusError) Unwrap() error { return e.Problem }

func withStatus(status int, p *problem.Problem) error { return &statusError{status, p} }

// huma calls these functions for every error of its own.
func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError { return refusalOf(status, msg, errs) }
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		r := refusalOf(status, msg, errs)
		r.Instance = requestinfo.ID(ctx.Context())
		return r
	}
	// An absent list is left out or empty, never null.
	huma.DefaultArrayNullable = false
}

var missing = regexp.MustCompile(`^expected required property (\S+) to be present$`)

// refusalOf turns huma's errors about the input into a refusal. It does not repeat the
// values, because one of them may be a password.
func refusalOf(status int, msg string, errs []error) *Refusal {
	kind := problem.Invalid
	switch {
	case status >= http.StatusInternalServerError:
		kind = problem.Failed
	case status == http.StatusRequestEntityTooLarge:
		kind = problem.TooLarge
	}
	p := &problem.Problem{Kind: kind, What: msg}
	var all []string
	for _, err := range errs {
		field, what := located(err)
		if field != "" {
			what = field + ": " + what
		}
		if p.Field == "" {
			p.Field = field
		}
		if len(all) < 5 {
			all = append(all, what)
		}
	}
	if len(all) > 0 {
		p.What = strings.Join(all, "; ")
	}
	if kind == problem.Failed {
		p.What, p.Field = "something went wrong", ""
	}
	return newRefusal(status, p)
}

// located splits an error of huma into the field and the fault.
func located(err error) (field, what string) {
	var detail *huma.ErrorDetail
	if !errors.As(err, &detail) {
		return "", err.Error()
	}
	_, field, _ = strings.Cut(detail.Location, ".")
	what = detail.Message
	if found := missing.FindStringSubmatch(what); found != nil {
		return strings.TrimPrefix(field+"."+found[1], "."), "is required"
	}
	if what == "unexpected property" || what == "unknown query parameter" {
		return field, "is not a field here"
	}
	if r := refusal.Read(what); r.Pattern != "" { // from decodeInput
		return r.Field, problem.New(problem.Invalid, "", r.Pattern, r.Args...).What
	}
	return field, what
}

func newRefusal(status int, p *problem.Problem) *Refusal {
	title := http.StatusText(status)
	if title == "" {
		title = p.Kind.Code()
	}
	return &Refusal{
		Type: prefix + "/docs#code-" + p.Kind.Code(), Title: title, Status: status, Code: p.Kind.Code(), Detail: p.What, Next: p.Advice(), Field: p.Field,
		Args: p.Texts(), Data: p.Data,
	}
}

// refusal turns an error into the refusal for a client. An internal error is logged under
// the request's id and not revealed.
func (a *API) refusal(ctx context.Context, err error) *Refusal {
	p, status := judge(err)
	id := requestinfo.ID(ctx)
	if status >= http.StatusInternalServerError {
		a.log.ErrorContext(ctx, "a request failed", "request", id, "status", status, "error", err)
	}
	r := newRefusal(status, p)
	r.Instance = id
	if seconds, ok := auth.RetryAfter(err); ok {
		r.retry = seconds
	}
	return r
}

// judge returns the problem and the status that an error is to a client.
func judge(err error) (*problem.Problem, int) {
	var status *statusError
	if errors.As(err, &status) {
		return status.Problem, status.status
	}
	var unmatched *op.Unmatched
	if errors.As(err, &unmatched) {
		return unmatched.Problem, unmatched.Status
	}
	p, _ := problem.Public(err)
	return p, p.Kind.Status()
}

// refuse writes an error.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	writeRefusal(w, a.refusal(r.Context(), err))
}

func writeRefusal(w http.ResponseWriter, r *Refusal) {
	maps.Copy(w.Header(), r.GetHeaders())
	w.Header().Set("Content-Type", r.ContentType(""))
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(r) // an error means that the client has gone
}
