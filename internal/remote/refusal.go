package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// sentinels let callers branch on an answer as on the SDK's.
var sentinels = map[problem.Kind]error{
	problem.NotFound: weir.ErrNotFound, problem.Conflict: weir.ErrConflict, problem.Invalid: weir.ErrInvalid, problem.Stale: weir.ErrLeaseLost,
}

// refusal is a problem as it is sent.
type refusal struct {
	Status   int    `json:"status"`
	Code     string `json:"code"`
	Detail   string `json:"detail"`
	Next     string `json:"next"`
	Field    string `json:"field"`
	Instance string `json:"instance"`
}

// refused reads what the server has to say.
func (c *Client) refused(response *http.Response, text []byte) *problem.Problem {
	var r refusal
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/problem+json") || json.Unmarshal(text, &r) != nil || r.Code == "" {
		p := problem.New(problem.Failed, "is this the address of a Weir server? Check it, or the proxy before it", "%s answered %s", c.Server(), response.Status)
		switch response.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			p.Kind = problem.Unreachable
		}
		return p
	}
	p := &problem.Problem{Kind: problem.FromCode(r.Code), What: r.Detail, Next: r.Next, Field: r.Field}
	p.Err = sentinels[p.Kind]
	if p.Kind == problem.Failed && r.Instance != "" {
		p.Next = strings.TrimSuffix(p.Next, " in instance") + " " + r.Instance
	}
	return p
}

// unreachable says which server it was and what to do.
func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	cause := err
	var outer *url.Error
	if errors.As(err, &outer) {
		cause = outer.Err // the rest repeats the method and the address
	}
	p := problem.New(problem.Unreachable, "is it running, and is the address right? Start Weir with: weir up", "the server at %s does not answer: %s", c.Server(), cause)
	p.Err = err
	return p
}

// problemOf is the problem behind an error, or nil.
func problemOf(err error) *problem.Problem {
	p := new(problem.Problem)
	if !errors.As(err, &p) {
		return nil
	}
	return p
}

func kindOf(err error) problem.Kind {
	if p := problemOf(err); p != nil {
		return p.Kind
	}
	return problem.Failed
}
