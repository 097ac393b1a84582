package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/problem"
)

// call is one request, from its start to the end of its answer.
type call struct {
	driver  *Driver
	work    driver.Work
	request *nethttp.Request
	out     driver.Output
	// cut aborts the request in any state.
	cut context.CancelFunc

	// done is closed when the call is over; exit is set before, and err if another
	// attempt would end in the same way.
	done chan struct{}
	exit driver.Exit
	err  error
}

// order is the body of the request.
type order struct {
	Task    string          `json:"task"`
	Job     string          `json:"job"`
	Key     string          `json:"key"`
	Attempt int             `json:"attempt"`
	Fence   string          `json:"fence"`
	Params  json.RawMessage `json:"params"`
}

// methods are the HTTP methods that can carry an order.
var methods = []string{nethttp.MethodPost, nethttp.MethodPut, nethttp.MethodPatch}

func newCall(d *Driver, work driver.Work, target *url.URL, out driver.Output) (*call, error) {
	c := &call{driver: d, work: work, out: out, done: make(chan struct{})}
	method := strings.ToUpper(work.Run.Method)
	if method == "" {
		method = nethttp.MethodPost
	}
	if !slices.Contains(methods, method) {
		return nil, problem.Refuse("method", "use "+strings.Join(methods, ", "), "%q carries no work", work.Run.Method)
	}
	header, err := headers(work)
	if err != nil {
		return nil, err
	}
	params := work.Params
	if len(params) == 0 {
		params = json.RawMessage("null")
	}
	body, err := json.Marshal(order{work.Task, work.Job, work.Key, work.Attempt, work.Fence, params})
	if err != nil {
		return nil, problem.Refuse("params", "give valid JSON", "they cannot be sent: %v", err)
	}
	// The call outlives the start: only Stop or the deadline ends it.
	ctx, cut := context.WithCancel(context.Background())
	if !work.Deadline.IsZero() {
		ctx, cut = context.WithDeadline(context.Background(), work.Deadline)
	}
	c.cut = cut
	c.request, err = nethttp.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		cut()
		return nil, problem.Refuse("url", "give one, such as http://127.0.0.1:8080/run", "it is no address of a service")
	}
	c.request.Header = header
	return c, nil
}

// ours are headers that a step cannot set because they concern the connection.
var ours = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection"}

// headers returns those of the step. ${NAME} stands for a variable of its environment,
// which is how a secret gets there.
func headers(work driver.Work) (nethttp.Header, error) {
	all := nethttp.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, application/x-ndjson, text/plain"}, "User-Agent": {"weir-agent"}}
	for name, text := range work.Run.Headers {
		field := "headers." + name
		if !httpguts.ValidHeaderFieldName(name) || slices.Contains(ours, nethttp.CanonicalHeaderKey(name)) {
			return nil, problem.Refuse(field, "leave it out", "a step cannot set this header")
		}
		var missing string
		value := os.Expand(text, func(variable string) string {
			v, ok := work.Env[variable]
			if !ok {
				missing = variable
			}
			return v
		})
		if missing != "" {
			return nil, problem.Refuse(field, "set it with env or secrets", "there is no variable %s", missing)
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, problem.Refuse(field, "keep it on one line", "it has characters that a header cannot have")
		}
		all.Set(name, value)
	}
	return all, nil
}

// Wait waits for the end of the answer. If a service refuses the work permanently, Wait
// returns an error of kind Invalid in addition to the exit.
func (c *call) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-c.done:
		return c.exit, c.err
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Stop asks the service to stop, if it supports that, then aborts the call.
func (c *call) Stop(ctx context.Context, grace time.Duration) error {
	if c.driver.cfg.Delete {
		c.ask(ctx)
		patient, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		select {
		case <-c.done:
		case <-patient.Done():
		}
	}
	c.cut()
	<-c.done // this is soon, because the request ends with its context
	return nil
}

// ask sends the DELETE. The call of a service that does not accept it is aborted like any
// other.
func (c *call) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.driver.cfg.Connect)
	defer cancel()
	target := *c.request.URL
	query := target.Query()
	query.Set("task", c.work.Task)
	query.Set("attempt", strconv.Itoa(c.work.Attempt))
	target.RawQuery = query.Encode()
	request, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodDelete, target.String(), nil)
	if err != nil {
		return
	}
	request.Header = c.request.Header.Clone()
	request.Header.Del("Content-Type")
	answer, err := c.driver.client.Do(request)
	if err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the connection can be used again
	_ = answer.Body.Close()
}

// run sends the request and reads the answer.
func (c *call) run() driver.Exit {
	defer c.cut()
	answer, err := c.driver.client.Do(c.request) // #nosec G704 -- the dialer checks every address against the operator's list
	if err != nil {
		return c.broken(err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode >= 200 && answer.StatusCode < 300:
		return c.read(answer)
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return c.refused(answer, "redirects are not followed")
	}
	// The beginning of the answer is useful in the log; more would be noise.
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if len(text) > 0 {
		_, _ = c.out.Stderr().Write(append(bytes.TrimRight(text, "\n"), '\n')) // an Output never fails
	}
	return c.refused(answer, firstLine(text))
}

// refused returns the exit for a status. The status is the exit code, so that a step can
// list the ones that should be retried.
func (c *call) refused(answer *nethttp.Response, why string) driver.Exit {
	reason := "the service answered " + answer.Status
	if why != "" {
		reason += ": " + why
	}
	// A status that the step retries on is not final.
	if final(answer.StatusCode) && !slices.Contains(c.work.Run.RetryOn, answer.StatusCode) {
		c.err = problem.New(problem.Invalid, "mend the step, or the service", "%s", reason)
	}
	return driver.Exit{Code: answer.StatusCode, Reason: reason}
}

// final reports whether the same request will always get the same answer.
func final(status int) bool {
	switch status {
	case nethttp.StatusRequestTimeout, nethttp.StatusTooEarly, nethttp.StatusTooManyRequests:
		return false
	}
	return status >= 300 && status < 500
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return strings.TrimSpace(line)
}

// broken returns the exit of a call without an answer, or with an incomplete one.
func (c *call) broken(err error) driver.Exit {
	refusal := new(problem.Problem)
	ctx := c.request.Context()
	switch {
	case errors.As(err, &refusal):
		return driver.Exit{Code: 1, Reason: refusal.What}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return driver.Exit{Code: 143, Signal: "terminated", Reason: "its time was over before the service answered"}
	case ctx.Err() != nil:
		return driver.Exit{Code: 143, Signal: "terminated", Reason: "stopped"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return driver.Exit{Code: 1, Reason: "no service at " + c.request.URL.Host + ": connection refused"}
	}
	// The library repeats the whole address, which may contain a query.
	if outer := new(url.Error); errors.As(err, &outer) {
		err = outer.Err
	}
	return driver.Exit{Code: 1, Reason: fmt.Sprintf("no answer from %s: %v", c.request.URL.Host, err)}
}
