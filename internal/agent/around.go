package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pgtext"
	"github.com/weirhq/weir/internal/uptime"
)

const (
	// aroundFolder contains the state of the commands before and after the work. Drivers
	// do not look for work there, so that a later process of the agent does not take a
	// command for the work.
	aroundFolder = "around"
	// aroundDriver runs the commands, whatever runs the work.
	aroundDriver = "exec"
	// aroundLogMost is how many bytes of each command's output the log keeps.
	aroundLogMost = 1 << 20
)

// errInterrupted is why an attempt of a previous process of the agent is handed back whose
// set-up had not ended.
var errInterrupted = errors.New("the agent was restarted during the set-up")

// setupFailed is why the work did not begin. It is a fault of the infrastructure and, unlike
// a program that is missing, it says something about the device.
type setupFailed struct {
	what  string
	power bool
}

func (s *setupFailed) Error() string {
	if s.power {
		return "the power command failed: " + s.what
	}
	return "the set-up failed: " + s.what
}

// setUp runs the command before the work. From here on a clean-up is needed.
func (at *attempt) setUp(ctx context.Context) error {
	at.touched = true
	if at.around == (node.Around{}) {
		return nil
	}
	at.shipLog()
	if c := at.around.Setup; c != nil {
		run := at.prepare
		if at.around.Power {
			run = at.powerCycle
		}
		what, err := run(ctx, c)
		if err != nil {
			return err
		}
		if what != "" {
			return &setupFailed{what, at.around.Power}
		}
	}
	at.startClock()
	return at.save("")
}

// prepare runs a set-up and returns how it failed.
func (at *attempt) prepare(ctx context.Context, c *node.Command) (what string, err error) {
	return at.command(ctx, joblog.Setup, c, c.Limit())
}

// powerCycle runs a power command and waits until the source of the devices finds the
// device again, within the time of the command. It returns how that failed.
func (at *attempt) powerCycle(ctx context.Context, c *node.Command) (what string, err error) {
	timed, cancel := context.WithTimeout(ctx, c.Limit())
	defer cancel()
	if what, err = at.command(ctx, joblog.Power, c, c.Limit()); what != "" || err != nil {
		return what, err
	}
	a := at.agent
	for {
		since := uptime.Now()
		a.surveyDevices(at.ctx, since) // a look that the time of the command cut off would seem to be blind
		if a.found(at.Device.Serial, since) {
			return "", nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if timed.Err() != nil {
			return fmt.Sprintf("the device did not come back within %s", c.Limit()), nil
		}
		loop.Wait(timed, a.config.Look, nil)
	}
}

// startClock gives the work its own time, from now on: the deadline of the lease includes
// that of the commands.
func (at *attempt) startClock() {
	all, after := at.around.Span()
	a := at.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	at.until = at.deadline
	if own := at.Timeout - all; at.deadline > 0 && own > 0 {
		at.deadline = min(at.deadline-after, uptime.Now()+own)
	}
}

// margin returns how long before the deadline of the lease the attempt has to be over.
func (at *attempt) margin() time.Duration { return min(at.Deadline/10, slackMost) }

// slack returns how long before its own deadline the work is asked to end. Work with a
// clean-up needs none, because the deadline of the lease is that much later.
func (at *attempt) slack() time.Duration { return max(0, at.margin()-at.behind()) }

// behind returns how much later than its own time the deadline of the lease is.
func (at *attempt) behind() time.Duration { return max(0, at.until-at.deadline) }

// allowed returns how long the work itself may take, for people.
func (at *attempt) allowed() time.Duration {
	if all, _ := at.around.Span(); at.Timeout > all {
		return at.Timeout - all
	}
	return at.Timeout
}

// cleanUp runs the command after the work, however that ended. It does not run when another
// agent may have the device by now, or when the device is gone.
func (at *attempt) cleanUp(e *evidence) {
	c := at.around.Cleanup
	if c == nil || !at.touched {
		return
	}
	cause := at.why()
	if mustDie(e.cause) {
		cause = e.cause
	}
	if mustDie(cause) || e.gone {
		if cause == nil {
			cause = &deviceLost{}
		}
		at.note("warn", "the clean-up did not run: "+cause.Error())
		return
	}
	a := at.agent
	a.mu.Lock()
	at.cleaning = true
	limit := c.Limit()
	if at.until > 0 {
		limit = min(limit, max(0, at.until-uptime.Now()-slackMost))
	}
	a.mu.Unlock()
	what, err := at.command(at.kill, joblog.Cleanup, c, limit)
	if at.kill.Err() != nil {
		return // the lease is lost, and so is the device
	}
	if err != nil {
		what = err.Error()
	}
	if e.unclean = at.mask.String(what); what != "" {
		at.note("warn", "the clean-up failed: "+e.unclean)
	}
}

// command runs a command around the work until it ends, its time is over, or ctx ends. It
// returns how the command failed, or an error if it could not be run.
func (at *attempt) command(ctx context.Context, phase string, c *node.Command, limit time.Duration) (what string, err error) {
	a := at.agent
	out := at.out.phase(phase)
	if name := a.config.DeviceDriver; name != "" && name != aroundDriver {
		out.say("not run: the driver " + name + " makes up what happens on its devices")
		return "", nil
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	work, err := at.begun(timed, phase, c, out)
	if err != nil {
		return "", err
	}
	exit, err := work.Wait(timed)
	if err != nil {
		at.end(work)
	}
	out.finish()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case timed.Err() != nil:
		return withLast(fmt.Sprintf("timed out after %s", c.Limit()), out.lastWords()), nil
	case err != nil:
		return "", err
	case exit.Leashed:
		return "", driver.ErrLate
	case exit.Code != 0:
		return withLast(describe(exit), out.lastWords()), nil
	}
	return "", nil
}

// begun starts a command around the work.
func (at *attempt) begun(ctx context.Context, phase string, c *node.Command, out *phaseOutput) (driver.Running, error) {
	a := at.agent
	d, err := a.driverFor(node.Run{Driver: aroundDriver})
	if err != nil {
		return nil, err
	}
	w := at.base
	here := a.where(*at.Device)
	w.Device, w.State = &here, at.dir.path(aroundFolder, phase)
	w.Run, w.Env = node.Run{Driver: aroundDriver}, maps.Clone(w.Env)
	w.Env["WEIR_PHASE"] = phase
	if at.run.Driver == aroundDriver {
		w.Run.Dir = at.run.Dir
	}
	if w.Run.Argv, err = arguments(c.Argv, here); err != nil {
		return nil, err
	}
	if cleaner, ok := d.(driver.Clearer); ok && at.adopted {
		if err := cleaner.Clear(ctx, w); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(w.State, 0o700); err != nil {
		return nil, folderFault(err)
	}
	a.mu.Lock()
	w.Leash = a.leash(at.safe)
	a.mu.Unlock()
	work, err := d.Start(ctx, w, out)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	at.aside = work
	if l, ok := work.(driver.Leashed); ok { // a renewal may have arrived in between
		if err := l.Leash(a.leash(at.safe)); err != nil {
			a.log.Warn("the leash was not let out", "task", at.Task, "error", err)
		}
	}
	return work, nil
}

// phaseOutput receives what a command around the work prints. Its lines are log, marked
// with the phase, and never results or progress.
type phaseOutput struct {
	all      *output
	phase    string
	out, err splitter
	kept     int
	dropped  int64
	last     []byte
}

// phase returns the output of a command around the work.
func (o *output) phase(name string) *phaseOutput {
	p := &phaseOutput{all: o, phase: name}
	p.out.line = p.line
	p.err.line = func(line []byte, cut int64) {
		p.line(line, cut)
		line = o.masked(line, cut)
		p.last = append(append(p.last, line[:min(len(line), lastMost)]...), '\n')
		p.last = bytes.Clone(p.last[max(0, len(p.last)-lastMost):])
	}
	return p
}

// Stdout returns the writer for the output.
func (p *phaseOutput) Stdout() io.Writer { return writer(func(b []byte) { p.write(&p.out, b) }) }

// Stderr returns the writer for errors.
func (p *phaseOutput) Stderr() io.Writer { return writer(func(b []byte) { p.write(&p.err, b) }) }

// Taken returns zero, because a command is never adopted.
func (p *phaseOutput) Taken() (stdout, stderr int64) { return 0, 0 }

// Alive does nothing, because a command may be silent.
func (p *phaseOutput) Alive() {}

func (p *phaseOutput) write(s *splitter, b []byte) {
	o := p.all
	o.mu.Lock()
	defer o.mu.Unlock()
	s.write(b)
	if o.stir != nil && len(o.pending) > 0 {
		o.stir(o.waiting)
	}
}

func (p *phaseOutput) line(line []byte, cut int64) {
	if p.kept >= aroundLogMost {
		p.dropped += int64(len(line)) + cut + 1
		return
	}
	line = p.all.shortened(line, cut)
	p.kept += len(line) + 1
	p.all.add(p.phase, line)
}

// say adds a line of the agent itself.
func (p *phaseOutput) say(text string) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.all.add(p.phase, []byte(text))
}

// finish completes lines without an end, and logs what was left out.
func (p *phaseOutput) finish() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.out.end()
	p.err.end()
	if p.dropped > 0 {
		p.all.add(streamWeir, []byte(fmt.Sprintf("%d bytes of the %s were left out", p.dropped, p.phase)))
	}
}

// lastWords returns the end of stderr.
func (p *phaseOutput) lastWords() string {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	return pgtext.Text(string(bytes.TrimSpace(p.last)))
}
