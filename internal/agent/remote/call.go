package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	prefix = "/api/v1"
	// answerLimit is how many bytes of an answer are read.
	answerLimit = 64 << 20
	// failures is how often a server that answers may fail at the same call before
	// waiting is considered useless.
	failures = 4
	// skewMost is how far the clocks may be apart before the agent logs it.
	skewMost = 30 * time.Second
)

// post sends a call of the agent and reads the answer into out, unless out is nil. Every
// call can be repeated: package node guarantees it.
func (t *Transport) post(ctx context.Context, what string, body, out any, wait time.Duration) error {
	return t.call(ctx, http.MethodPost, "/agent/"+what, body, out, t.each+wait)
}

func (t *Transport) get(ctx context.Context, out any, what string) error {
	return t.call(ctx, http.MethodGet, "/"+what, nil, out, t.each)
}

// call sends a request until it is answered.
func (t *Transport) call(ctx context.Context, method, path string, body, out any, each time.Duration) error {
	text := []byte(nil)
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return problem.New(problem.Invalid, "", "it does not become JSON: %s", err)
		}
	}
	return t.persist(ctx, each, func(ctx context.Context) (again bool, after time.Duration, err error) {
		response, err := t.send(ctx, method, path, text, nil)
		if err != nil {
			return transient(err), 0, t.unreachable(err)
		}
		defer response.Body.Close()
		return t.read(response, out)
	})
}

// persist retries until f succeeds, fails permanently, or the context ends. If the
// context has no deadline, it retries until f has failed for the transport's timeout. If
// the context ends during a call, the error says what was wrong before.
func (t *Transport) persist(ctx context.Context, each time.Duration, f func(context.Context) (again bool, after time.Duration, err error)) error {
	var last error
	var since time.Time
	_, limited := ctx.Deadline()
	for try := 1; ; try++ {
		one, cancel := context.WithTimeout(ctx, each)
		again, after, err := f(one)
		cancel()
		if err == nil || !again || try >= failures && kindOf(err) == problem.Failed {
			return err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if try == 1 {
			since = time.Now()
		}
		if ctx.Err() != nil || !limited && time.Since(since) > t.patience || !loop.Wait(ctx, max(after, pause(try)), nil) {
			return ended(ctx, last)
		}
		t.log.Debug("the server is asked again", "try", try, "error", err)
	}
}

// ended returns the error of a call whose time is over.
func ended(ctx context.Context, last error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err() // the caller no longer waits for the answer
	}
	return last
}

// pause returns how long to wait after a try, with jitter, so that a thousand agents that
// lost the same server do not come back together.
func pause(try int) time.Duration {
	longest := min(firstPause<<min(try-1, 10), lastPause)
	return longest/2 + rand.N(longest/2+1) // #nosec G404 -- spreads agents, guards nothing
}

// send makes one request to the server. head sets further headers.
func (t *Transport) send(ctx context.Context, method, path string, body []byte, head map[string]string) (*http.Response, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, t.base.String()+prefix+path, reader)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range head {
		r.Header.Set(name, value)
	}
	return t.ask(r)
}

// ask sends a request with the credential.
func (t *Transport) ask(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", t.agent)
	if t.credential != "" {
		r.Header.Set("Authorization", "Bearer "+t.credential)
	}
	response, err := t.http.Do(r)
	if err == nil {
		t.compare(response.Header.Get("Date"))
	}
	return response, err
}

// read reads an answer. again reports whether a retry may help, after at least the given
// time.
func (t *Transport) read(response *http.Response, out any) (again bool, after time.Duration, err error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return true, 0, t.unreachable(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // absent or invalid: none
		again := response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusRequestTimeout
		return again, min(time.Duration(max(seconds, 0))*time.Second, lastPause), t.refused(response, text)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return false, 0, problem.New(problem.Failed, "is it a Weir server, of the same version as this program?", "the answer of %s is not understood: %s", t.Server(), err)
		}
	}
	return false, 0, nil
}

// compare logs once that the clocks differ. Nothing depends on it, because leases are
// durations and the database's clock decides.
func (t *Transport) compare(date string) {
	server, err := http.ParseTime(date)
	if err != nil {
		return
	}
	if skew := time.Since(server).Round(time.Second); skew.Abs() > skewMost {
		t.watched.Do(func() {
			t.log.Warn("the clock of this machine differs from the server's; times in logs will not match", "ahead", skew)
		})
	}
}
