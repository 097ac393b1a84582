package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// The reasons for which an attempt is stopped.
var (
	errLost     = errors.New("the lease is lost")
	errUnsure   = errors.New("the lease could not be renewed in time")
	errCanceled = errors.New("somebody asked to cancel it")
	errLeaving  = errors.New("the agent leaves")
	errDetached = errors.New("the agent leaves, the work goes on")
)

// timedOut is a limit that an attempt exceeded, and which one: node.ByTimeout or another.
type timedOut struct{ reason, what string }

func (t *timedOut) Error() string { return t.what }

func tooLong(reason, format string, span time.Duration) error {
	return &timedOut{reason, fmt.Sprintf(format, span)}
}

// refused is an error in the request, which another attempt would not fix.
type refused struct{ error }

func (r *refused) Unwrap() error { return r.error }

// evidence is all that is known about an attempt that is over.
type evidence struct {
	// cause is why the agent stopped the attempt; nil means that it ended by itself.
	cause error
	// err is why the work could not be run or followed.
	err  error
	exit driver.Exit
	// result is the printed result, and broken is why it cannot be used.
	result []byte
	broken error
	// last is the end of the output to stderr.
	last    string
	retryOn []int
	infraOn []int
	// fault is what is broken on the node, if that is why the attempt failed; begun is set
	// if the work had begun.
	fault *driver.Broken
	begun bool
	// onDevice is set for work on a device, and gone if that device is no longer there.
	onDevice, gone bool
	// unclean is why the clean-up after the work failed.
	unclean string
}

// failed reports whether the attempt failed and the agent did not stop it for another
// reason.
func (e evidence) failed() bool {
	var late *timedOut
	return errors.As(e.cause, &late) || e.cause == nil && (e.err != nil || e.exit.Code != 0)
}

// infra reports whether the infrastructure caused a failure. Work that could not be
// started or followed says nothing about its device.
func (e evidence) infra() bool {
	var bad *refused
	switch {
	case !e.onDevice:
		return false
	case e.gone, e.exit.Infra:
		return true
	case e.cause == nil && e.err != nil && e.exit.Code == 0:
		return !errors.As(e.err, &bad) && !lasting(e.err)
	}
	return e.cause == nil && slices.Contains(e.infraOn, e.exit.Code)
}

// judge decides how an attempt ended. An empty verdict means that nothing is reported,
// because the lease is gone.
func judge(e evidence) node.Outcome {
	o := verdict(e)
	o.Unclean = e.unclean
	if o.Verdict != node.Failed {
		return o
	}
	if o.Infra = o.Infra || e.infra(); e.gone {
		o.Error = "the device is lost: " + o.Error
	}
	var dirty *setupFailed
	o.Harmless = e.onDevice && !e.gone && e.cause == nil && e.err != nil && e.exit.Code == 0 && !errors.As(e.err, &dirty)
	return o
}

func verdict(e evidence) node.Outcome {
	var late *timedOut
	var gone *deviceLost
	var bad *refused
	switch {
	case errors.Is(e.cause, errLost):
		return node.Outcome{}
	case errors.Is(e.cause, errUnsure), errors.Is(e.cause, errLeaving), errors.Is(e.cause, errInterrupted):
		return node.Outcome{Verdict: node.Returned, Error: e.cause.Error()}
	case errors.Is(e.cause, errCanceled):
		return node.Outcome{Verdict: node.Canceled}
	case errors.As(e.cause, &gone):
		return node.Outcome{Verdict: node.Failed, Error: gone.Error(), Infra: true}
	case errors.As(e.cause, &late):
		return node.Outcome{Verdict: node.Failed, Error: withLast(late.what, e.last), Reason: late.reason}
	case e.fault != nil:
		return node.Outcome{Verdict: node.Returned, Error: e.fault.Error(), Fault: e.fault.Fault, Begun: e.begun}
	case e.err != nil:
		o := node.Outcome{Verdict: node.Failed, Error: e.err.Error()}
		if o.Final = errors.As(e.err, &bad) || lasting(e.err); o.Final {
			o.Reason = node.ByRefusal
		}
		return o
	case e.exit.Code != 0:
		return node.Outcome{
			Verdict: node.Failed, Error: withLast(describe(e.exit), e.last),
			Final: len(e.retryOn) > 0 && !slices.Contains(e.retryOn, e.exit.Code),
		}
	case e.broken != nil:
		return node.Outcome{Verdict: node.Failed, Error: e.broken.Error(), Final: true}
	}
	result := e.result
	if result == nil {
		result = e.exit.Result
	}
	return node.Outcome{Verdict: node.Done, Result: result}
}

// lasting reports whether a driver refused the request itself, so that another attempt
// would be refused too.
func lasting(err error) bool {
	p := new(problem.Problem)
	return errors.As(err, &p) && (p.Kind == problem.Invalid || p.Kind == problem.Forbidden || p.Kind == problem.NotFound)
}

// describe describes how unsuccessful work ended.
func describe(e driver.Exit) string {
	what := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		what = "killed by signal: " + e.Signal
	}
	if e.Reason != "" {
		what += " (" + e.Reason + ")"
	}
	return what
}

func withLast(what, last string) string {
	if last = strings.TrimSpace(last); last == "" {
		return what
	}
	return what + ": " + last
}
