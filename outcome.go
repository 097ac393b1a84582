package weir

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Permanent says that trying again is no use: the task fails now, whatever
// attempts it has left.
func Permanent(err error) error { return &permanent{err} }

// RetryAfter says when to try again, instead of the back-off. The attempt is
// spent.
func RetryAfter(d time.Duration, err error) error { return &retryAfter{err, d} }

// Snooze says that it is too early: the task comes back after d and the attempt
// is not spent.
func Snooze(d time.Duration) error { return &snooze{d} }

// Committed is a result that stands: what was done cannot be undone, so the task
// ends as done even if somebody asked it to stop meanwhile.
func Committed(result any) any { return &committed{result} }

type (
	committed  struct{ result any }
	permanent  struct{ error }
	retryAfter struct {
		error
		after time.Duration
	}
	snooze struct{ after time.Duration }
	// panicked is what a handler's panic becomes.
	panicked struct {
		value any
		stack []byte
	}
)

func (p *permanent) Unwrap() error  { return p.error }
func (r *retryAfter) Unwrap() error { return r.error }
func (s *snooze) Error() string     { return "snoozed for " + s.after.String() }
func (p *panicked) Error() string   { return fmt.Sprintf("panic: %v\n\n%s", p.value, p.stack) }

// verdict is what to tell the database about an attempt.
type verdict int

const (
	asDone verdict = iota
	asFailed
	asSnoozed  // back after a time, attempt not spent
	asReturned // back at once, attempt not spent
	asCanceled
	dropped // say nothing: the lease is gone
)

// byTimeout is what an attempt failed by whose time was over.
const byTimeout = "timeout"

// ending is how an attempt ended.
type ending struct {
	verdict verdict
	result  []byte
	cause   string
	// final: no further attempt.
	final bool
	// after is the delay of asSnoozed, and of asFailed if it is set.
	after    time.Duration
	setAfter bool
	// reason is what it failed by, for programs, if that is known.
	reason string
	// late: the handler returned a result when its time was over.
	late bool
}

// judge decides how an attempt ended from what the handler returned and why its
// context had ended, if it had.
func judge(result any, err, cause error, timeout time.Duration) ending {
	stands, ok := result.(*committed)
	if ok {
		result = stands.result
	}
	switch {
	case errors.Is(cause, ErrLeaseLost) && !errors.Is(cause, errUnsure):
		return ending{verdict: dropped}
	case errors.Is(cause, ErrCanceled) && (err != nil || !ok):
		return ending{verdict: asCanceled, cause: text(err)}
	case errors.Is(cause, errTimedOut):
		e := ending{verdict: asFailed, cause: fmt.Sprintf("timed out after %s", timeout), reason: byTimeout, late: err == nil}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errTimedOut) {
			e.cause += ": " + text(err)
		}
		return e
	case err == nil:
		encoded, err := encodeResult(result)
		if err != nil {
			return ending{verdict: asFailed, cause: text(err), final: true}
		}
		return ending{verdict: asDone, result: encoded}
	}
	var s *snooze
	var p *permanent
	var r *retryAfter
	switch {
	case errors.As(err, &s):
		return ending{verdict: asSnoozed, cause: text(err), after: s.after}
	case errors.As(err, &p):
		return ending{verdict: asFailed, cause: text(err), final: true}
	case cause != nil: // we took its context away, so the error is our doing
		return ending{verdict: asReturned, cause: cause.Error()}
	case errors.As(err, &r):
		return ending{verdict: asFailed, cause: text(err), after: r.after, setAfter: true}
	}
	return ending{verdict: asFailed, cause: text(err)}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return cleanText(err.Error())
}
