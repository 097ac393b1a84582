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

// backoff is how long to wait after so many failures.
func backoff(failures int) time.Duration {
	wait := min(backoffFirst<<min(failures, 10), backoffLast)
	return wait/2 + rand.N(wait/2) // #nosec G404 -- jitter is no secret
}

// hear notes that somebody answered.
func (a *Agent) hear() { a.heard.Store(int64(uptime.Now())) }

// failed notes that a call was not answered.
func (a *Agent) failed(op string, err error) {
	a.mu.Lock()
	a.lastErr = err
	a.mu.Unlock()
	a.log.Warn("a call failed; it is tried again", "op", op, "error", err)
}

// overdue is the error of an agent that nobody has answered for too long.
func (a *Agent) overdue() error {
	silent := uptime.Now() - time.Duration(a.heard.Load())
	if silent < a.config.Patience {
		return nil
	}
	a.mu.Lock()
	last := a.lastErr
	a.mu.Unlock()
	if last != nil && problem.Explain(last).Kind == problem.Conflict {
		return last // there was an answer: another agent has the name
	}
	return &problem.Problem{
		Kind: problem.Unreachable, Err: last,
		What: fmt.Sprintf("no successful poll for %s: %v", silent.Round(time.Second), last),
		Next: "the supervisor starts the agent anew; check the address and the database or server behind it",
	}
}

// final reports whether a refusal would be the same again.
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

// revoked reports whether a server no longer knows the node's credential. A
// database that lets nobody in is another matter: that may pass.
func revoked(err error) bool {
	p := new(problem.Problem)
	return errors.As(err, &p) && p.Kind == problem.Unauthenticated
}

// lost reports whether an answer says that the lease is over.
func lost(err error) bool {
	return errors.Is(err, weir.ErrLeaseLost) || problem.Explain(err).Kind == problem.Stale
}
