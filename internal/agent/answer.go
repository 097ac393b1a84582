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

// quietFor is how long the same call fails without another line in the log.
const quietFor = 30 * time.Second

// hear records that the server answered.
func (a *Agent) hear() {
	was := a.heard.Swap(int64(uptime.Now()))
	a.mu.Lock()
	away := a.lastErr != nil
	a.lastErr = nil
	clear(a.said)
	a.mu.Unlock()
	if away && was > 0 {
		a.log.Info("the server answers again", "after", (uptime.Now() - time.Duration(was)).Round(time.Millisecond))
	}
}

// failed records that a call was not answered. It logs a call that goes on failing from
// time to time only.
func (a *Agent) failed(op string, err error) {
	now := uptime.Now()
	a.mu.Lock()
	a.lastErr = err
	said, again := a.said[op]
	quiet := again && now-said < quietFor
	if !quiet {
		a.said[op] = now
	}
	a.mu.Unlock()
	if !quiet {
		a.log.Warn("a call failed; it is tried again", "op", op, "error", err)
	}
}

// overdue returns the error of an agent that has had no answer for too long, or nil. An
// agent that holds leases goes on, because its work does: what is unsure is stopped by the
// guard. So does an enduring one.
func (a *Agent) overdue() error {
	silent := uptime.Now() - time.Duration(a.heard.Load())
	a.mu.Lock()
	last, busy := a.lastErr, len(a.held) > 0
	a.mu.Unlock()
	if silent < a.config.Patience || busy {
		return nil
	}
	if last != nil && problem.Explain(last).Kind == problem.Conflict {
		return last // the server answered: another agent has the name
	}
	if a.config.Enduring {
		return nil
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
