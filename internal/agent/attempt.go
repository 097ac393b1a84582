package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
	"github.com/weirhq/weir/internal/vault"
)

const (
	// killMost is how long the agent waits for killed work to be gone before it
	// says so.
	killMost = 30 * time.Second
	// slackMost is how long before its deadline an attempt is asked to end, so
	// that it is over when the database counts it as timed out.
	slackMost = 2 * time.Second
)

// attempt is one lease and the work that is done under it.
type attempt struct {
	node.Assignment
	agent *Agent
	run   node.Run
	dir   folder
	out   *output
	ship  *shipper
	mask  *vault.Mask
	// deadline is the uptime at which the attempt's time is over; 0: never.
	deadline time.Duration
	// found is work of an earlier life that this attempt goes on with.
	found driver.Found
	// ctx ends when the attempt shall stop; kill when it must be dead at once.
	ctx    context.Context
	cancel context.CancelCauseFunc
	kill   context.Context
	doom   context.CancelFunc

	// Guarded by the agent's mutex.

	// safe is the uptime until which the lease surely holds.
	safe time.Duration
	// cause is why it is being stopped.
	cause error
	work  driver.Running
	// renewing: a renewal is under way that names it. Its end is not told before
	// the answer, else the renewal would find it gone.
	renewing bool
	// ended: how it ended is known. Until that is told the lease is renewed on.
	ended bool
	// telling: a call that tells its end is under way. No renewal names it before
	// the answer.
	telling bool
	// untold is the uptime since which its end could not be told; 0: nobody tried.
	untold time.Duration
}

// attempt makes one of what was claimed. since is when it was taken, or before.
func (a *Agent) attempt(ctx context.Context, task node.Assignment, since time.Duration) *attempt {
	at := &attempt{Assignment: task, agent: a, dir: folderOf(a.config.Dir, task), safe: since + min(task.Lease, a.config.Lease)}
	if task.Deadline > 0 {
		at.deadline = since + task.Deadline
	}
	at.ctx, at.cancel = context.WithCancelCause(ctx)
	at.kill, at.doom = context.WithCancel(ctx)
	return at
}

// slack is how long before the deadline it is asked to end.
func (at *attempt) slack() time.Duration { return min(at.Deadline/10, slackMost) }

// stop begins the end of an attempt. One that must be dead at once gets no
// grace, even when it has been given some before.
func (at *attempt) stop(cause error) {
	at.agent.mu.Lock()
	hard := mustDie(cause)
	if at.cause == nil || hard && !errors.Is(at.cause, errLost) {
		if at.cause == nil {
			at.agent.log.Info("an attempt is stopped", "task", at.Task, "attempt", at.Attempt, "because", cause)
		}
		at.cause = cause
	}
	at.agent.mu.Unlock()
	at.cancel(cause)
	if hard {
		at.doom()
	}
}

// mustDie reports whether there is no time for grace: somebody else may have the
// task, or the device.
func mustDie(cause error) bool {
	var gone *deviceLost
	return errors.Is(cause, errLost) || errors.Is(cause, errUnsure) || errors.As(cause, &gone)
}

// why is the reason it is being stopped for, if it is.
func (at *attempt) why() error {
	at.agent.mu.Lock()
	defer at.agent.mu.Unlock()
	return at.cause
}

// serve is the life of an attempt.
func (a *Agent) serve(at *attempt) {
	defer at.cancel(nil)
	defer at.doom()
	stopLeave := at.followLeave()
	defer stopLeave()
	e := at.perform()
	at.examine(&e)
	// From here on the work is over, whatever comes.
	if e.cause == nil || !errors.Is(e.cause, errLost) {
		e.err = errors.Join(e.err, at.collect(e))
	}
	at.report(e)
	a.release(at)
	a.clearFolder(at.dir)
}

// examine looks whether an attempt that failed has lost its device. What there is is
// reported before the end is told: when many are lost together, that counts first.
func (at *attempt) examine(e *evidence) {
	if e.onDevice = at.Device != nil; !e.onDevice || !e.failed() {
		return
	}
	over := uptime.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(at.ctx), at.agent.config.Lease/2)
	defer cancel()
	at.agent.surveyDevices(ctx, over)
	e.gone = at.agent.missing(at.Device.Serial, over)
}

// followLeave stops the attempt when the agent leaves.
func (at *attempt) followLeave() (cancel func()) {
	over := make(chan struct{})
	go func() {
		select {
		case <-at.agent.leave:
			at.stop(errLeaving)
		case <-over:
		}
	}()
	return func() { close(over) }
}

// perform runs the work and returns what is known when it is over.
func (at *attempt) perform() evidence {
	e := evidence{}
	work, err := at.start()
	if work == nil {
		e.cause = at.why()
		var late *timedOut
		switch {
		case errors.As(err, &late):
			e.cause = err
		case errors.Is(err, driver.ErrLate) && e.cause == nil:
			e.cause = errUnsure // we were too slow, not the work
		default:
			e.err = err
		}
		at.clear()
		return e
	}
	e.retryOn, e.infraOn = at.run.RetryOn, at.run.InfraOn
	e.exit, e.err = work.Wait(at.ctx)
	if at.ctx.Err() != nil && e.err != nil {
		e.cause = at.why()
		at.end(work)
		e.exit, e.err = driver.Exit{}, nil
	} else if e.err != nil {
		at.end(work) // it cannot be followed, so it must not go on
	} else if e.exit.Leashed {
		e.cause = errUnsure // we were too slow, not the work
	}
	at.out.finish()
	e.result, e.broken = at.out.said()
	e.last = at.out.lastWords()
	return e
}

// end stops the work: with grace, unless there is no time for it.
func (at *attempt) end(work driver.Running) {
	grace := at.agent.config.Grace
	var late *timedOut
	switch cause := at.why(); {
	case mustDie(cause):
		grace = 0
	case errors.As(cause, &late) && at.deadline > 0:
		grace = min(grace, max(0, at.deadline-uptime.Now()-at.slack()/2))
	}
	if grace > 0 {
		if err := work.Stop(at.kill, grace); err == nil {
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(at.ctx), killMost)
	defer cancel()
	if err := work.Stop(ctx, 0); err != nil {
		at.agent.log.Error("work could not be killed", "task", at.Task, "attempt", at.Attempt, "error", err)
		return
	}
	_, _ = work.Wait(ctx) // its last words
}

// clear kills what an earlier life left and nobody could attach to.
func (at *attempt) clear() {
	if at.found == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(at.ctx), killMost)
	defer cancel()
	if err := at.found.Kill(ctx); err != nil {
		at.agent.log.Error("work of an earlier life could not be killed", "task", at.Task, "error", err)
	}
}

// start prepares and begins the work. No work: it did not begin, and the error
// says why.
func (at *attempt) start() (driver.Running, error) {
	ctx, cancel := at.ctx, context.CancelFunc(func() {})
	if err := at.readRun(); err != nil {
		return nil, err
	}
	limit := time.Duration(at.run.Timeout.Start)
	if limit > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, limit, tooLong(node.ByStartTimeout, "it did not start within %s (timeout.start)", limit))
	}
	defer cancel()
	work, err := at.launch(ctx)
	if err == nil {
		return work, nil
	}
	var late *timedOut
	if errors.As(context.Cause(ctx), &late) {
		return nil, late
	}
	if at.ctx.Err() != nil {
		return nil, at.why()
	}
	return nil, err
}

// readRun decides how the task is to be run.
func (at *attempt) readRun() error {
	if at.run.Driver != "" {
		return nil // an earlier life did
	}
	run, err := node.ParseRun(at.Run)
	if err != nil {
		return &refused{err}
	}
	if own, ok := at.agent.config.Services[at.Service]; ok && run.Driver == "" {
		run = own
	}
	if name := at.agent.config.DeviceDriver; name != "" && at.Device != nil {
		run.Driver = name
	}
	if run.Driver == "" {
		return &refused{fmt.Errorf("neither the task nor node %s says how service %s is run", at.agent.config.Info.Name, at.Service)}
	}
	at.run = run
	return nil
}

func (at *attempt) launch(ctx context.Context) (driver.Running, error) {
	a := at.agent
	d, err := a.driverFor(at.run)
	if err != nil {
		return nil, err
	}
	if err := at.secureLease(ctx); err != nil {
		return nil, err
	}
	env, files, err := at.secrets(ctx)
	if err != nil {
		return nil, err
	}
	at.out = newOutput(at.mask)
	at.out.note, at.out.percent = at.note, at.progress
	at.ship = newShipper(at)
	at.out.stir = at.ship.stir
	w := driver.Work{
		Task: at.Task.String(), Job: jobName(at.Assignment), Key: at.Key, Service: at.Service, Fence: at.Token, Node: a.config.Info.Name,
		Attempt: at.Attempt, Params: at.Params, Run: at.run, Env: env, Dir: at.dir.path(workFolder), State: at.dir.path(stateFolder),
	}
	if at.Device != nil {
		here := a.where(*at.Device)
		w.Device = &here
		if w.Run.Argv, err = arguments(at.run.Argv, here); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	safe := at.safe
	a.mu.Unlock()
	w.Leash = a.leash(safe)
	if at.deadline > 0 {
		w.Deadline = time.Now().Add(at.deadline - uptime.Now())
	}
	work, err := at.begin(ctx, d, w, files)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	at.work = work
	safe = at.safe
	a.mu.Unlock()
	if l, ok := work.(driver.Leashed); ok { // a renewal may have come in between
		if err := l.Leash(a.leash(safe)); err != nil {
			a.log.Warn("the leash was not let out", "task", at.Task, "error", err)
		}
	}
	at.ship.begin()
	a.announce(at)
	return work, nil
}

// begin starts new work, or goes on with that of an earlier life.
func (at *attempt) begin(ctx context.Context, d driver.Driver, w driver.Work, files map[string]string) (driver.Running, error) {
	if at.found != nil {
		var j journal
		if at.dir.load(journalFile, &j) == nil {
			at.out.resume(j)
			at.ship.seq = j.Seq
		}
		work, err := at.found.Attach(ctx, w, at.out)
		if err == nil {
			at.found = nil
		}
		return work, err
	}
	at.agent.mu.Lock()
	s := saved{Assignment: at.Assignment, Run: at.run, Secrets: at.mask != nil, Safe: at.safe, Deadline: at.deadline}
	at.agent.mu.Unlock()
	if err := at.dir.make(s, files); err != nil {
		return nil, fmt.Errorf("make the attempt's folder: %w", err)
	}
	if err := at.fetchInputs(ctx); err != nil {
		return nil, err
	}
	return d.Start(ctx, w, at.out)
}

func jobName(a node.Assignment) string {
	if a.Job.IsZero() {
		return ""
	}
	return a.Job.String()
}

// secureLease makes sure that the lease is young: the claim may have waited long
// for its answer, and we count from when it was sent.
func (at *attempt) secureLease(ctx context.Context) error {
	a := at.agent
	a.mu.Lock()
	left := at.safe - uptime.Now()
	a.mu.Unlock()
	if left >= a.config.Lease*2/3 {
		return nil
	}
	sent := uptime.Now()
	refusals, err := a.transport.Renew(ctx, []node.Lease{at.Holds()}, a.config.Lease)
	if err != nil {
		return err
	}
	switch answer := byLease([]node.Lease{at.Holds()}, refusals)[at.Holds()]; answer {
	case "":
	case node.Cancel:
		at.stop(errCanceled)
		return errCanceled
	default:
		at.stop(errLost)
		return errLost
	}
	a.mu.Lock()
	at.safe = max(at.safe, sent+a.config.Lease)
	a.mu.Unlock()
	return nil
}

// secrets fetches what the run names, as variables and as files, and prepares
// the mask.
func (at *attempt) secrets(ctx context.Context) (env, files map[string]string, err error) {
	env = maps.Clone(at.run.Env)
	if env == nil {
		env = map[string]string{}
	}
	if len(at.run.Secrets)+len(at.run.Files) == 0 {
		return env, nil, nil
	}
	values, err := at.agent.transport.Secrets(ctx, at.Holds())
	if err != nil {
		return nil, nil, err
	}
	at.mask = vault.NewMask(slices.Collect(maps.Values(values))...)
	missing := func(name string) error { return &refused{fmt.Errorf("there is no secret %q", name)} }
	for variable, name := range at.run.Secrets {
		value, ok := values[name]
		if !ok {
			return nil, nil, missing(name)
		}
		env[variable] = value
	}
	files = map[string]string{}
	for path, name := range at.run.Files {
		value, ok := values[name]
		if !ok {
			return nil, nil, missing(name)
		}
		files[path] = value
	}
	return env, files, nil
}
