package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/uptime"
)

const backoffFirst, backoffLast = 100 * time.Millisecond, 5 * time.Second

// backoff returns how long to wait after a number of failures.
func backoff(failures int) time.Duration {
	wait := min(backoffFirst<<min(failures, 10), backoffLast)
	return wait/2 + rand.N(wait/2) // #nosec G404 -- jitter is no secret
}

// hear records that the server answered.
func (a *Agent) hear() { a.heard.Store(int64(uptime.Now())) }

// failed records that a call was not answered.
func (a *Agent) failed(op string, err error) {
	a.mu.Lock()
	a.lastErr = err
	a.mu.Unlock()
	a.log.Warn("a call failed; it is tried again", "op", op, "error", err)
}

// overdue returns the error of an agent that has had no answer for too long, or nil.
func (a *Agent) overdue() error {
	silent := uptime.Now() - time.Duration(a.heard.Load())
	if silent < a.config.Patience {
		return nil
	}
	a.mu.Lock()
	last := a.lastErr
	a.mu.Unlock()
	if last != nil && problem.Explain(last).Kind == problem.Conflict {
		return last // the server answered: another agent has the name
	}
	return &problem.Problem{
		Kind: problem.Unreachable, Err: last,
		What: fmt.Sprintf("no successful poll for %s: %v", silent.Round(time.Second), last),
		Next: "the supervisor starts the agent anew; check the address and the database or server behind it",
	}
}

// final reports whether a retry would be refused in the same way.
func final(err error) bool {
	if errors.Is(err, weir.ErrInvalid) {
		return true
	}
	switch problem.Explain(err).Kind {
	case problem.Invalid, problem.Unauthenticated, problem.Forbidden:
		return true
	}
	return false
}

// revoked reports whether a server no longer knows the node's credential. A database that
// refuses every login does not count, because that may be temporary.
func revoked(err error) bool {
	p := new(problem.Problem)
	return errors.As(err, &p) && p.Kind == problem.Unauthenticated
}

// lost reports whether an answer means that the lease is over.
func lost(err error) bool {
	return errors.Is(err, weir.ErrLeaseLost) || problem.Explain(err).Kind == problem.Stale
}
