package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
	"github.com/weirhq/weir/internal/vault"
)

const (
	// killMost is how long the agent waits for killed work to be gone before it logs that
	// the work is still there.
	killMost = 30 * time.Second
	// startMost is how long an agent that detaches waits for work that is being started,
	// because the next process can go on only with work that runs. A start that takes
	// longer, such as the pull of an image, is aborted and handed back.
	startMost = 10 * time.Second
	// slackMost is how long before its deadline an attempt is asked to end, so that it
	// has ended when the database counts it as timed out.
	slackMost = 2 * time.Second
)

// attempt is one lease and the work that runs under it.
type attempt struct {
	node.Assignment
	agent *Agent
	run   node.Run
	// own is set if the node itself names the program: one that is missing is its fault.
	own bool
	// around are the commands before and after the work, base is what they have in common
	// with it, and touched is set when the first of them, or the work, may have begun.
	around  node.Around
	base    driver.Work
	touched bool
	dir     folder
	out     *output
	ship    *shipper
	mask    *vault.Mask
	// claimed is the uptime at which the task was taken, or earlier.
	claimed time.Duration
	// adopted is set if a previous process of the agent began the attempt, and interrupted
	// if its set-up had not ended then. found is work of that process.
	adopted, interrupted bool
	found                driver.Found
	shipping             bool
	// ctx ends when the attempt should stop; kill ends when the work must be dead at
	// once.
	ctx    context.Context
	cancel context.CancelCauseFunc
	kill   context.Context
	doom   context.CancelFunc
	// started is closed when work is set.
	started chan struct{}

	// Guarded by the agent's mutex.

	// deadline is the uptime at which the work's time is over, until that at which the
	// time of the whole attempt is; 0 means never.
	deadline, until time.Duration
	// aside is the command that runs before or after the work; cleaning is set once the
	// work is over.
	aside    driver.Running
	cleaning bool

	// keep is how long the work may go on after the time in which the lease should have
	// been renewed.
	keep time.Duration
	// renewed is when the last request was sent that extended the lease, and safe is the
	// uptime until which the lease certainly holds.
	renewed, safe time.Duration
	// cause is why the attempt is being stopped.
	cause error
	work  driver.Running
	// renewing is set while a renewal that names the attempt is under way. The end is not
	// reported before the answer, or else the renewal would find the lease gone.
	renewing bool
	// ended is set when the outcome is known. The lease is renewed until the outcome is
	// reported.
	ended bool
	// telling is set while a call that reports the end is under way. No renewal names the
	// attempt before the answer.
	telling bool
	// kept is set if the end stays on disk for the next process of the agent.
	kept bool
	// untold is the uptime since which the end could not be reported; 0 means that no
	// report was tried.
	untold time.Duration
}

// attempt makes an attempt of a claimed task. since is when the task was taken, or
// earlier.
func (a *Agent) attempt(ctx context.Context, task node.Assignment, since time.Duration) *attempt {
	at := &attempt{
		Assignment: task, agent: a, dir: folderOf(a.config.Dir, task),
		claimed: since, renewed: since, safe: since + min(task.Lease, a.config.Lease), started: make(chan struct{}),
	}
	if task.Deadline > 0 {
		at.deadline = since + task.Deadline
	}
	at.ctx, at.cancel = context.WithCancelCause(ctx)
	at.kill, at.doom = context.WithCancel(ctx)
	return at
}

// stop begins the end of an attempt. An attempt that must be dead at once gets no grace,
// even if it was given some before.
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

// mustDie reports whether there is no time for grace, because another agent may have the
// task or the device.
func mustDie(cause error) bool {
	var gone *deviceLost
	return errors.Is(cause, errLost) || errors.Is(cause, errUnsure) || errors.As(cause, &gone)
}

// why returns the reason for which the attempt is being stopped, if it is.
func (at *attempt) why() error {
	at.agent.mu.Lock()
	defer at.agent.mu.Unlock()
	return at.cause
}

// serve runs an attempt from its start to its end.
func (a *Agent) serve(at *attempt) {
	defer at.cancel(nil)
	defer at.doom()
	stopLeave := at.followLeave()
	defer stopLeave()
	e := at.perform()
	if errors.Is(e.cause, errDetached) {
		at.abandon()
		return
	}
	at.examine(&e)
	at.cleanUp(&e)
	// The work is over from here on, in every case.
	if e.cause == nil || !errors.Is(e.cause, errLost) {
		e.err = errors.Join(e.err, at.collect(e))
	}
	if e.fault == nil {
		e.fault = at.nodeFault(e) // files that could not be kept
	}
	if e.fault != nil {
		a.blame(at, e.fault)
	} else if e.begun {
		a.absolve(at)
	}
	at.report(e)
	a.release(at)
	if !at.kept {
		a.clearFolder(at.dir)
	}
}

// abandon leaves running work to the next process of the agent, with a lease that is as
// long as can be.
func (at *attempt) abandon() {
	a := at.agent
	ctx, cancel := context.WithTimeout(context.WithoutCancel(at.ctx), callMost)
	defer cancel()
	at.ship.leave()
	sent := uptime.Now()
	refusals, err := a.transport.Renew(ctx, []node.Lease{at.Holds()}, a.config.Lease)
	if l, ok := at.work.(driver.Leashed); ok && err == nil && len(refusals) == 0 {
		a.mu.Lock()
		at.safe = max(at.safe, sent+a.config.Lease)
		until := a.leash(at.safe)
		a.mu.Unlock()
		err = l.Leash(until)
	}
	if err != nil {
		a.log.Warn("the lease of work that goes on was not renewed", "task", at.Task, "error", err)
	}
	a.left.Add(1)
	a.log.Info("the agent leaves, and work goes on", "task", at.Task, "attempt", at.Attempt)
	a.release(at)
}

// examine checks whether a failed attempt has lost its device. It reports the devices
// that are present before the end is reported, because the loss of many devices at once
// takes precedence.
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

// followLeave stops the attempt when the agent leaves, or leaves work alone that dies by
// itself when its lease ends.
func (at *attempt) followLeave() (cancel func()) {
	over := make(chan struct{})
	go func() {
		select {
		case <-at.agent.leave:
			at.stop(errLeaving)
		case <-at.agent.detach:
			at.stop(at.parting(over))
		case <-over:
		}
	}()
	return func() { close(over) }
}

// parting returns how an attempt is stopped when the agent detaches: its work goes on if
// the next process can adopt it.
func (at *attempt) parting(over <-chan struct{}) error {
	late := time.NewTimer(startMost)
	defer late.Stop()
	select {
	case <-at.started:
	case <-at.agent.leave:
	case <-late.C:
	case <-over:
	}
	at.agent.mu.Lock()
	defer at.agent.mu.Unlock()
	if _, leashed := at.work.(driver.Leashed); leashed && !closed(at.agent.leave) {
		return errDetached
	}
	return errLeaving
}

// perform runs the work and returns the evidence of how it ended.
func (at *attempt) perform() evidence {
	e := evidence{}
	work, err := at.start()
	if work == nil {
		e.cause = at.why()
		var late *timedOut
		switch {
		case errors.As(err, &late):
			e.cause = err
		case errors.Is(err, errInterrupted) && e.cause == nil:
			e.cause = errInterrupted
		case errors.Is(err, driver.ErrLate) && e.cause == nil:
			e.cause = errUnsure // the agent was too slow, not the work
		default:
			e.err = err
		}
		at.clear()
		return e
	}
	e.retryOn, e.infraOn = at.run.RetryOn, at.run.InfraOn
	e.exit, e.err = work.Wait(at.ctx)
	if at.ctx.Err() != nil && e.err != nil {
		if e.cause = at.why(); errors.Is(e.cause, errDetached) {
			return e
		}
		at.end(work)
		e.exit, e.err = driver.Exit{}, nil
	} else if e.err != nil {
		at.end(work) // the agent cannot follow the work, so the work must not continue
	} else if e.exit.Leashed {
		e.cause = errUnsure // the agent was too slow, not the work
	}
	e.begun = true
	at.out.finish()
	e.result, e.broken = at.out.said()
	e.last = at.out.lastWords()
	e.fault = at.nodeFault(e)
	return e
}

// end stops the work, with grace unless there is no time for it.
func (at *attempt) end(work driver.Running) {
	grace := at.agent.config.Grace
	var late *timedOut
	switch cause := at.why(); {
	case mustDie(cause):
		grace = 0
	case errors.As(cause, &late) && at.deadline > 0:
		grace = min(grace, max(0, at.deadline+min(at.behind(), slackMost)-uptime.Now()-at.slack()/2))
	}
	if at.cleaning && at.until > 0 {
		grace = min(at.agent.config.Grace, max(0, at.until-uptime.Now()-at.margin()/2))
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
	_, _ = work.Wait(ctx) // its last output
}

// clear kills work that a previous process left and that the agent could not attach to.
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

// start prepares and starts the work. If it returns no work, the work did not start, and
// the error says why.
func (at *attempt) start() (driver.Running, error) {
	ctx, cancel := at.ctx, context.CancelFunc(func() {})
	if err := at.readRun(); err != nil {
		return nil, err
	}
	limit := time.Duration(at.run.Timeout.Start)
	if limit > 0 {
		limit += at.around.Setup.Limit() // which has a limit of its own
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

// readRun decides how to run the task.
func (at *attempt) readRun() error {
	if at.run.Driver != "" {
		return nil // a previous process has done so
	}
	run, err := node.ParseRun(at.Run)
	if err != nil {
		return &refused{err}
	}
	if own, ok := at.agent.config.Services[at.Service]; ok && run.Driver == "" {
		run = own.For(run)
		at.own = true
	}
	if name := at.agent.config.DeviceDriver; name != "" && at.Device != nil {
		run.Driver = name
	}
	if run.Driver == "" {
		return &refused{fmt.Errorf("neither the task nor node %s says how service %s is run", at.agent.config.Info.Name, at.Service)}
	}
	around := node.Around{}
	if at.Device != nil {
		if around, err = node.ParseAround(at.Run); err != nil {
			return &refused{err}
		}
	}
	at.setRun(run, around)
	return nil
}

// setRun decides how the task is run, and how long it may go on without contact.
func (at *attempt) setRun(run node.Run, around node.Around) {
	a := at.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	at.run, at.around, at.keep = run, around, run.Keep(a.config.Keep)
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
	if err := at.aim(&w); err != nil {
		return nil, err
	}
	at.base = w
	work, err := at.begin(ctx, d, w, files)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	at.work = work
	safe := at.safe
	a.mu.Unlock()
	close(at.started)
	if l, ok := work.(driver.Leashed); ok { // a renewal may have arrived in between
		if err := l.Leash(a.leash(safe)); err != nil {
			a.log.Warn("the leash was not let out", "task", at.Task, "error", err)
		}
	}
	at.shipLog()
	a.announce(at)
	return work, nil
}

// shipLog begins to send the log, once.
func (at *attempt) shipLog() {
	if !at.shipping {
		at.shipping = true
		at.ship.begin()
	}
}

// begin starts new work after its set-up, or continues the work of a previous process. A
// power cycle of a previous process begins again.
func (at *attempt) begin(ctx context.Context, d driver.Driver, w driver.Work, files map[string]string) (driver.Running, error) {
	if at.adopted {
		at.touched = true
		var j journal
		if at.dir.load(journalFile, &j) == nil {
			at.out.resume(j)
			at.ship.seq = j.Seq
		}
		switch {
		case !at.interrupted:
			at.hold(&w)
			work, err := at.found.Attach(ctx, w, at.out)
			if err == nil {
				at.found = nil
			}
			return work, err
		case !at.around.Power:
			return nil, errInterrupted
		}
		// The device may be switched off.
	} else if err := at.makeFolder(ctx, files); err != nil {
		return nil, err
	}
	if err := at.setUp(ctx); err != nil {
		return nil, err
	}
	if err := at.aim(&w); err != nil {
		return nil, err
	}
	at.hold(&w)
	return d.Start(ctx, w, at.out)
}

// makeFolder makes the folder of the attempt, with its inputs.
func (at *attempt) makeFolder(ctx context.Context, files map[string]string) error {
	if err := at.dir.make(at.saved(joblog.Setup), files); err != nil {
		if bad := new(refused); errors.As(err, &bad) {
			return err
		}
		return folderFault(fmt.Errorf("make the attempt's folder: %w", err))
	}
	return at.fetchInputs(ctx)
}

// hold sets until when the work may run.
func (at *attempt) hold(w *driver.Work) {
	a := at.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Leash = a.leash(at.safe)
	if at.deadline > 0 {
		w.Deadline = time.Now().Add(at.deadline - uptime.Now())
	}
}

// saved returns what a later process of the agent must know. phase is the phase that the
// attempt is in; it is kept only if there is a command before the work.
func (at *attempt) saved(phase string) saved {
	if at.around.Setup == nil {
		phase = ""
	}
	at.agent.mu.Lock()
	defer at.agent.mu.Unlock()
	return saved{
		Assignment: at.Assignment, Run: at.run, Around: at.around, Phase: phase, Secrets: at.mask != nil,
		Safe: at.safe, Deadline: at.deadline, Until: at.until,
	}
}

// save writes that for a phase.
func (at *attempt) save(phase string) error {
	if err := at.dir.save(attemptFile, at.saved(phase)); err != nil {
		return folderFault(fmt.Errorf("write to the attempt's folder: %w", err))
	}
	return nil
}

func jobName(a node.Assignment) string {
	if a.Job.IsZero() {
		return ""
	}
	return a.Job.String()
}

// secureLease makes sure that the lease is fresh, because the answer to the claim may
// have taken long and the lease counts from the time the claim was sent.
func (at *attempt) secureLease(ctx context.Context) error {
	a := at.agent
	a.mu.Lock()
	left := at.safe - uptime.Now()
	a.mu.Unlock()
	if left >= a.config.Lease*2/3 {
		return nil
	}
	sent := uptime.Now()
	refusals, err := a.transport.Renew(ctx, []node.Lease{at.Holds()}, at.length())
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
	at.extend(sent, at.length())
	a.mu.Unlock()
	return nil
}

// secrets fetches the secrets that the run names, as variables and as files, and prepares
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
