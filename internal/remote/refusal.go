package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// refused reads the refusal of a server.
func (c *Client) refused(response *http.Response, text []byte) *problem.Problem {
	p, instance, ok := problem.Received(response.Header.Get("Content-Type"), text)
	if !ok {
		p = problem.New(problem.Failed, "is this the address of a Weir server? Check it, or the proxy before it", "%s answered %s", c.Server(), response.Status)
		switch response.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			p.Kind = problem.Unreachable
		}
		return p
	}
	if p.Kind == problem.Failed && instance != "" {
		p.Next = strings.TrimSuffix(p.Next, " in instance") + " " + instance
	}
	return p
}

// unreachable names the server and what to do.
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
	if untrusted(err) {
		p.What = fmt.Sprintf("the certificate of %s is not trusted here: %s", c.Server(), cause)
		p.Next = "if it is yours, name the file that signs it: SSL_CERT_FILE=ca.pem before the command"
	}
	p.Err = err
	return p
}

// problemOf returns the problem in an error, or nil.
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
