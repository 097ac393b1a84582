package target

import (
	"strings"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

// Rule 4: nothing waits or runs without an end. These hold where a change does
// not say otherwise.
const (
	// A statement that waits for a lock makes everybody behind it wait too, so it
	// gives up soon and tries again.
	defaultLockTimeout = time.Second
	// Long enough for an index on a big table, short enough to be noticed.
	defaultStatementTimeout = time.Hour
	// A run that was stopped in a transaction holds locks. After this time the
	// server takes them away.
	idleTimeout = 30 * time.Second
)

// limits are the timeouts of a session. Zero: none.
type limits struct {
	lock, statement time.Duration
}

// limitsOf are those of a change. Only the statement timeout can be lifted, and
// only by name.
func limitsOf(c script.Change) limits {
	l := limits{lock: defaultLockTimeout, statement: defaultStatementTimeout}
	if c.LockTimeout > 0 {
		l.lock = c.LockTimeout
	}
	if c.StatementTimeout > 0 {
		l.statement = c.StatementTimeout
	}
	if c.Unlimited {
		l.statement = 0
	}
	return l
}

// forStep gives a statement that builds or drops an index concurrently all its
// time for locks: it waits for transactions of others as part of its work, and
// nobody waits behind it. A lock timeout that the change names still counts.
func (l limits) forStep(c script.Change, step script.Step) limits {
	if c.LockTimeout > 0 || step.Transaction || len(step.Statements) != 1 {
		return l
	}
	s := step.Statements[0]
	if strings.HasSuffix(s.Tag, "INDEX") && strings.Contains(strings.ToLower(s.Text), "concurrently") {
		l.lock = l.statement
	}
	return l
}

// ranOut: a statement that took so long was ended by its limit. PostgreSQL gives the same
// SQLSTATE for a limit and for a cancel, so the time decides. The limit is measured by the
// clock of the target and took by ours, so a tenth of the limit is left for their difference.
func (l limits) ranOut(took time.Duration) bool {
	return l.statement > 0 && took >= l.statement-l.statement/10
}

// setsSession tells whether a statement may have changed the session's limits.
func setsSession(s script.Statement) bool {
	word, _, _ := strings.Cut(s.Tag, " ")
	return word == "SET" || word == "RESET" || word == "SELECT"
}
