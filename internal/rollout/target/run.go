package target

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

// Run is one attempt to apply one change.
type Run struct {
	// Rollout and Task name what this is part of. Task stays the same when it is
	// tried again; Attempt grows, from 1 on.
	Rollout, Task string
	Attempt       int
	// Token is the lease under which this attempt runs.
	Token  string
	Change script.Change
	// Steps are those of the change for this engine (script.Steps).
	Steps []script.Step
	// Identity is that of the database the plan was made for, as [Identity.String]
	// has it. Empty: whichever the address leads to.
	Identity string
	// OutOfOrder allows a version below one that is applied.
	OutOfOrder bool
	// By is who runs it.
	By string
}

// Result is how a run went that applied its change.
type Result struct {
	// Replayed: the change was applied before, nothing was done now. Was is the row
	// of the history that says so.
	Replayed bool
	Was      *Entry
	// Statements counts those that ran now, Skipped the steps that an earlier
	// attempt had done.
	Statements, Skipped int
	Took                time.Duration
}

// Phase is how far a run is. It is said before the act, so whoever finds a run
// dead knows the most it can have done.
type Phase string

// The phases of a run.
const (
	PhaseLocked  Phase = "locked"  // it has the target for itself; nothing was changed
	PhaseSent    Phase = "sent"    // from here on something may be changed
	PhaseApplied Phase = "applied" // the history row is there
)

// Watch is told what a run does. Its methods are called one at a time.
type Watch interface {
	// Phase writes the phase down. An error stops the run before it acts.
	Phase(ctx context.Context, p Phase) error
	// Statement is called after each statement, inside its transaction.
	Statement(ctx context.Context, s StatementDone)
	// Waiting says what the run waits for, whenever that changes, and each retry.
	Waiting(ctx context.Context, what string)
}

// StatementDone is a statement that ended well, or was skipped.
type StatementDone struct {
	// Step and Index are positions in the change, from 0 on.
	Step    int    `json:"step"`
	Index   int    `json:"index"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Tag     string `json:"tag"`
	// Try counts from 1: a transaction that got no lock runs again.
	Try  int           `json:"try"`
	Took time.Duration `json:"took"`
	Rows int64         `json:"rows"`
	// Waited is how long others kept it from its lock, as far as was seen.
	Waited  time.Duration `json:"waited,omitempty"`
	Notices []string      `json:"notices,omitempty"`
	// Skipped says why it did not have to run, if so.
	Skipped string `json:"skipped,omitempty"`
}

// ApplicationName is the name of the sessions of an attempt. PostgreSQL and
// MySQL cut names at 63 bytes, so a long task is shortened to what is unique.
func ApplicationName(task string, attempt int) string {
	const longest = 40
	if len(task) > longest {
		sum := sha256.Sum256([]byte(task))
		task = hex.EncodeToString(sum[:longest/2])
	}
	return "weir/" + task + "/" + strconv.Itoa(attempt)
}

// attemptOf reads an application name of the same task. False: it is not one.
func attemptOf(name, task string) (int, bool) {
	prefix := strings.TrimSuffix(ApplicationName(task, 0), "0")
	if !strings.HasPrefix(name, prefix) {
		return 0, false
	}
	n, err := strconv.Atoi(name[len(prefix):])
	return n, err == nil
}

// check refuses a run that could not be told from others.
func (r Run) check() error {
	switch {
	case r.Task == "":
		return fmt.Errorf("a run needs a task")
	case r.Attempt < 1:
		return fmt.Errorf("attempt %d: attempts count from 1", r.Attempt)
	case r.Change.Checksum == "":
		return fmt.Errorf("change %s has no checksum", r.label())
	}
	return nil
}

// label is how a person calls the change.
func (r Run) label() string {
	if r.Change.Version == "" {
		return r.Change.Name
	}
	return strings.TrimSpace(r.Change.Version + " " + r.Change.Name)
}

// statements counts those of the change.
func (r Run) statements() (n int) {
	for _, step := range r.Steps {
		n += len(step.Statements)
	}
	return n
}

// progressKey is what the marks of the steps are kept under. A version goes on
// where another rollout left it; a change without one belongs to its task.
func (r Run) progressKey() string {
	if r.Change.Version != "" {
		return "version " + r.Change.Version
	}
	return "task " + r.Task
}

// teller hands on to a Watch one call at a time: the guard tells things too.
type teller struct {
	mu   sync.Mutex
	to   Watch
	last string
}

func (t *teller) phase(ctx context.Context, p Phase) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.to.Phase(ctx, p)
}

func (t *teller) statement(ctx context.Context, s StatementDone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.to.Statement(ctx, s)
}

// waiting says it once: a poll that finds the same again is no news.
func (t *teller) waiting(ctx context.Context, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if what == t.last {
		return
	}
	t.last = what
	t.to.Waiting(ctx, what)
}
